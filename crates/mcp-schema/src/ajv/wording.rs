//! `ajv`'s messages. They follow from keyword and `params` alone and never show the value.

use serde_json::Value;

pub(super) fn message(keyword: &str, params: &Value) -> String {
    let text = |name: &str| words(&params[name]);
    let limit = || number(&params["limit"]);
    match keyword {
        "type" => format!("must be {}", text("type")),
        "required" => format!("must have required property '{}'", text("missingProperty")),
        "additionalProperties" => "must NOT have additional properties".to_owned(),
        "unevaluatedProperties" => "must NOT have unevaluated properties".to_owned(),
        "enum" => "must be equal to one of the allowed values".to_owned(),
        "const" => "must be equal to constant".to_owned(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            format!("must be {} {}", text("comparison"), limit())
        }
        "multipleOf" => format!("must be multiple of {}", number(&params["multipleOf"])),
        "minLength" => format!("must NOT have fewer than {} characters", limit()),
        "maxLength" => format!("must NOT have more than {} characters", limit()),
        "minItems" => format!("must NOT have fewer than {} items", limit()),
        "maxItems" | "items" | "additionalItems" | "unevaluatedItems" => {
            format!("must NOT have more than {} items", limit())
        }
        "minProperties" => format!("must NOT have fewer than {} properties", limit()),
        "maxProperties" => format!("must NOT have more than {} properties", limit()),
        "pattern" => format!("must match pattern \"{}\"", text("pattern")),
        "uniqueItems" => {
            let (i, j) = (number(&params["i"]), number(&params["j"]));
            format!("must NOT have duplicate items (items ## {j} and {i} are identical)")
        }
        "contains" => {
            let least = number(&params["minContains"]);
            match &params["maxContains"] {
                Value::Null => format!("must contain at least {least} valid item(s)"),
                most => format!(
                    "must contain at least {least} and no more than {} valid item(s)",
                    number(most)
                ),
            }
        }
        "propertyNames" => "property name must be valid".to_owned(),
        "dependentRequired" | "dependencies" => {
            let several = params["depsCount"].as_u64() != Some(1);
            let noun = if several { "properties" } else { "property" };
            let (needed, by) = (text("deps"), text("property"));
            format!("must have {noun} {needed} when property {by} is present")
        }
        "not" => "must NOT be valid".to_owned(),
        "anyOf" => "must match a schema in anyOf".to_owned(),
        "oneOf" => "must match exactly one schema in oneOf".to_owned(),
        "if" => format!("must match \"{}\" schema", text("failingKeyword")),
        "false schema" => "boolean schema is false".to_owned(),
        other => format!("must pass \"{other}\" keyword validation"),
    }
}

/// A string as is, a list joined by commas.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(","),
        other => number(other),
    }
}

/// A number formatted as in JavaScript, for the numbers found in schemas.
fn number(value: &Value) -> String {
    match value.as_f64() {
        Some(float) if value.is_f64() && float.fract() == 0.0 && float.abs() < 1e21 => {
            format!("{float:.0}")
        }
        _ => value.to_string(),
    }
}
