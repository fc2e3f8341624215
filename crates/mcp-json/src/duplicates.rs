//! Member names that occur twice in one object.
//!
//! RFC 8259 allows them and leaves their meaning open, so two readers may see two different
//! messages in one text. The parser therefore detects them while parsing. Each open object has a
//! 64-bit [`Filter`]; a name whose bit is already set is compared with the earlier names of its
//! object. In objects with many names the filter fills up and becomes useless, so they are checked
//! once when they close.
#![expect(clippy::inline_always, reason = "part of the loop of the parser")]

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::document::Document;
use crate::entry::{Entry, narrow};
use crate::escape::unescape;
use crate::node::Node;
use crate::span::Span;

/// A member whose name already occurs in the same object.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DuplicateKey<'a> {
    /// The object with both members.
    pub object: Node<'a>,
    /// The name, unescaped.
    pub name: Cow<'a, str>,
    /// The first occurrence of the name, with its quotes.
    pub first: Span,
    /// The repeated occurrence of the name, with its quotes.
    pub again: Span,
}

/// A bit set of the top six bits of fingerprints.
pub(crate) type Filter = u64;

/// Objects with more members do not use the filter but are checked when they close.
pub(crate) const MAX_FILTERED: u32 = 32;

/// A cheap hash of the text of a name without escapes. Equal names have equal fingerprints, however
/// they are escaped.
///
/// It uses the length and the last eight bytes before the closing quote. For shorter names these
/// include the opening quote, and anything before it is shifted out: one load, no branch.
#[inline(always)]
pub(crate) fn fingerprint(input: &[u8], name: Range<usize>) -> u32 {
    let Some(bytes) = input[..name.end].last_chunk() else {
        return slow_fingerprint(&input[name]);
    };
    let taken = (name.end - name.start + 1).min(8);
    mix(u64::from_le_bytes(*bytes) >> (64 - 8 * taken), name.end - name.start)
}

/// The same for names that contain escapes or are within the first few bytes of the input.
#[cold]
#[inline(never)]
pub(crate) fn slow_fingerprint(content: &[u8]) -> u32 {
    fingerprint_of(&unescape(content))
}

/// The fingerprint of a name whose unescaped text is `text`.
#[inline]
pub(crate) const fn fingerprint_of(text: &[u8]) -> u32 {
    let mut word = 0;
    let mut taken = 0;
    while taken < 8 && taken <= text.len() {
        let byte = if taken < text.len() { text[text.len() - 1 - taken] } else { b'"' };
        word = word << 8 | byte as u64;
        taken += 1;
    }
    mix(word, text.len())
}

#[inline(always)]
const fn mix(word: u64, length: usize) -> u32 {
    let mixed = (word ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as u32
}

/// Adds a fingerprint; returns whether its bit was already set.
#[inline(always)]
pub(crate) fn remember(filter: &mut Filter, fingerprint: u32) -> bool {
    let bit = 1 << (fingerprint >> 26);
    let known = *filter & bit != 0;
    *filter |= bit;
    known
}

/// Whether the last entry, a name in the open object at `object`, repeats an earlier name of it.
#[cold]
#[inline(never)]
pub(crate) fn is_last_repeated(input: &[u8], entries: &[Entry], object: u32) -> bool {
    let Some((last, earlier)) = entries.split_last() else {
        return false;
    };
    names(earlier, object, narrow(earlier.len())).any(|index| {
        let name = &entries[index as usize];
        name.fingerprint() == last.fingerprint() && same_text(input, name, last)
    })
}

/// The indices of the names of an object, up to but not including the index `past`.
fn names(entries: &[Entry], object: u32, past: u32) -> impl Iterator<Item = u32> {
    let mut next = object + 1;
    std::iter::from_fn(move || {
        let name = next;
        if name >= past {
            return None;
        }
        next = entries[name as usize + 1].past();
        Some(name)
    })
}

fn same_text(input: &[u8], a: &Entry, b: &Entry) -> bool {
    if a.is_escaped() || b.is_escaped() {
        return unescape(a.content(input)) == unescape(b.content(input));
    }
    a.content(input) == b.content(input)
}

/// Buffer for sorting the names of a large object.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Fingerprint and index.
    sorted: Vec<(u32, u32)>,
}

impl Names {
    pub(crate) fn memory(&self) -> usize {
        self.sorted.capacity() * size_of::<(u32, u32)>()
    }

    /// Whether a closed object has duplicate names. Takes n log n for n names, whatever they are.
    #[cold]
    #[inline(never)]
    pub(crate) fn have_duplicates(&mut self, input: &[u8], entries: &[Entry], object: u32) -> bool {
        let past = entries[object as usize].past();
        self.sorted.clear();
        self.sorted.extend(
            names(entries, object, past)
                .map(|index| (entries[index as usize].fingerprint(), index)),
        );
        self.sorted.sort_unstable();
        self.sorted.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1).any(|alike| {
            // A peer may choose names with equal fingerprints, so they are not compared pairwise.
            let mut seen = HashSet::with_capacity(alike.len());
            alike.iter().any(|(_, index)| {
                let entry = &entries[*index as usize];
                !seen.insert(unescape(entry.content(input)))
            })
        })
    }
}

/// All duplicates of a document, by object and then in document order.
pub(crate) fn in_document<'a>(
    document: &'a Document<'a>,
) -> impl Iterator<Item = DuplicateKey<'a>> {
    let objects = if document.has_duplicate_keys() { document.len() } else { 0 };
    (0..objects)
        .map(|index| document.node(index))
        .filter(|node| node.is_object())
        .flat_map(in_object)
}

fn in_object(object: Node<'_>) -> Vec<DuplicateKey<'_>> {
    let mut first = HashMap::with_capacity(object.len());
    let mut found = Vec::new();
    for (key, _) in object.members() {
        let Some(name) = key.as_str() else { continue };
        match first.get(&name) {
            Some(first) => {
                found.push(DuplicateKey { object, name, first: *first, again: key.span() });
            }
            None => {
                first.insert(name, key.span());
            }
        }
    }
    found
}
