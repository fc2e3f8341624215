//! The short label next to an underline.

use mcp_rules::SchemaFault;
use serde_json::Value;

use crate::text;

/// Longer labels are left out; the message has them.
const COLUMNS: usize = 40;

/// What the schema expected here, if that is short enough.
pub(super) fn reason(fault: &SchemaFault) -> Option<String> {
    let params = &fault.params;
    let reason = match fault.keyword.as_str() {
        "type" => format!("expected {}", alternatives(&params["type"])?),
        "const" => format!("expected {}", shown(&params["allowedValue"])?),
        "enum" => format!("expected {}", one_of(&params["allowedValues"])?),
        "required" => format!("`{}` is missing here", params["missingProperty"].as_str()?),
        "additionalProperties" | "unevaluatedProperties" => "not allowed here".to_owned(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            format!("must be {} {}", params["comparison"].as_str()?, shown(&params["limit"])?)
        }
        "minLength" | "minItems" | "minProperties" => {
            format!("expected at least {}", shown(&params["limit"])?)
        }
        "maxLength" | "maxItems" | "maxProperties" => {
            format!("expected at most {}", shown(&params["limit"])?)
        }
        "format" => format!("expected the format {}", params["format"].as_str()?),
        "pattern" => format!("does not match {}", params["pattern"].as_str()?),
        _ => return None,
    };
    (text::width(&reason) <= COLUMNS).then_some(reason)
}

/// `string`, or `string or integer`.
fn alternatives(types: &Value) -> Option<String> {
    match types {
        Value::String(name) => Some(name.clone()),
        Value::Array(names) => {
            let names: Option<Vec<&str>> = names.iter().map(Value::as_str).collect();
            Some(names?.join(" or "))
        }
        _ => None,
    }
}

fn one_of(values: &Value) -> Option<String> {
    let values: Vec<String> = values.as_array()?.iter().map(Value::to_string).collect();
    Some(values.join(" or "))
}

fn shown(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(keyword: &str, params: Value, expected: Option<&str>) {
        let fault = SchemaFault {
            instance_path: String::new(),
            schema_path: String::new(),
            keyword: keyword.to_owned(),
            params,
        };
        assert_eq!(reason(&fault).as_deref(), expected);
    }

    #[test]
    fn short_reasons_are_given() {
        check("type", json!({"type": "integer"}), Some("expected integer"));
        check("type", json!({"type": ["string", "null"]}), Some("expected string or null"));
        check("const", json!({"allowedValue": "2.0"}), Some("expected \"2.0\""));
        check("enum", json!({"allowedValues": ["a", "b"]}), Some("expected \"a\" or \"b\""));
        check("required", json!({"missingProperty": "name"}), Some("`name` is missing here"));
        check("minimum", json!({"comparison": ">=", "limit": 1}), Some("must be >= 1"));
        check("minItems", json!({"limit": 1}), Some("expected at least 1"));
    }

    #[test]
    fn long_or_unknown_ones_are_not() {
        let many: Vec<String> = (0..30).map(|number| format!("value-{number}")).collect();
        check("enum", json!({ "allowedValues": many }), None);
        check("anyOf", json!({}), None);
        check("type", json!({}), None);
        check("pattern", json!({"pattern": "x".repeat(80)}), None);
    }
}
