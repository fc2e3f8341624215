//! The definitions of a revision as JSON, for display.

use std::collections::BTreeMap;

use mcp_core::Revision;
use serde_json::{Map, Value};

const PREFIX: &str = "#/$defs/";

/// A schema document with every definition under `$defs`.
#[derive(Debug, Clone)]
pub struct Document(Value);

impl Document {
    /// The document of a revision.
    pub fn of(revision: Revision) -> Document {
        Document::parse(crate::schema_text(revision)).unwrap_or(Document(Value::Null))
    }

    fn parse(text: &str) -> serde_json::Result<Document> {
        serde_json::from_str(text).map(Document)
    }

    /// The `$schema` of the document.
    pub fn dialect(&self) -> &Value {
        &self.0["$schema"]
    }

    /// A definition; `None` if there is none of that name.
    pub fn definition(&self, name: &str) -> Option<&Value> {
        self.0["$defs"].get(name)
    }

    /// The definitions called `names` and everything they refer to, transitively; `None` if one of
    /// them is missing.
    pub fn closure(&self, names: &[&str]) -> Option<Map<String, Value>> {
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
        Some(found.into_iter().collect())
    }
}

/// The name of the definition that a `$ref` points to.
pub fn referred(reference: &str) -> &str {
    reference.strip_prefix(PREFIX).unwrap_or(reference)
}

fn references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(reference) if key == "$ref" => {
                        names.push(referred(reference).to_owned());
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
        assert!(document.closure(&["E"]).is_none());
    }

    #[test]
    fn every_revision_has_a_document() {
        for revision in Revision::ALL {
            let document = Document::of(revision);
            for definition in crate::definitions(revision) {
                assert!(document.closure(&[definition.name]).is_some(), "{}", definition.name);
            }
        }
    }
}
