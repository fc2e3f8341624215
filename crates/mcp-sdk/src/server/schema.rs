use mcp_core::Json;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The JSON Schema of the arguments of a tool: an object.
pub(super) fn arguments_schema<T: JsonSchema>() -> Json {
    let mut schema = schema_of::<T>();
    schema.entry("type").or_insert_with(|| "object".into());
    written(&schema)
}

/// The JSON Schema of the output of a tool, which may be anything.
pub(super) fn output_schema<T: JsonSchema>() -> Json {
    written(&schema_of::<T>())
}

fn written(schema: &Map<String, Value>) -> Json {
    Json::of(schema).unwrap_or_else(|_| Json::empty_object())
}

/// The JSON Schema of a type, with subschemas written out, and nothing that older revisions cannot
/// read.
fn schema_of<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    widen(&mut schema);
    // `true` says no more than an empty object.
    let Value::Object(mut schema) = schema else { return Map::new() };
    schema.remove("title");
    schema
}

/// `true` as the schema of a property says the same as `{}`, which every revision can read.
fn widen(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    for name in ["properties", "$defs", "patternProperties"] {
        if let Some(Value::Object(members)) = schema.get_mut(name) {
            widen_members(members);
        }
    }
    for name in ["items", "additionalProperties", "not", "if", "then", "else"] {
        if let Some(member) = schema.get_mut(name) {
            widen(member);
        }
    }
    for name in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(members)) = schema.get_mut(name) {
            members.iter_mut().for_each(widen);
        }
    }
}

fn widen_members(members: &mut Map<String, Value>) {
    for member in members.values_mut() {
        if *member == Value::Bool(true) {
            *member = json!({});
        }
        widen(member);
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

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
    fn a_schema_is_an_object_and_says_what_is_required() {
        let schema: Value = arguments_schema::<Arguments>().read().unwrap();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["properties"]["anything"], json!({}));
        assert_eq!(schema["properties"]["count"]["description"], "How often.");
        assert!(schema["required"].as_array().unwrap().contains(&json!("count")));
        assert!(!schema["required"].as_array().unwrap().contains(&json!("name")));
    }

    #[test]
    fn a_type_without_members_takes_an_empty_object() {
        let schema: Value = arguments_schema::<()>().read().unwrap();
        assert!(schema.is_object());
    }

    #[test]
    fn output_may_be_anything() {
        assert_eq!(output_schema::<Value>().to_string(), "{}");
        assert_eq!(output_schema::<Vec<u8>>().read::<Value>().unwrap()["type"], "array");
    }
}
