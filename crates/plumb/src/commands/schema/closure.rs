use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::{Map, Value};

const PREFIX: &str = "#/$defs/";

/// A schema document with every definition under `$defs`.
pub(super) struct Document(Value);

impl Document {
    pub(super) fn parse(text: &str) -> serde_json::Result<Document> {
        serde_json::from_str(text).map(Document)
    }

    pub(super) fn dialect(&self) -> &Value {
        &self.0["$schema"]
    }

    pub(super) fn definition(&self, name: &str) -> anyhow::Result<&Value> {
        (self.0["$defs"].get(name))
            .with_context(|| format!("the document does not define `{name}`"))
    }

    /// The definitions called `names` and everything they refer to, transitively.
    pub(super) fn closure(&self, names: &[&str]) -> anyhow::Result<Map<String, Value>> {
        let mut found = BTreeMap::new();
        let mut open: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        while let Some(name) = open.pop() {
            if found.contains_key(&name) {
                continue;
            }
            let definition = self.definition(&name)?;
            references(definition, &mut open);
            found.insert(name, definition.clone());
        }
        Ok(found.into_iter().collect())
    }
}

/// The name of the definition that `reference` points to.
pub(super) fn target(reference: &str) -> &str {
    reference.strip_prefix(PREFIX).unwrap_or(reference)
}

fn references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(reference) if key == "$ref" => {
                        names.push(target(reference).to_owned());
                    }
                    // Literal values are not schemas, whatever they look like.
                    _ if key == "const" || key == "enum" => {}
                    other => references(other, names),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"{"$defs": {
        "A": {"items": {"$ref": "#/$defs/B"}},
        "B": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/C"}]},
        "C": {"const": {"$ref": "#/$defs/D"}},
        "D": {"type": "null"}
    }}"##;

    #[test]
    fn cyclic_references_are_followed() {
        let document = Document::parse(TEXT).unwrap();
        let names = |start: &str| -> Vec<String> {
            document.closure(&[start]).unwrap().keys().cloned().collect()
        };
        assert_eq!(names("A"), ["A", "B", "C"]);
        assert_eq!(names("C"), ["C"]);
        assert!(document.closure(&["E"]).is_err());
    }
}
