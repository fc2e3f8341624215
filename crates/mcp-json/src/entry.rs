//! One entry of the tape.

use std::ops::Range;

use crate::node::Kind;
use crate::span::Span;

/// The kinds the parser distinguishes; separate tags for `false` and `true` save a look at the
/// text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    Null,
    False,
    True,
    Integer,
    Decimal,
    String,
    Array,
    Object,
}

/// The string contains a backslash: it must be unescaped before its text is used.
pub(crate) const ESCAPED: u8 = 1;
/// The string contains a lone surrogate.
pub(crate) const LONE_SURROGATE: u8 = 2;

/// A value or a member name, in document order: a container is followed by its children, an
/// object's as name, value, name, value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// Offset of the first byte; for strings, of the byte after the opening quote.
    start: u32,
    /// Offset past the last byte; for strings, of the closing quote.
    end: u32,
    /// Values: index past the subtree. Member names, whose value is always the next entry: the
    /// fingerprint of the name.
    link: u32,
    pub(crate) tag: Tag,
    pub(crate) flags: u8,
    /// Number of children, saturating at `u16::MAX`.
    count: u16,
}

impl Entry {
    #[inline]
    pub(crate) fn new(tag: Tag, flags: u8, bytes: Range<usize>, link: u32) -> Entry {
        Entry { start: narrow(bytes.start), end: narrow(bytes.end), link, tag, flags, count: 0 }
    }

    /// Completes a container once its end is known.
    #[inline]
    pub(crate) fn close(&mut self, end: usize, link: u32, children: u32) {
        self.end = narrow(end);
        self.link = link;
        self.count = u16::try_from(children).unwrap_or(u16::MAX);
    }

    /// Index past the subtree of a value; meaningless for member names.
    #[inline]
    pub(crate) fn past(&self) -> u32 {
        self.link
    }

    /// Fingerprint of a member name; meaningless for values.
    #[inline]
    pub(crate) fn fingerprint(&self) -> u32 {
        self.link
    }

    /// Number of children, unless there are too many to fit in the entry.
    #[inline]
    pub(crate) fn count(&self) -> Option<usize> {
        (self.count != u16::MAX).then_some(usize::from(self.count))
    }

    /// The bytes without quotes.
    #[inline]
    pub(crate) fn content<'a>(&self, input: &'a [u8]) -> &'a [u8] {
        &input[self.start as usize..self.end as usize]
    }

    #[inline]
    pub(crate) fn is_escaped(&self) -> bool {
        self.flags & ESCAPED != 0
    }

    pub(crate) fn span(&self) -> Span {
        let quote = usize::from(self.tag == Tag::String);
        Span { start: self.start as usize - quote, end: self.end as usize + quote }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.tag {
            Tag::Null => Kind::Null,
            Tag::False | Tag::True => Kind::Bool,
            Tag::Integer => Kind::Integer,
            Tag::Decimal => Kind::Decimal,
            Tag::String => Kind::String,
            Tag::Array => Kind::Array,
            Tag::Object => Kind::Object,
        }
    }
}

/// An offset or index in the width used on the tape.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the parser refuses inputs whose offsets need more, and a text has at most as many \
              entries as bytes"
)]
pub(crate) fn narrow(value: usize) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::Entry;

    #[test]
    fn an_entry_takes_sixteen_bytes() {
        assert_eq!(size_of::<Entry>(), 16);
    }
}
