use serde::{Deserialize, Serialize};

/// A place where a server may work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// A `file:` URI.
    pub uri: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Root {
    /// The place at `uri`.
    pub fn new(uri: impl Into<String>) -> Root {
        Root { uri: uri.into(), name: None }
    }

    /// A name for people.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// The places where a server may work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct ListRootsResult {
    pub roots: Vec<Root>,
}

impl ListRootsResult {
    /// These.
    pub fn new(roots: Vec<Root>) -> ListRootsResult {
        ListRootsResult { roots }
    }
}
