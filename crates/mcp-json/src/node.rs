//! A value of a document, and access to its children.
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

/// The type of a value.
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

/// A value of a document: two references, to be passed around by value.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    document: &'a Document<'a>,
    /// The value's entry. Stored instead of its index, as nearly every access needs the entry.
    entry: &'a Entry,
}

impl<'a> Node<'a> {
    #[inline]
    pub(crate) fn new(document: &'a Document<'a>, entry: &'a Entry) -> Node<'a> {
        Node { document, entry }
    }

    /// The document it belongs to.
    #[inline]
    pub fn document(self) -> &'a Document<'a> {
        self.document
    }

    /// Its index among the values and member names of the document, 0 for the outermost value.
    #[inline]
    pub fn index(self) -> u32 {
        self.document.index_of(self.entry)
    }

    /// Its type.
    #[inline]
    pub fn kind(self) -> Kind {
        self.entry.kind()
    }

    /// Whether it is `null`.
    #[inline]
    pub fn is_null(self) -> bool {
        self.entry.tag == Tag::Null
    }

    /// Whether it is a number, in any notation.
    #[inline]
    pub fn is_number(self) -> bool {
        matches!(self.entry.tag, Tag::Integer | Tag::Decimal)
    }

    /// Whether it is a string.
    #[inline]
    pub fn is_string(self) -> bool {
        self.entry.tag == Tag::String
    }

    /// Whether it is an array.
    #[inline]
    pub fn is_array(self) -> bool {
        self.entry.tag == Tag::Array
    }

    /// Whether it is an object.
    #[inline]
    pub fn is_object(self) -> bool {
        self.entry.tag == Tag::Object
    }

    /// Its byte range in the input; strings include their quotes.
    pub fn span(self) -> Span {
        self.entry.span()
    }

    /// Its exact bytes in the input; strings include their quotes.
    pub fn raw(self) -> &'a [u8] {
        let Span { start, end } = self.span();
        &self.document.input()[start..end]
    }

    /// The value of a `true` or `false`.
    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        match self.entry.tag {
            Tag::True => Some(true),
            Tag::False => Some(false),
            _ => None,
        }
    }

    /// The text of a string, unescaped; lone surrogates become U+FFFD. Borrowed from the input
    /// unless there is an escape.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        // The parser has already checked this, but only `unsafe` could tell the compiler.
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

    /// [`Node::as_str`] as UTF-8 bytes, which is cheaper.
    #[inline]
    pub fn str_bytes(self) -> Option<Cow<'a, [u8]>> {
        let entry = self.entry;
        if entry.tag != Tag::String {
            return None;
        }
        let content = entry.content(self.document.input());
        Some(if entry.is_escaped() { unescape_rarely(content) } else { Cow::Borrowed(content) })
    }

    /// Whether it is a string with a lone surrogate. Costs nothing: the parser noticed.
    pub fn has_lone_surrogate(self) -> bool {
        self.is_string() && self.entry.flags & LONE_SURROGATE != 0
    }

    /// Whether it is a string that equals `text` once unescaped.
    #[inline(always)]
    pub fn str_eq(self, text: &str) -> bool {
        let entry = self.entry;
        if entry.tag != Tag::String {
            return false;
        }
        let content = entry.content(self.document.input());
        if entry.is_escaped() {
            return unescape_rarely(content) == text.as_bytes();
        }
        same_bytes(content, text.as_bytes())
    }

    /// The fingerprint of a member name; meaningless for values.
    #[inline]
    pub fn fingerprint(self) -> Fingerprint {
        Fingerprint(self.entry.fingerprint())
    }

    fn number_bytes(self) -> Option<&'a [u8]> {
        self.is_number().then(|| self.entry.content(self.document.input()))
    }

    /// The number exactly as written.
    pub fn number_literal(self) -> Option<&'a str> {
        std::str::from_utf8(self.number_bytes()?).ok()
    }

    /// The value of an integer written as one, if it fits. `None` for `1.0` and `1e2`.
    pub fn as_i64(self) -> Option<i64> {
        number::to_i64(self.number_bytes()?)
    }

    /// Like [`Node::as_i64`], for non-negative integers.
    pub fn as_u64(self) -> Option<u64> {
        number::to_u64(self.number_bytes()?)
    }

    /// The `f64` nearest to a number; `None` if out of range.
    pub fn as_f64(self) -> Option<f64> {
        number::to_f64(self.number_literal()?)
    }

    /// Whether it is mathematically an integer, decided exactly: `1`, `1.0`, `1e2` and
    /// `10000000000000000001` are, `1.5` is not.
    #[inline]
    pub fn is_integer(self) -> bool {
        match self.entry.tag {
            Tag::Integer => true,
            Tag::Decimal => number::is_integer(self.entry.content(self.document.input())),
            _ => false,
        }
    }

    /// Number of members or elements; 0 for everything else. Duplicate members count separately.
    #[inline]
    pub fn len(self) -> usize {
        match self.entry.count() {
            Some(count) => count,
            None if self.is_object() => self.members().count(),
            None => self.elements().count(),
        }
    }

    /// Whether it has neither members nor elements.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.entry.count() == Some(0)
    }

    /// The elements of an array; none for everything else.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        Elements { below: Below::new(self, Tag::Array) }
    }

    /// The members of an object, as name (a string node) and value; none for everything else.
    #[inline]
    pub fn members(self) -> Members<'a> {
        Members { below: Below::new(self, Tag::Object) }
    }

    /// The value of the member with this name. If there are several, the last one wins, as in most
    /// readers.
    #[inline(always)]
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        // Computed here so that it is a constant if the key is a literal.
        self.find(key, Fingerprint::of(key))
    }

    #[inline(never)]
    fn find(self, key: &str, fingerprint: Fingerprint) -> Option<Node<'a>> {
        let mut below = Below::new(self, Tag::Object);
        while let Some((name, value)) = below.next_pair() {
            if name.fingerprint() == fingerprint.0 {
                // The fingerprint matches, so nearly always this is the member.
                let is_plain = !name.is_escaped() && !self.document.has_duplicate_keys();
                let content = name.content(self.document.input());
                if is_plain && same_bytes(content, key.as_bytes()) {
                    return Some(below.node(value));
                }
                return self.find_last(key, fingerprint);
            }
        }
        None
    }

    /// Like [`Node::get`], for objects whose names must be unescaped or may be duplicates.
    #[cold]
    #[inline(never)]
    fn find_last(self, key: &str, fingerprint: Fingerprint) -> Option<Node<'a>> {
        let named = self
            .members()
            .filter(|(name, _)| name.fingerprint() == fingerprint && name.str_eq(key));
        named.last().map(|(_, value)| value)
    }

    /// Whether more than `levels` arrays and objects are nested in each other. Costs nothing if the
    /// text was parsed under that limit.
    pub fn is_deeper_than(self, levels: usize) -> bool {
        if self.document.max_depth() <= levels {
            return false;
        }
        let start = self.index();
        // The ends of the open containers.
        let mut open: Vec<u32> = Vec::new();
        for (index, entry) in (start..).zip(self.document.entries(start, self.entry.past())) {
            while open.last().is_some_and(|end| index >= *end) {
                open.pop();
            }
            if matches!(entry.tag, Tag::Array | Tag::Object) {
                open.push(entry.past());
                if open.len() > levels {
                    return true;
                }
            }
        }
        false
    }

    /// The value that a JSON Pointer (RFC 6901) points to, relative to this one.
    pub fn pointer(self, json_pointer: &str) -> Option<Node<'a>> {
        pointer::resolve(self, json_pointer)
    }

    /// A copy as a `serde_json` value, for cold paths. What that cannot represent is adjusted:
    ///
    /// - integers beyond 64 bits and decimals become the nearest `f64`, and those out of range the
    ///   largest finite one, with their sign;
    /// - of members with the same name, the last one is kept;
    /// - containers nested deeper than 512 levels below this node become `null`, as `serde_json`
    ///   drops values recursively.
    pub fn to_value(self) -> serde_json::Value {
        value::build(self)
    }
}

/// Names and short words are rarely escaped: a separate function, so that the common case is small
/// enough to be inlined.
#[cold]
#[inline(never)]
fn unescape_rarely(content: &[u8]) -> Cow<'_, [u8]> {
    unescape(content)
}

/// `==` without a function call for short texts whose length is unknown at compile time: two
/// overlapping words cover them.
#[inline(always)]
fn same_bytes(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    match left.len() {
        4..8 => {
            left.first_chunk::<4>() == right.first_chunk()
                && left.last_chunk::<4>() == right.last_chunk()
        }
        8..=16 => {
            left.first_chunk::<8>() == right.first_chunk()
                && left.last_chunk::<8>() == right.last_chunk()
        }
        _ => left == right,
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("index", &self.index())
            .field("kind", &self.kind())
            .field("span", &self.span())
            .finish_non_exhaustive()
    }
}

/// The entries inside a container that have not been visited.
#[derive(Debug, Clone)]
struct Below<'a> {
    document: &'a Document<'a>,
    /// The entries of the document up to the end of the container. An entry has the index of the next
    /// one in the document, so a single index is enough to step through them.
    entries: &'a [Entry],
    /// The index of the next one.
    next: u32,
}

impl<'a> Below<'a> {
    /// The entries inside `node`, if it is a `container`; none for everything else.
    #[inline]
    fn new(node: Node<'a>, container: Tag) -> Below<'a> {
        let Node { document, entry } = node;
        if entry.tag != container {
            return Below { document, entries: &[], next: 0 };
        }
        Below { document, entries: document.entries(0, entry.past()), next: node.index() + 1 }
    }

    #[inline]
    fn node(&self, entry: &'a Entry) -> Node<'a> {
        Node::new(self.document, entry)
    }

    /// The next value.
    #[inline]
    fn next_value(&mut self) -> Option<&'a Entry> {
        self.next_at(self.next)
    }

    /// The next member: its name and its value.
    #[inline]
    fn next_pair(&mut self) -> Option<(&'a Entry, &'a Entry)> {
        let name = self.next;
        let value = self.next_at(name + 1)?;
        Some((self.entries.get(name as usize)?, value))
    }

    /// The value at this index; continues after it.
    #[inline]
    fn next_at(&mut self, index: u32) -> Option<&'a Entry> {
        let value = self.entries.get(index as usize)?;
        #[cfg(feature = "testing")]
        crate::testing::count_step();
        self.next = value.past();
        Some(value)
    }
}

/// The elements of an array, see [`Node::elements`].
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    below: Below<'a>,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a>> {
        let element = self.below.next_value()?;
        Some(self.below.node(element))
    }
}

/// The members of an object, see [`Node::members`].
#[derive(Debug, Clone)]
pub struct Members<'a> {
    below: Below<'a>,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Node<'a>, Node<'a>);

    #[inline]
    fn next(&mut self) -> Option<(Node<'a>, Node<'a>)> {
        let (name, value) = self.below.next_pair()?;
        Some((self.below.node(name), self.below.node(value)))
    }
}
