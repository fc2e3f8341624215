use std::fmt;

use mcp_core::Revision;
use mcp_json::{Limits, Node, Tape};

/// A named shape of one revision, such as `Tool` or `CallToolRequestParams`, with its generated
/// validator.
///
/// The shape itself stands in [`schema_text`](crate::schema_text) under `#/$defs/<name>`.
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

    /// Whether `node` fits, exactly as JSON Schema 2020-12 has it (`format` is not asserted). Of
    /// members with the same name the last one counts.
    ///
    /// Allocates nothing unless a string that matters is written with escapes, or the document
    /// repeats a member.
    pub fn accepts(&self, node: Node<'_>) -> bool {
        (self.accepts)(node)
            || (node.document().has_duplicate_keys() && self.accepts_last_members(node))
    }

    /// The generated functions look at every member they meet, so a repeated one may be refused
    /// for the sake of an earlier value. The other way round they cannot err: if every value fits,
    /// so does the last.
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

/// There is one definition of a name in a revision.
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
