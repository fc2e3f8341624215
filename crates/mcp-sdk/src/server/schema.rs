use mcp_core::Json;
use schemars::{
    JsonSchema, Schema,
    generate::SchemaSettings,
    transform::{RecursiveTransform, ReplaceBoolSchemas},
};
use serde_json::{Map, Value};

/// The JSON Schema of the arguments of a tool: an object.
pub(super) fn arguments_schema<T: JsonSchema>() -> Json {
    let mut schema = schema_of::<T>();
    schema.entry("type").or_insert_with(|| "object".into());
    to_json(&schema)
}

/// The JSON Schema of the output of a tool, which may be any value.
pub(super) fn output_schema<T: JsonSchema>() -> Json {
    to_json(&schema_of::<T>())
}

fn to_json(schema: &Map<String, Value>) -> Json {
    Json::of(schema).unwrap_or_else(|_| Json::empty_object())
}

/// The JSON Schema of a type, with inlined subschemas, and without anything that clients in other
/// languages or of older revisions may not support.
fn schema_of<T: JsonSchema>() -> Map<String, Value> {
    let mut objects = ReplaceBoolSchemas::default();
    objects.skip_additional_properties = true;
    let mut settings = SchemaSettings::draft2020_12()
        .with_transform(objects)
        .with_transform(RecursiveTransform(write_bounds));
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    // `true` is equivalent to an empty object.
    let Value::Object(mut schema) = schema else { return Map::new() };
    schema.remove("title");
    schema
}

/// Rust's number types are not formats of JSON Schema: some validators complain about every one of
/// them, and none knows their meaning. They are replaced by bounds that a double can represent.
fn write_bounds(schema: &mut Schema) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else { return };
    let bounds = match format {
        "int8" => Some((i64::from(i8::MIN), i64::from(i8::MAX))),
        "uint8" => Some((0, u8::MAX.into())),
        "int16" => Some((i16::MIN.into(), i16::MAX.into())),
        "uint16" => Some((0, u16::MAX.into())),
        "int32" => Some((i32::MIN.into(), i32::MAX.into())),
        "uint32" => Some((0, i64::from(u32::MAX))),
        "int" | "int64" | "int128" | "uint" | "uint64" | "uint128" | "float" | "double" => None,
        _ => return,
    };
    let schema = schema.ensure_object();
    schema.remove("format");
    if let Some((least, most)) = bounds {
        schema.entry("minimum").or_insert_with(|| least.into());
        schema.entry("maximum").or_insert_with(|| most.into());
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Arguments {
        /// How often.
        count: u32,
        anything: Value,
        name: Option<String>,
    }

    #[test]
    fn a_schema_describes_an_object_with_its_required_members() {
        let schema: Value = arguments_schema::<Arguments>().read().unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["properties"]["anything"], json!({}));
        assert_eq!(schema["properties"]["count"]["description"], "How often.");
        assert!(schema["required"].as_array().unwrap().contains(&json!("count")));
        assert!(!schema["required"].as_array().unwrap().contains(&json!("name")));
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Numbers {
        port: u16,
        #[schemars(range(min = 1, max = 12))]
        month: u32,
        offsets: Vec<Option<i32>>,
        size: usize,
        ratio: f64,
        #[schemars(email)]
        contact: String,
        #[schemars(extend("additionalProperties" = false))]
        rest: std::collections::BTreeMap<String, i64>,
    }

    #[test]
    fn number_types_become_bounds() {
        let schema: Value = arguments_schema::<Numbers>().read().unwrap();
        let of = |name: &str| schema["properties"][name].clone();
        assert_eq!(of("port"), json!({"type": "integer", "minimum": 0, "maximum": 65535}));
        assert_eq!(of("month"), json!({"type": "integer", "minimum": 1, "maximum": 12}));
        assert_eq!(
            of("offsets")["items"],
            json!({"type": ["integer", "null"], "minimum": i32::MIN, "maximum": i32::MAX})
        );
        assert_eq!(of("size"), json!({"type": "integer", "minimum": 0}));
        assert_eq!(of("ratio"), json!({"type": "number"}));
        assert_eq!(of("contact")["format"], "email");
        assert_eq!(of("rest")["additionalProperties"], false);
    }

    #[test]
    fn a_type_without_members_takes_an_empty_object() {
        let schema: Value = arguments_schema::<()>().read().unwrap();
        assert!(schema.is_object());
    }

    #[test]
    fn output_may_be_any_value() {
        assert_eq!(output_schema::<Value>().to_string(), "{}");
        assert_eq!(output_schema::<Vec<u8>>().read::<Value>().unwrap()["type"], "array");
    }
}
