//! Suggests a valid answer to a question of the server.

use mcp_json::Node;
use serde_json::{Map, Value, json};

use super::text;

pub(super) fn for_question(method: &str, params: &str) -> String {
    let suggested = match method {
        "roots/list" => json!({ "roots": [] }),
        "sampling/createMessage" => json!({
            "role": "assistant",
            "content": { "type": "text", "text": "" },
            "model": "a person",
            "stopReason": "endTurn",
        }),
        "elicitation/create" => {
            let form = text::read(params, |params| {
                params.get("requestedSchema").map(form).unwrap_or_default()
            });
            match form {
                Some(content) if !content.is_empty() => {
                    json!({ "action": "accept", "content": content })
                }
                _ => json!({ "action": "accept" }),
            }
        }
        _ => json!({}),
    };
    serde_json::to_string_pretty(&suggested).unwrap_or_default()
}

/// The simplest values that fit a form.
fn form(schema: Node<'_>) -> Map<String, Value> {
    let required = |name: &str| {
        let list = schema.get("required");
        list.is_some_and(|list| list.elements().any(|entry| entry.str_eq(name)))
    };
    let Some(properties) = schema.get("properties") else { return Map::new() };
    let fields = properties.members().take(200).filter_map(|(name, field)| {
        let name = name.as_str()?.into_owned();
        let default = field.get("default").map(Node::to_value);
        let value = match default {
            Some(value) => value,
            None if required(&name) => simplest(field),
            None => return None,
        };
        Some((name, value))
    });
    fields.collect()
}

fn simplest(field: Node<'_>) -> Value {
    let first = field.get("enum").and_then(|values| values.elements().next());
    let titled = || field.get("oneOf")?.elements().next()?.get("const");
    if let Some(value) = first.or_else(titled) {
        return value.to_value();
    }
    let kind = field.get("type").and_then(Node::as_str).unwrap_or_default();
    let least = field.get("minimum").map(Node::to_value);
    match &*kind {
        "boolean" => false.into(),
        "integer" | "number" => least.unwrap_or_else(|| 0.into()),
        "array" => json!([]),
        _ => {
            let length = field.get("minLength").and_then(Node::as_u64).unwrap_or(0).min(1000);
            let length = usize::try_from(length).unwrap_or_default();
            match field.get("format").and_then(Node::as_str).as_deref() {
                Some("email") => "someone@example.com".into(),
                Some("uri") => "https://example.com/".into(),
                Some("date") => "2026-01-01".into(),
                Some("date-time") => "2026-01-01T00:00:00Z".into(),
                _ => "x".repeat(length).into(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_filled_in_with_what_fits() {
        let params = r#"{"requestedSchema":{"type":"object","required":["a","b","c"],"properties":{
            "a":{"type":"string","minLength":2},"b":{"type":"string","enum":["x","y"]},
            "c":{"type":"integer","minimum":3},"d":{"type":"boolean"},"e":{"type":"string","default":"z"}}}}"#;
        let text = for_question("elicitation/create", params);
        let answer: Value = serde_json::from_str(&text).unwrap();
        let content = json!({ "a": "xx", "b": "x", "c": 3, "e": "z" });
        assert_eq!(answer, json!({ "action": "accept", "content": content }));
    }
}
