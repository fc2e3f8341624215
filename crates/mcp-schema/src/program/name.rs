//! Property names, compared by the fingerprints that the tape keeps of member names.

use mcp_json::{Fingerprint, Node};

/// A property name.
#[derive(Debug)]
pub(super) struct Name {
    text: Box<str>,
    fingerprint: Fingerprint,
}

impl Name {
    pub(super) fn new(text: &str) -> Name {
        Name { text: text.into(), fingerprint: Fingerprint::of(text) }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether `key`, a member name with this fingerprint, equals this name.
    #[inline]
    pub(super) fn is(&self, key: Node<'_>, fingerprint: Fingerprint) -> bool {
        self.fingerprint == fingerprint && key.str_eq(&self.text)
    }
}
