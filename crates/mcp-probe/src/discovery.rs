use std::collections::BTreeMap;

use mcp_core::Revision;
use serde_json::Value;

/// What a server offers at each revision that it speaks.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct Discovery {
    /// What it offers, by revision.
    pub offers: BTreeMap<Revision, Offer>,
    /// The reasons why it does not speak the other revisions.
    pub refused: BTreeMap<Revision, String>,
}

/// What a server offers at one revision: all lists, with all pages joined.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct Offer {
    /// Its `serverInfo`.
    pub server: Value,
    /// Its capabilities; null if not stated.
    pub capabilities: Value,
    /// Its instructions.
    pub instructions: Option<String>,
    /// Its tools.
    pub tools: Vec<Value>,
    /// Its resources.
    pub resources: Vec<Value>,
    /// Its resource templates.
    pub templates: Vec<Value>,
    /// Its prompts.
    pub prompts: Vec<Value>,
    /// Number of pages of each list, by method.
    pub pages: BTreeMap<&'static str, usize>,
}

impl Offer {
    /// Whether a capability is declared, given as a pointer such as `/resources/subscribe`. The
    /// value `false` counts as not declared.
    pub fn has(&self, pointer: &str) -> bool {
        self.capabilities
            .pointer(pointer)
            .is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
    }
}
