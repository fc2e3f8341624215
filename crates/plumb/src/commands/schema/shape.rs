//! A definition as a table of its members, in an easily readable notation.

use std::fmt::Write as _;

use mcp_schema::referred;
use serde_json::Value;

use crate::{style::Palette, text::width};

/// One line of the table.
struct Row {
    depth: usize,
    name: String,
    notation: String,
    required: bool,
}

/// The members of `schema`, or what it is if it has none.
pub(super) fn shape(schema: &Value, palette: &Palette) -> String {
    let Palette { accent, dim, .. } = palette;
    let mut rows = Vec::new();
    members(schema, 0, &mut rows);
    if rows.is_empty() {
        return format!("  {}\n", notation(schema));
    }
    let column = |measure: fn(&Row) -> usize| rows.iter().map(measure).max().unwrap_or(0);
    let names = column(|row| 2 * row.depth + width(&row.name));
    let notations = column(|row| width(&row.notation)).min(44);
    let mut out = String::new();
    for row in &rows {
        let name = format!("{:indent$}{}", "", row.name, indent = 2 * row.depth);
        let _ = write!(out, "  {accent}{name:names$}{accent:#}  ");
        if row.required {
            let _ = writeln!(out, "{:notations$}  {dim}required{dim:#}", row.notation);
        } else {
            let _ = writeln!(out, "{}", row.notation);
        }
    }
    out
}

fn members(schema: &Value, depth: usize, rows: &mut Vec<Row>) {
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    let required = |name: &str| {
        let list = schema["required"].as_array();
        list.is_some_and(|list| list.iter().any(|entry| entry == name))
    };
    let mut names: Vec<&String> = properties.keys().collect();
    // A stable sort keeps the document's order within both halves.
    names.sort_by_key(|name| !required(name));
    for name in names {
        let member = &properties[name];
        rows.push(Row {
            depth,
            name: name.clone(),
            notation: notation(member),
            required: required(name),
        });
        let inner = if member["type"] == "array" { &member["items"] } else { member };
        members(inner, depth + 1, rows);
    }
}

/// `string`, `Tool[]`, `"a" | "b"`, `map of string`, `integer, 0 to 100`, ….
fn notation(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return referred(reference).to_owned();
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return union(values.iter().map(Value::to_string));
    }
    if let Some(alternatives) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        return union(alternatives.iter().map(notation));
    }
    let name = match &schema["type"] {
        Value::String(name) if name == "array" => array(schema),
        Value::String(name) if name == "object" => object(schema),
        Value::String(name) => name.clone(),
        Value::Array(names) => union(names.iter().filter_map(Value::as_str).map(str::to_owned)),
        _ => "anything".to_owned(),
    };
    [Some(name), schema["format"].as_str().map(str::to_owned), bounds(schema)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

fn union(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(" | ")
}

fn array(schema: &Value) -> String {
    let Some(items) = schema.get("items") else {
        return "array".to_owned();
    };
    let items = notation(items);
    if items.contains([' ', ',']) { format!("({items})[]") } else { format!("{items}[]") }
}

fn object(schema: &Value) -> String {
    match &schema["additionalProperties"] {
        Value::Object(values) if !values.is_empty() => {
            format!("map of {}", notation(&schema["additionalProperties"]))
        }
        _ => "object".to_owned(),
    }
}

fn bounds(schema: &Value) -> Option<String> {
    for (least, most, what) in [
        ("minimum", "maximum", ""),
        ("minItems", "maxItems", " items"),
        ("minLength", "maxLength", " characters"),
    ] {
        match (schema.get(least), schema.get(most)) {
            (Some(least), Some(most)) => return Some(format!("{least} to {most}{what}")),
            (Some(least), None) => return Some(format!("at least {least}{what}")),
            (None, Some(most)) => return Some(format!("at most {most}{what}")),
            (None, None) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_abbreviated() {
        let check = |schema: Value, expected: &str| assert_eq!(notation(&schema), expected);
        check(json!({"$ref": "#/$defs/Tool"}), "Tool");
        check(json!({"type": ["string", "integer"]}), "string | integer");
        check(json!({"type": "array", "items": {"$ref": "#/$defs/Tool"}}), "Tool[]");
        check(
            json!({"type": "array", "items": {"type": ["string", "null"]}, "maxItems": 3}),
            "(string | null)[], at most 3 items",
        );
        check(json!({"enum": ["a", "b"]}), "\"a\" | \"b\"");
        check(json!({"const": "2.0"}), "\"2.0\"");
        check(json!({"type": "number", "minimum": 0, "maximum": 1}), "number, 0 to 1");
        check(json!({"type": "string", "format": "uri"}), "string, uri");
        check(
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            "map of string",
        );
        check(json!({}), "anything");
    }

    #[test]
    fn required_members_come_first() {
        let schema = json!({
            "type": "object",
            "required": ["z"],
            "properties": {"a": {"type": "string"}, "z": {
                "type": "object", "required": ["k"], "properties": {"k": {"const": 1}}
            }},
        });
        assert_eq!(
            shape(&schema, &Palette::plain()),
            "  z    object  required\n    k  1       required\n  a    string\n"
        );
    }
}
