use std::collections::HashMap;

use serde_json::Value;

use super::Fault;
use crate::percent::decoded_text;
use crate::violation::push_token;

/// A document and the targets of references in it.
#[derive(Debug)]
pub(crate) struct Names<'d> {
    pub(super) document: &'d Value,
    /// Pointers of schemas by `$anchor`.
    anchors: HashMap<&'d str, String>,
    /// Pointers of schemas by `$id`.
    ids: HashMap<&'d str, String>,
}

impl<'d> Names<'d> {
    /// Reads `document`.
    pub(crate) fn of(document: &'d Value) -> Names<'d> {
        let mut names = Names { document, anchors: HashMap::new(), ids: HashMap::new() };
        names.collect(document, &mut String::new());
        names
    }

    /// Recursive: the depth of documents is limited.
    fn collect(&mut self, value: &'d Value, pointer: &mut String) {
        let length = pointer.len();
        match value {
            Value::Object(members) => {
                for keyword in ["$id", "id"] {
                    if let Some(id) = members.get(keyword).and_then(Value::as_str) {
                        self.ids.insert(id.trim_end_matches('#'), pointer.clone());
                    }
                }
                for keyword in ["$anchor", "$dynamicAnchor"] {
                    if let Some(anchor) = members.get(keyword).and_then(Value::as_str) {
                        self.anchors.insert(anchor, pointer.clone());
                    }
                }
                for (name, member) in members {
                    push_token(pointer, name);
                    self.collect(member, pointer);
                    pointer.truncate(length);
                }
            }
            Value::Array(elements) => {
                for (position, element) in elements.iter().enumerate() {
                    push_token(pointer, &position.to_string());
                    self.collect(element, pointer);
                    pointer.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// The pointer that `reference` resolves to; `None` for the bundled meta-schemas.
    pub(crate) fn target(&self, reference: &str) -> Result<Option<String>, Fault> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if document.is_empty() {
            String::new()
        } else if let Some(pointer) = self.with_id(document) {
            pointer
        } else if is_bundled(document) {
            return Ok(None);
        } else {
            return Err(Fault::External { reference: reference.to_owned() });
        };
        let dangling = || Fault::Dangling { reference: reference.to_owned() };
        let pointer = if fragment.is_empty() {
            base
        } else if fragment.starts_with('/') {
            format!("{base}{}", decoded_text(fragment).ok_or_else(dangling)?)
        } else {
            self.anchors.get(fragment).cloned().ok_or_else(dangling)?
        };
        match self.document.pointer(&pointer) {
            Some(_) => Ok(Some(pointer)),
            None => Err(dangling()),
        }
    }

    /// References may be relative to an `$id`: the last part of the path decides.
    fn with_id(&self, document: &str) -> Option<String> {
        if let Some(pointer) = self.ids.get(document) {
            return Some(pointer.clone());
        }
        if document.contains("://") {
            return None;
        }
        let suffix = format!("/{}", document.trim_start_matches("./").trim_start_matches('/'));
        let mut matching: Vec<&String> = self
            .ids
            .iter()
            .filter(|(id, _)| id.ends_with(&suffix))
            .map(|(_, pointer)| pointer)
            .collect();
        matching.sort();
        matching.first().map(|pointer| (*pointer).clone())
    }
}

/// Whether `uri` is a meta-schema that comes with the `jsonschema` crate.
fn is_bundled(uri: &str) -> bool {
    ["http://json-schema.org/draft-0", "https://json-schema.org/draft/20"]
        .iter()
        .any(|prefix| uri.starts_with(prefix))
}
