//! Finds the differences between two schemas in normal form.

use std::{collections::BTreeSet, fmt};

use serde_json::{Map, Value, json};

use super::Document;

/// One place where the schemas differ.
pub(super) struct Difference {
    /// Keywords and names that lead there, as a JSON pointer.
    pub path: String,
    /// Our document's value there.
    pub here: Option<Value>,
    official: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |value: &Option<Value>| match value {
            Some(value) => value.to_string(),
            None => "nothing".to_owned(),
        };
        let (here, official) = (side(&self.here), side(&self.official));
        write!(f, "{}: here {here}, official {official}", self.path)
    }
}

/// Every difference between two schemas, each given with the document its references refer to.
pub(super) fn differences(
    here: (&Value, &Document),
    official: (&Value, &Document),
) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(String::new(), here, official, &mut found);
    found
}

fn compare(
    path: String,
    here: (&Value, &Document),
    official: (&Value, &Document),
    found: &mut Vec<Difference>,
) {
    // Definitions of the same name are compared separately.
    if here.0 == official.0 && here.0.get("$ref").is_some() {
        return;
    }
    let (one, other) = (resolved(here.0, here.1), resolved(official.0, official.1));
    let (Value::Object(one), Value::Object(other)) = (&one, &other) else {
        if one != other {
            found.push(Difference { path, here: Some(one), official: Some(other) });
        }
        return;
    };
    let keywords: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    for keyword in keywords {
        let path = format!("{path}/{keyword}");
        match (keyword.as_str(), one.get(keyword), other.get(keyword)) {
            ("properties", Some(Value::Object(one)), Some(Value::Object(other))) => {
                let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
                for name in names {
                    member(
                        format!("{path}/{name}"),
                        name,
                        (one, here.1),
                        (other, official.1),
                        found,
                    );
                }
            }
            ("items" | "additionalProperties", Some(one), Some(other)) => {
                compare(path, (one, here.1), (other, official.1), found);
            }
            ("anyOf", Some(Value::Array(one)), Some(Value::Array(other)))
                if one.len() == other.len() =>
            {
                for (position, (one, other)) in one.iter().zip(other).enumerate() {
                    compare(
                        format!("{path}/{position}"),
                        (one, here.1),
                        (other, official.1),
                        found,
                    );
                }
            }
            (_, one, other) if one == other => {}
            (_, one, other) => {
                found.push(Difference { path, here: one.cloned(), official: other.cloned() });
            }
        }
    }
}

fn member(
    path: String,
    name: &str,
    here: (&Map<String, Value>, &Document),
    official: (&Map<String, Value>, &Document),
    found: &mut Vec<Difference>,
) {
    match (here.0.get(name), official.0.get(name)) {
        (Some(one), Some(other)) => compare(path, (one, here.1), (other, official.1), found),
        (one, other) => {
            found.push(Difference { path, here: one.cloned(), official: other.cloned() });
        }
    }
}

/// The schema with references followed, intersections of objects expanded, and nested unions
/// flattened and sorted.
fn resolved(schema: &Value, document: &Document) -> Value {
    if let Some(Value::String(name)) = schema.get("$ref")
        && let Some(target) = document.get(name)
    {
        return resolved(target, document);
    }
    let mut schema = schema.clone();
    if let Some(Value::Array(branches)) = schema.get("allOf") {
        let mut merged = json!({ "type": "object", "properties": {}, "required": [] });
        for branch in branches {
            let branch = resolved(branch, document);
            if let Some(Value::Object(properties)) = branch.get("properties")
                && let Value::Object(merged) = &mut merged["properties"]
            {
                merged.extend(properties.clone());
            }
            if let Some(Value::Array(required)) = branch.get("required")
                && let Value::Array(merged) = &mut merged["required"]
            {
                merged.extend(required.clone());
                merged.sort_by_key(Value::to_string);
            }
        }
        return merged;
    }
    if let Some(Value::Array(branches)) = schema.get("anyOf") {
        let mut flat: Vec<Value> = Vec::new();
        for branch in branches {
            let target = resolved(branch, document);
            match target.get("anyOf") {
                Some(Value::Array(nested))
                    if target.as_object().is_some_and(|all| all.len() == 1) =>
                {
                    flat.extend(nested.clone());
                }
                _ => flat.push(branch.clone()),
            }
        }
        flat.sort_by_key(Value::to_string);
        schema["anyOf"] = flat.into();
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::normal_form::normal_form;

    /// The differences between the definition `A` of two documents.
    fn found(here: &Value, official: &Value) -> Vec<String> {
        let document = |definitions: &Value| -> Document {
            let definitions = definitions.as_object().unwrap().iter();
            (definitions.map(|(name, schema)| (name.clone(), normal_form(schema)))).collect()
        };
        let (here, official) = (document(here), document(official));
        (differences((&here["A"], &here), (&official["A"], &official)).iter())
            .map(Difference::to_string)
            .collect()
    }

    #[test]
    fn spelling_makes_no_difference() {
        let here = json!({
            "A": { "type": "object", "required": ["b", "c"], "properties": {
                "b": { "$ref": "#/$defs/B" },
                "c": { "anyOf": [{ "$ref": "#/$defs/C" }, { "type": "null" }] },
            } },
            "B": { "const": "b" },
            "C": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
        });
        let official = json!({
            "A": { "allOf": [{ "$ref": "#/definitions/D" }, { "$ref": "#/definitions/E" }] },
            "D": { "type": "object", "description": "…", "required": ["c"], "properties": {
                "c": { "anyOf": [{ "type": "null" }, { "type": "integer" }, { "type": "string" }] },
            } },
            "E": { "type": "object", "required": ["b"], "additionalProperties": {}, "properties": {
                "b": { "type": "string", "const": "b" },
            } },
        });
        assert_eq!(found(&here, &official), Vec::<String>::new());
    }

    #[test]
    fn differences_are_shown_with_their_place() {
        let here = json!({ "A": { "type": "object", "properties": {
            "a": { "type": "array", "items": { "type": "number" } },
            "b": {},
        } } });
        let official = json!({ "A": { "type": "object", "required": ["a"], "properties": {
            "a": { "type": "array", "items": { "type": "integer" } },
        } } });
        assert_eq!(
            found(&here, &official),
            [
                r#"/properties/a/items/type: here "number", official "integer""#,
                "/properties/b: here {}, official nothing",
                r#"/required: here nothing, official ["a"]"#,
            ]
        );
    }
}
