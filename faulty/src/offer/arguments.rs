//! Validates arguments against the schema of their tool, for the few keywords used here.

use serde_json::Value;

use crate::{faults::Fault, server::Faults};

/// The first problem with arguments.
pub(crate) fn problem(schema: &Value, arguments: &Value, faults: Faults) -> Option<String> {
    let members = arguments.as_object()?;
    if !faults.has(Fault::MissingArgumentAccepted) {
        let required =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.into_iter().find(|name| !members.contains_key(*name)) {
            return Some(format!("{missing} is required"));
        }
    }
    members.iter().find_map(|(name, value)| {
        let property = &schema["properties"][name];
        if property.is_null() {
            return (!faults.has(Fault::ExtraArgumentAccepted))
                .then(|| "there is an argument that the tool does not have".to_owned());
        }
        value_problem(property, value, faults).map(|why| format!("{name} {why}"))
    })
}

fn value_problem(schema: &Value, value: &Value, faults: Faults) -> Option<String> {
    if let Some(kind) = schema["type"].as_str()
        && !has_type(value, kind)
        && !(faults.has(Fault::FractionAccepted) && kind == "integer" && value.is_number())
    {
        return (!faults.has(Fault::WrongTypeAccepted)).then(|| format!("is not of type {kind}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return (!faults.has(Fault::BadEnumAccepted))
            .then(|| "is none of the values allowed".to_owned());
    }
    let bounds = !faults.has(Fault::OutOfBoundsAccepted);
    let limit = |name: &str| schema[name].as_f64();
    let outside = |size: f64, least: &str, most: &str| {
        limit(least).is_some_and(|least| size < least)
            || limit(most).is_some_and(|most| size > most)
    };
    match value {
        Value::Number(number) if bounds && outside(number.as_f64()?, "minimum", "maximum") => {
            Some("is out of bounds".to_owned())
        }
        Value::String(text)
            if bounds && outside(count(text.chars().count()), "minLength", "maxLength") =>
        {
            Some("is too short or too long".to_owned())
        }
        Value::Array(items)
            if !faults.has(Fault::ShortListAccepted)
                && outside(count(items.len()), "minItems", "maxItems") =>
        {
            Some("has too few or too many items".to_owned())
        }
        Value::Array(items) => {
            items.iter().find_map(|item| value_problem(&schema["items"], item, faults))
        }
        _ => None,
    }
}

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => false,
    }
}

#[expect(clippy::cast_precision_loss, reason = "no text here has 2^53 characters")]
fn count(length: usize) -> f64 {
    length as f64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_constraint_can_break() {
        let schema = json!({"properties": {
            "text": {"type": "string", "minLength": 2}, "city": {"type": "string", "enum": ["Oslo"]},
            "days": {"type": "integer", "maximum": 7}, "numbers": {"type": "array", "items": {"type": "number"}, "minItems": 1},
        }, "required": ["text"]});
        let wrong = |arguments: Value| problem(&schema, &arguments, Faults(None)).is_some();
        assert!(!wrong(json!({"text": "ab", "city": "Oslo", "days": 7.0, "numbers": [1, 2.5]})));
        for arguments in [
            json!({}),
            json!({"text": 1}),
            json!({"text": "a"}),
            json!({"text": "ab", "city": "Rome"}),
            json!({"text": "ab", "days": 8}),
            json!({"text": "ab", "days": 1.5}),
            json!({"text": "ab", "numbers": []}),
            json!({"text": "ab", "numbers": ["1"]}),
            json!({"text": "ab", "more": 1}),
        ] {
            assert!(wrong(arguments.clone()), "{arguments}");
        }
    }
}
