//! A value of a document, and the way to its children.
#![expect(
    clippy::inline_always,
    reason = "what is compared is nearly always a literal, which only the caller knows"
)]

use std::borrow::Cow;
use std::fmt;

use crate::document::Document;
use crate::entry::{Entry, LONE_SURROGATE, Tag};
use crate::escape::unescape;
use crate::fingerprint::Fingerprint;
use crate::number;
use crate::pointer;
use crate::span::Span;
use crate::value;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number written without fraction and exponent.
    Integer,
    /// A number written with a fraction, an exponent or both.
    Decimal,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A value of a document: a reference and an index, to be passed around by value.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    document: &'a Document<'a>,
    index: u32,
}

impl<'a> Node<'a> {
    #[inline]
    pub(crate) fn new(document: &'a Document<'a>, index: u32) -> Node<'a> {
        Node { document, index }
    }

    #[inline]
    fn entry(self) -> &'a Entry {
        self.document.entry(self.index)
    }

    /// The document it belongs to.
    #[inline]
    pub fn document(self) -> &'a Document<'a> {
        self.document
    }

    /// Its place among the values and member names of the document, 0 for the root.
    #[inline]
    pub fn index(self) -> u32 {
        self.index
    }

    /// What it is.
    #[inline]
    pub fn kind(self) -> Kind {
        self.entry().kind()
    }

    /// Whether it is `null`.
    #[inline]
    pub fn is_null(self) -> bool {
        self.entry().tag == Tag::Null
    }

    /// Whether it is a number, written in whatever way.
    #[inline]
    pub fn is_number(self) -> bool {
        matches!(self.entry().tag, Tag::Integer | Tag::Decimal)
    }

    /// Whether it is a string.
    #[inline]
    pub fn is_string(self) -> bool {
        self.entry().tag == Tag::String
    }

    /// Whether it is an array.
    #[inline]
    pub fn is_array(self) -> bool {
        self.entry().tag == Tag::Array
    }

    /// Whether it is an object.
    #[inline]
    pub fn is_object(self) -> bool {
        self.entry().tag == Tag::Object
    }

    /// Where it stands in the input; strings with their quotes.
    pub fn span(self) -> Span {
        self.entry().span()
    }

    /// The exact bytes it is written with; strings with their quotes.
    pub fn raw(self) -> &'a [u8] {
        let Span { start, end } = self.span();
        &self.document.input()[start..end]
    }

    /// The truth value of a `true` or `false`.
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        match self.entry().tag {
            Tag::True => Some(true),
            Tag::False => Some(false),
            _ => None,
        }
    }

    /// The text of a string, unescaped; half of a surrogate pair reads as U+FFFD. Borrowed from
    /// the input unless there is an escape.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        // The parser has checked this already, but only `unsafe` could tell the compiler so.
        Some(match self.str_bytes()? {
            Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(bytes),
            },
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Cow::Owned(text),
                Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            },
        })
    }

    /// [`Node::as_str`] as the bytes of its UTF-8 form, which is cheaper to make.
    #[inline]
    pub fn str_bytes(self) -> Option<Cow<'a, [u8]>> {
        let entry = self.entry();
        if entry.tag != Tag::String {
            return None;
        }
        let content = entry.content(self.document.input());
        Some(if entry.is_escaped() { unescape_rarely(content) } else { Cow::Borrowed(content) })
    }

    /// Whether it is a string with half of a surrogate pair. Costs nothing: the parser noticed.
    pub fn has_lone_surrogate(self) -> bool {
        self.is_string() && self.entry().flags & LONE_SURROGATE != 0
    }

    /// Whether it is a string that reads `text` once unescaped.
    #[inline(always)]
    pub fn str_eq(self, text: &str) -> bool {
        let entry = self.entry();
        if entry.tag != Tag::String {
            return false;
        }
        let content = entry.content(self.document.input());
        if entry.is_escaped() {
            return unescape_rarely(content) == text.as_bytes();
        }
        content == text.as_bytes()
    }

    /// The fingerprint of a member name; of a value, something without meaning.
    #[inline]
    pub fn fingerprint(self) -> Fingerprint {
        Fingerprint(self.entry().fingerprint())
    }

    fn number_bytes(self) -> Option<&'a [u8]> {
        self.is_number().then(|| self.entry().content(self.document.input()))
    }

    /// The digits of a number exactly as they are written.
    pub fn number_literal(self) -> Option<&'a str> {
        std::str::from_utf8(self.number_bytes()?).ok()
    }

    /// The value of an integer that is written as one and fits. For `1.0` and `1e2` it is `None`.
    pub fn as_i64(self) -> Option<i64> {
        number::to_i64(self.number_bytes()?)
    }

    /// As [`Node::as_i64`], for integers that are not negative.
    pub fn as_u64(self) -> Option<u64> {
        number::to_u64(self.number_bytes()?)
    }

    /// The nearest value a number has as `f64`; `None` beyond the largest finite one.
    pub fn as_f64(self) -> Option<f64> {
        number::to_f64(self.number_literal()?)
    }

    /// Whether it is a whole number in the mathematical sense, decided exactly: `1`, `1.0`, `1e2`
    /// and `10000000000000000001` are, `1.5` is not.
    #[inline]
    pub fn is_integer(self) -> bool {
        match self.entry().tag {
            Tag::Integer => true,
            Tag::Decimal => number::is_integer(self.entry().content(self.document.input())),
            _ => false,
        }
    }

    /// Number of members or elements; 0 for everything else. Members with the same name count
    /// each.
    #[inline]
    pub fn len(self) -> usize {
        match self.entry().count() {
            Some(count) => count,
            None if self.is_object() => self.members().count(),
            None => self.elements().count(),
        }
    }

    /// Whether it has neither members nor elements.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.entry().count() == Some(0)
    }

    /// The elements of an array; none for everything else.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        let past = if self.is_array() { self.entry().past() } else { 0 };
        Elements { document: self.document, index: self.index + 1, past }
    }

    /// The members of an object, name (a string node) and value; none for everything else.
    #[inline]
    pub fn members(self) -> Members<'a> {
        let past = if self.is_object() { self.entry().past() } else { 0 };
        Members { document: self.document, index: self.index + 1, past }
    }

    /// The value of the member with this name. Where the name occurs twice the last one wins, as
    /// in most readers.
    #[inline(always)]
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        // Here for the compiler to work it out where the key is a literal.
        self.find(key, Fingerprint::of(key))
    }

    #[inline(never)]
    fn find(self, key: &str, fingerprint: Fingerprint) -> Option<Node<'a>> {
        let mut named = self
            .members()
            .filter(|(name, _)| name.fingerprint() == fingerprint && name.str_eq(key));
        let found = if self.document.has_duplicate_keys() { named.last() } else { named.next() };
        found.map(|(_, value)| value)
    }

    /// The value a JSON Pointer (RFC 6901) leads to from here.
    pub fn pointer(self, json_pointer: &str) -> Option<Node<'a>> {
        pointer::resolve(self, json_pointer)
    }

    /// A copy as `serde_json` has it, for cold paths. What that cannot hold is made to fit:
    ///
    /// - integers beyond 64 bits and decimals become the nearest `f64`, and those beyond the
    ///   largest finite one become that, with their sign;
    /// - of members with the same name the last one stays;
    /// - containers nested deeper than 512 levels below this node become `null`, as `serde_json`
    ///   takes values apart recursively.
    pub fn to_value(self) -> serde_json::Value {
        value::build(self)
    }
}

/// Names and short words are hardly ever escaped: kept apart, so that the usual case is small
/// enough to be inlined.
#[cold]
#[inline(never)]
fn unescape_rarely(content: &[u8]) -> Cow<'_, [u8]> {
    unescape(content)
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("index", &self.index)
            .field("kind", &self.kind())
            .field("span", &self.span())
            .finish_non_exhaustive()
    }
}

/// The elements of an array, see [`Node::elements`].
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    document: &'a Document<'a>,
    index: u32,
    past: u32,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        if self.index >= self.past {
            return None;
        }
        let element = self.document.node(self.index);
        self.index = element.entry().past();
        Some(element)
    }
}

/// The members of an object, see [`Node::members`].
#[derive(Debug, Clone)]
pub struct Members<'a> {
    document: &'a Document<'a>,
    index: u32,
    past: u32,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Node<'a>, Node<'a>);

    #[inline]
    fn next(&mut self) -> Option<(Node<'a>, Node<'a>)> {
        if self.index >= self.past {
            return None;
        }
        let name = self.document.node(self.index);
        let value = self.document.node(self.index + 1);
        self.index = value.entry().past();
        Some((name, value))
    }
}
