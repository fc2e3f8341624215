//! A canonical form for schemas that mean the same.

use serde_json::{Map, Value, json};

/// Keywords that do not affect validation. `format` stays: our documents have it too.
const ANNOTATIONS: [&str; 6] =
    ["$comment", "default", "deprecated", "description", "examples", "title"];

/// `schema` without annotations and other parts that do not affect validation; `$ref` is reduced to
/// the name.
pub(super) fn normal_form(schema: &Value) -> Value {
    let Value::Object(members) = schema else {
        return if *schema == Value::Bool(true) { json!({}) } else { schema.clone() };
    };
    let mut normal = Map::new();
    for (keyword, value) in members {
        let value = match (keyword.as_str(), value) {
            (name, _) if ANNOTATIONS.contains(&name) => continue,
            ("properties", Value::Object(properties)) => (properties.iter())
                .map(|(name, schema)| (name.clone(), normal_form(schema)))
                .collect::<Map<_, _>>()
                .into(),
            ("anyOf" | "allOf", Value::Array(branches)) => {
                branches.iter().map(normal_form).collect()
            }
            ("items" | "additionalProperties", schema) => normal_form(schema),
            ("required" | "enum", Value::Array(values)) => sorted(values),
            ("$ref", Value::String(target)) => target.rsplit('/').next().unwrap_or(target).into(),
            (_, value) => value.clone(),
        };
        let says_nothing =
            matches!(keyword.as_str(), "items" | "properties" | "additionalProperties")
                && value == json!({});
        if !says_nothing {
            normal.insert(keyword.clone(), value);
        }
    }
    if normal.contains_key("const") || normal.contains_key("enum") {
        normal.remove("type");
    }
    Value::Object(normal)
}

fn sorted(values: &[Value]) -> Value {
    let mut values = values.to_vec();
    values.sort_by_key(Value::to_string);
    values.into()
}
