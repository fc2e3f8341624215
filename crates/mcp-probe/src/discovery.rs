use std::collections::BTreeMap;

use mcp_core::Revision;
use serde_json::Value;

/// What a server offers, by the revisions that it speaks.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct Found {
    /// The revisions that it speaks, with what it offers at each.
    pub offers: BTreeMap<Revision, Offer>,
    /// Why the others are not among them.
    pub refused: BTreeMap<Revision, String>,
}

/// What a server offers at one revision: everything as it was listed, all pages together.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct Offer {
    /// Its name and version.
    pub server: Value,
    /// Its capabilities; null if it has not said.
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
    /// How many pages each list had, by method.
    pub pages: BTreeMap<&'static str, usize>,
}

impl Offer {
    /// Whether a capability is declared, by a pointer such as `/resources/subscribe`. `false` is
    /// the same as nothing.
    pub fn has(&self, pointer: &str) -> bool {
        self.capabilities
            .pointer(pointer)
            .is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
    }
}
