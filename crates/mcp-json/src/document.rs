//! A parsed text.

use std::ptr;

use crate::duplicates::{self, DuplicateKey};
use crate::entry::{Entry, LONE_SURROGATE, narrow};
use crate::escape;
use crate::node::Node;
use crate::parser::Notices;
use crate::span::Span;

/// A parsed text: the input, its entries on a [`Tape`](crate::Tape) and the parser's notices.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    input: &'a [u8],
    /// Never empty.
    entries: &'a [Entry],
    notices: Notices,
    /// The limit on nesting that it was parsed under.
    max_depth: usize,
    /// The value it is about.
    root: u32,
}

impl<'a> Document<'a> {
    pub(crate) fn new(
        input: &'a [u8],
        entries: &'a [Entry],
        notices: Notices,
        max_depth: usize,
    ) -> Document<'a> {
        Document { input, entries, notices, max_depth, root: 0 }
    }

    /// The limit on nesting that it was parsed under.
    pub(crate) fn max_depth(&self) -> usize {
        self.max_depth
    }

    /// The same text, as a document whose root is the value at `root`.
    pub(crate) fn rooted_at(self, root: u32) -> Document<'a> {
        Document { root, ..self }
    }

    /// The text that was parsed.
    pub fn input(&self) -> &'a [u8] {
        self.input
    }

    /// The outermost value; for a [part](crate::Parsed::part), the part's own value.
    #[inline]
    pub fn root(&'a self) -> Node<'a> {
        self.node(self.root)
    }

    /// Whether some object has duplicate member names. Costs nothing: the parser noticed.
    ///
    /// Names are compared unescaped, so `"a"` and `"\u0061"` are the same.
    #[inline]
    pub fn has_duplicate_keys(&self) -> bool {
        self.notices.duplicate_keys
    }

    /// Whether some string has a lone surrogate. Costs nothing: the parser noticed.
    #[inline]
    pub fn has_lone_surrogates(&self) -> bool {
        self.notices.lone_surrogates
    }

    /// Every duplicate member name, found by traversing the document again.
    pub fn duplicate_keys(&'a self) -> impl Iterator<Item = DuplicateKey<'a>> {
        duplicates::in_document(self)
    }

    /// Every `\uXXXX` escape that is a lone surrogate, in document order.
    pub fn lone_surrogates(&'a self) -> impl Iterator<Item = Span> {
        let entries = if self.notices.lone_surrogates { self.entries } else { &[] };
        #[cfg(feature = "testing")]
        let entries = entries.iter().inspect(|_| crate::testing::count_step());
        #[cfg(not(feature = "testing"))]
        let entries = entries.iter();
        entries.filter(|entry| entry.flags & LONE_SURROGATE != 0).flat_map(|entry| {
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
        Node::new(self, &self.entries[index as usize])
    }

    /// The entries from index `start` up to but not including `past`.
    #[inline]
    pub(crate) fn entries(&self, start: u32, past: u32) -> &'a [Entry] {
        &self.entries[start as usize..past as usize]
    }

    /// The index of `entry`, which is one of [`entries`](Document::entries): how far it is from
    /// the first.
    #[inline]
    pub(crate) fn index_of(&self, entry: &Entry) -> u32 {
        let distance = ptr::from_ref(entry).addr() - self.entries.as_ptr().addr();
        narrow(distance / size_of::<Entry>())
    }
}
