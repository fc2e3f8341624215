use std::fmt;

use mcp_core::Revision;
use mcp_json::{Limits, Node, Tape};

/// A named shape of one revision, such as `Tool` or `CallToolRequestParams`, with its generated
/// validator.
///
/// The schema is in [`schema_text`](crate::schema_text), under `#/$defs/<name>`.
pub struct Definition {
    /// The name under `$defs`.
    pub name: &'static str,
    /// The revision it belongs to.
    pub revision: Revision,
    accepts: fn(Node<'_>) -> bool,
}

impl Definition {
    pub(crate) const fn new(
        name: &'static str,
        revision: Revision,
        accepts: fn(Node<'_>) -> bool,
    ) -> Definition {
        Definition { name, revision, accepts }
    }

    /// Whether `node` fits, according to JSON Schema 2020-12 (`format` is not asserted). Of members
    /// with the same name, the last one counts.
    ///
    /// Does not allocate unless a relevant string contains escapes or the document has duplicate
    /// members.
    pub fn accepts(&self, node: Node<'_>) -> bool {
        (self.accepts)(node)
            || (node.document().has_duplicate_keys() && self.accepts_last_members(node))
    }

    /// The generated functions check every member they see, so an object may be rejected because of
    /// an earlier duplicate. The opposite error is impossible: if every value fits, so does the
    /// last.
    #[cold]
    fn accepts_last_members(&self, node: Node<'_>) -> bool {
        let text = node.to_value().to_string();
        let limits = Limits { max_bytes: usize::MAX, max_depth: usize::MAX };
        let mut tape = Tape::new();
        match tape.parse(text.as_bytes(), limits) {
            Ok(document) => (self.accepts)(document.root()),
            Err(_) => false,
        }
    }
}

/// A name has one definition per revision.
impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        (self.revision, self.name) == (other.revision, other.name)
    }
}

impl Eq for Definition {}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.revision, self.name)
    }
}
