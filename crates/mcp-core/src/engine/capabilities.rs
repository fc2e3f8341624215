use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{Era, Revision};

/// The features of a server.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each with its name")]
pub(super) struct Offer {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    pub(super) completions: bool,
    pub(super) logging: bool,
    pub(super) list_changes: bool,
    pub(super) subscriptions: bool,
    pub(super) extensions: BTreeMap<String, Value>,
}

impl Offer {
    /// The capabilities declared to clients at `revision`.
    pub(super) fn capabilities(&self, revision: Revision) -> Value {
        let mut declared = Map::new();
        let list = if self.list_changes { json!({ "listChanged": true }) } else { json!({}) };
        if self.tools {
            declared.insert("tools".into(), list.clone());
        }
        if self.prompts {
            declared.insert("prompts".into(), list.clone());
        }
        if self.resources {
            let mut resources = list;
            if self.subscriptions {
                resources["subscribe"] = true.into();
            }
            declared.insert("resources".into(), resources);
        }
        if self.completions && revision >= Revision::V2025_03_26 {
            declared.insert("completions".into(), json!({}));
        }
        if self.logging {
            declared.insert("logging".into(), json!({}));
        }
        if revision.era() == Era::Modern && !self.extensions.is_empty() {
            declared.insert("extensions".into(), json!(self.extensions));
        }
        declared.into()
    }
}
