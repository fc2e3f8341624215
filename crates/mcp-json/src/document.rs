//! One parsed text.

use crate::duplicates::{self, DuplicateKey};
use crate::entry::{Entry, LONE_SURROGATE, narrow};
use crate::escape;
use crate::node::Node;
use crate::parser::Notices;
use crate::span::Span;

/// One parsed text: the input, its entries on a [`Tape`](crate::Tape) and what was noticed.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    input: &'a [u8],
    /// Never empty.
    entries: &'a [Entry],
    notices: Notices,
    /// The value it is about.
    root: u32,
}

impl<'a> Document<'a> {
    pub(crate) fn new(input: &'a [u8], entries: &'a [Entry], notices: Notices) -> Document<'a> {
        Document { input, entries, notices, root: 0 }
    }

    /// The same text, as a document about the value at `root`.
    pub(crate) fn rooted_at(self, root: u32) -> Document<'a> {
        Document { root, ..self }
    }

    /// The text that was parsed.
    pub fn input(&self) -> &'a [u8] {
        self.input
    }

    /// The outermost value; of a [part](crate::Parsed::part), the value that it is.
    #[inline]
    pub fn root(&'a self) -> Node<'a> {
        self.node(self.root)
    }

    /// Whether some object names a member twice. Costs nothing: the parser noticed.
    ///
    /// Names are compared unescaped, so `"a"` and `"\u0061"` are the same.
    #[inline]
    pub fn has_duplicate_keys(&self) -> bool {
        self.notices.duplicate_keys
    }

    /// Whether some string has half of a surrogate pair. Costs nothing: the parser noticed.
    #[inline]
    pub fn has_lone_surrogates(&self) -> bool {
        self.notices.lone_surrogates
    }

    /// Every repetition of a member name, found by going through the document again.
    pub fn duplicate_keys(&'a self) -> impl Iterator<Item = DuplicateKey<'a>> {
        duplicates::in_document(self)
    }

    /// Every `\uXXXX` escape that is half of a surrogate pair, in the order of the text.
    pub fn lone_surrogates(&'a self) -> impl Iterator<Item = Span> {
        let entries = if self.notices.lone_surrogates { self.entries } else { &[] };
        entries.iter().filter(|entry| entry.flags & LONE_SURROGATE != 0).flat_map(|entry| {
            let start = entry.span().start + 1;
            escape::lone_surrogates(entry.content(self.input))
                .into_iter()
                .map(move |escape| Span { start: start + escape.start, end: start + escape.end })
        })
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> u32 {
        narrow(self.entries.len())
    }

    #[inline]
    pub(crate) fn node(&'a self, index: u32) -> Node<'a> {
        Node::new(self, index)
    }

    #[inline]
    pub(crate) fn entry(&self, index: u32) -> &'a Entry {
        &self.entries[index as usize]
    }
}
