//! Text that is parsed once and read by many.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::document::Document;
use crate::error::SyntaxError;
use crate::limits::Limits;
use crate::node::Node;
use crate::pool::TapePool;
use crate::tape::{Slot, Tape};

/// A JSON value together with the tape of the text it is part of: parsed where the bytes arrive,
/// shared by everything that reads them afterwards.
///
/// Clones and [parts](Parsed::part) share text and tape, so they only cost a reference count.
///
/// ```
/// use mcp_json::{Limits, Parsed};
///
/// let message = Parsed::parse(r#"{"id": 1, "params": {"name": "echo"}}"#.into(), Limits::default())?;
/// let document = message.document();
/// let params = message.part(document.root().get("params").expect("present"));
///
/// assert_eq!(params.text(), r#"{"name": "echo"}"#);
/// assert!(params.document().root().get("name").is_some_and(|name| name.str_eq("echo")));
/// # Ok::<(), mcp_json::SyntaxError>(())
/// ```
#[derive(Clone)]
pub struct Parsed {
    source: Arc<Source>,
    /// Index of the value in the text.
    index: u32,
}

/// A text and its tape.
struct Source {
    text: Bytes,
    tape: Tape,
    slot: Slot,
    /// The pool that the tape is returned to when the last reader is dropped.
    pool: Option<TapePool>,
}

impl Parsed {
    /// Parses `text` on its own tape.
    ///
    /// # Errors
    /// The first syntax error, or an exceeded limit.
    pub fn parse(text: Bytes, limits: Limits) -> Result<Parsed, SyntaxError> {
        Parsed::parse_on(Tape::new(), None, text, limits).map_err(|(error, _)| error)
    }

    /// Parses `text` on `tape`, which is returned to `pool` later, or to the caller on an error.
    pub(crate) fn parse_on(
        mut tape: Tape,
        pool: Option<TapePool>,
        text: Bytes,
        limits: Limits,
    ) -> Result<Parsed, (SyntaxError, Tape)> {
        tape.clear();
        match tape.append(&text, limits) {
            Ok(slot) => {
                let source = Source { text, tape, slot, pool };
                Ok(Parsed { source: Arc::new(source), index: 0 })
            }
            Err(error) => Err((error, tape)),
        }
    }

    /// The value as a document of its own. Spans are relative to the [source](Parsed::source), and
    /// the parser's notices apply to the whole source.
    #[inline]
    pub fn document(&self) -> Document<'_> {
        self.source.tape.document(self.source.slot, &self.source.text).rooted_at(self.index)
    }

    /// The value at `node`.
    ///
    /// # Panics
    /// If the node is from a text of another length.
    #[must_use]
    pub fn part(&self, node: Node<'_>) -> Parsed {
        assert_eq!(node.document().input().len(), self.source.text.len(), "one text");
        Parsed { source: Arc::clone(&self.source), index: node.index() }
    }

    /// The exact bytes of the value.
    pub fn as_bytes(&self) -> &[u8] {
        let span = self.document().root().span();
        &self.source.text[span.start..span.end]
    }

    /// The exact bytes of the value, sharing the memory of the source.
    pub fn text(&self) -> Bytes {
        let span = self.document().root().span();
        self.source.text.slice(span.start..span.end)
    }

    /// The whole text that was parsed, of which this may be a part.
    pub fn source(&self) -> &Bytes {
        &self.source.text
    }

    /// Bytes of memory used by the source and its tape.
    pub fn memory(&self) -> usize {
        self.source.text.len() + self.source.tape.memory()
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.put_back(std::mem::take(&mut self.tape));
        }
    }
}

impl fmt::Debug for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &'static str) -> Parsed {
        Parsed::parse(Bytes::from_static(text.as_bytes()), Limits::default()).unwrap()
    }

    #[test]
    fn parts_share_the_text_and_know_their_place() {
        let whole = parse(r#" {"a": [1, {"b": "c"}]} "#);
        assert_eq!(whole.text(), r#"{"a": [1, {"b": "c"}]}"#);
        assert_eq!(whole.source(), r#" {"a": [1, {"b": "c"}]} "#);
        let document = whole.document();
        let inner = whole.part(document.root().pointer("/a/1").unwrap());
        assert_eq!(inner.as_bytes(), br#"{"b": "c"}"#);
        let document = inner.document();
        let text = inner.part(document.root().get("b").unwrap());
        assert_eq!(text.text(), r#""c""#);
        assert_eq!(text.document().root().span().start, 17);
    }

    #[test]
    fn memory_counts_the_tape() {
        let parsed = parse("[1,2,3,4]");
        assert!(parsed.memory() >= 9 + 5 * 16, "{}", parsed.memory());
    }
}
