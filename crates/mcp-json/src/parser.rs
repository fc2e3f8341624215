//! The grammar: one pass over the bytes, one entry per value and member name.
//!
//! Open containers are on an explicit stack of frames, so depth costs memory that is limited, never
//! the call stack.
#![expect(
    clippy::inline_always,
    reason = "the parser is one loop: its parts cost more as calls than they do"
)]

use crate::duplicates;
use crate::entry::{Entry, LONE_SURROGATE, Tag, narrow};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::expected::{Expected, NumberFault};
use crate::limits::Limits;
use crate::scan;

/// Offsets and indices take 32 bits.
const MAX_BYTES: usize = u32::MAX as usize - 1;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Irregularities that the parser noticed but that are not errors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Notices {
    pub(crate) duplicate_keys: bool,
    pub(crate) lone_surrogates: bool,
}

/// Buffers that are empty between texts but keep their memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    frames: Vec<Frame>,
    names: duplicates::Names,
}

impl Scratch {
    pub(crate) fn memory(&self) -> usize {
        self.frames.capacity() * size_of::<Frame>() + self.names.memory()
    }
}

/// Parses `input` and appends its entries to those already there. After an error, the caller must
/// truncate what was written.
pub(crate) fn parse(
    input: &[u8],
    limits: Limits,
    entries: &mut Vec<Entry>,
    scratch: &mut Scratch,
) -> Result<Notices, SyntaxError> {
    let limit = limits.max_bytes.min(MAX_BYTES);
    if input.len() > limit {
        let kind = SyntaxErrorKind::TooLong { length: input.len(), limit };
        return Err(SyntaxError::new(limit, kind));
    }
    let Scratch { frames, names } = scratch;
    frames.clear();
    let base = entries.len();
    let mut parser = Parser {
        input,
        max_depth: limits.max_depth,
        entries,
        base,
        frames,
        open: Frame { filter: 0, index: 0, children: 0, close: NO_CONTAINER },
        names,
        notices: Notices::default(),
        window: scan::Window::default(),
    };
    parser.document()?;
    Ok(parser.notices)
}

/// A container whose end has not been seen.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// The fingerprints that the names so far may have.
    filter: duplicates::Filter,
    index: u32,
    children: u32,
    /// The byte that closes it.
    close: u8,
}

/// Value of [`Frame::close`] outside of all containers.
const NO_CONTAINER: u8 = 0;

struct Parser<'t> {
    input: &'t [u8],
    max_depth: usize,
    entries: &'t mut Vec<Entry>,
    /// Index of this text's first entry; indices are relative to it.
    base: usize,
    /// The containers around `open`.
    frames: &'t mut Vec<Frame>,
    open: Frame,
    names: &'t mut duplicates::Names,
    notices: Notices,
    window: scan::Window,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<(), SyntaxError> {
        let mut at = self.skip_whitespace(0);
        loop {
            if self.open.close == b'}' {
                at = self.name(at)?;
            }
            at = match self.byte(at) {
                Some(b'"') => self.string(at)?,
                Some(b'{') => {
                    self.open(at, Tag::Object, b'}')?;
                    at = self.skip_whitespace(at + 1);
                    if self.byte(at) != Some(b'}') {
                        continue;
                    }
                    self.close(at)
                }
                Some(b'[') => {
                    self.open(at, Tag::Array, b']')?;
                    at = self.skip_whitespace(at + 1);
                    if self.byte(at) != Some(b']') {
                        continue;
                    }
                    self.close(at)
                }
                Some(b'-' | b'0'..=b'9') => self.number(at)?,
                Some(b't') => self.literal(at, b"true", Tag::True, Expected::True)?,
                Some(b'f') => self.literal(at, b"false", Tag::False, Expected::False)?,
                Some(b'n') => self.literal(at, b"null", Tag::Null, Expected::Null)?,
                _ => return Err(no_value(self.input, at)),
            };
            match self.next_item(at)? {
                Some(next) => at = next,
                None => return Ok(()),
            }
        }
    }

    /// Moves from the end of a value to the next member or element, closing containers on the way;
    /// `None` at the end of the text.
    #[inline(always)]
    fn next_item(&mut self, mut at: usize) -> Result<Option<usize>, SyntaxError> {
        loop {
            if self.open.close == NO_CONTAINER {
                return self.end(at);
            }
            self.open.children += 1;
            at = self.skip_whitespace(at);
            let byte = self.byte(at);
            if byte == Some(b',') {
                return Ok(Some(self.skip_whitespace(at + 1)));
            }
            if byte != Some(self.open.close) {
                return Err(no_separator(self.input, at, self.open.close));
            }
            at = self.close(at);
        }
    }

    /// Only whitespace may follow the outermost value.
    #[inline(always)]
    fn end(&self, at: usize) -> Result<Option<usize>, SyntaxError> {
        let at = self.skip_whitespace(at);
        if at == self.input.len() {
            return Ok(None);
        }
        Err(SyntaxError::new(at, SyntaxErrorKind::TrailingData))
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> Option<u8> {
        self.input.get(at).copied()
    }

    /// The index of the next entry.
    #[inline(always)]
    fn index(&self) -> u32 {
        narrow(self.entries.len() - self.base)
    }

    #[inline(always)]
    fn skip_whitespace(&self, mut at: usize) -> usize {
        // One comparison handles the common case of no whitespace.
        while let Some(byte) = self.byte(at)
            && byte <= b' '
            && matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
        {
            at += 1;
        }
        at
    }

    #[inline(always)]
    fn push(&mut self, tag: Tag, flags: u8, start: usize, end: usize) {
        let past = self.index() + 1;
        self.entries.push(Entry::new(tag, flags, start..end, past));
    }

    #[inline(always)]
    fn open(&mut self, at: usize, tag: Tag, close: u8) -> Result<(), SyntaxError> {
        // The outermost frame is not a container.
        if self.frames.len() >= self.max_depth {
            let kind = SyntaxErrorKind::TooDeep { limit: self.max_depth };
            return Err(SyntaxError::new(at, kind));
        }
        self.frames.push(self.open);
        self.open = Frame { filter: 0, index: self.index(), children: 0, close };
        self.push(tag, 0, at, at);
        Ok(())
    }

    /// Closes the open container, whose last byte is at `at`; returns the offset after it.
    #[inline(always)]
    fn close(&mut self, at: usize) -> usize {
        let past = self.index();
        let Frame { index, children, .. } = self.open;
        self.entries[self.base + index as usize].close(at + 1, past, children);
        if children > duplicates::MAX_FILTERED && self.open.close == b'}' {
            let entries = &self.entries[self.base..];
            self.notices.duplicate_keys = self.notices.duplicate_keys
                || self.names.have_duplicates(self.input, entries, index);
        }
        if let Some(outer) = self.frames.pop() {
            self.open = outer;
        }
        at + 1
    }

    /// Parses a member name and its colon; returns the offset of the value.
    #[inline(always)]
    fn name(&mut self, at: usize) -> Result<usize, SyntaxError> {
        if self.byte(at) != Some(b'"') {
            return Err(no_name(self.input, at));
        }
        let start = at + 1;
        let end = scan::string(self.input, start, &mut self.window)?;
        self.note_flags(end.flags);
        let fingerprint = duplicates::fingerprint(self.input, start..end.quote, end.flags);
        self.entries.push(Entry::new(Tag::String, end.flags, start..end.quote, fingerprint));
        let known = duplicates::remember(&mut self.open.filter, fingerprint);
        if known && self.open.children < duplicates::MAX_FILTERED {
            let entries = &self.entries[self.base..];
            self.notices.duplicate_keys = self.notices.duplicate_keys
                || duplicates::is_last_repeated(self.input, entries, self.open.index);
        }
        let colon = self.skip_whitespace(end.quote + 1);
        if self.byte(colon) != Some(b':') {
            return Err(unexpected(self.input, colon, Expected::Colon));
        }
        Ok(self.skip_whitespace(colon + 1))
    }

    #[inline(always)]
    fn string(&mut self, at: usize) -> Result<usize, SyntaxError> {
        let end = scan::string(self.input, at + 1, &mut self.window)?;
        self.note_flags(end.flags);
        self.push(Tag::String, end.flags, at + 1, end.quote);
        Ok(end.quote + 1)
    }

    #[inline(always)]
    fn note_flags(&mut self, flags: u8) {
        self.notices.lone_surrogates |= flags & LONE_SURROGATE != 0;
    }

    #[inline(always)]
    fn number(&mut self, start: usize) -> Result<usize, SyntaxError> {
        let mut at = start;
        let mut tag = Tag::Integer;
        if self.byte(at) == Some(b'-') {
            at += 1;
        }
        let first = at;
        at = self.digits(at, NumberFault::NoDigitAfterMinus)?;
        if self.input[first] == b'0' && at > first + 1 {
            let kind = SyntaxErrorKind::InvalidNumber { fault: NumberFault::LeadingZero };
            return Err(SyntaxError::new(first, kind));
        }
        if self.byte(at) == Some(b'.') {
            tag = Tag::Decimal;
            at = self.digits(at + 1, NumberFault::NoDigitAfterPoint)?;
        }
        if let Some(b'e' | b'E') = self.byte(at) {
            tag = Tag::Decimal;
            at += 1;
            if let Some(b'+' | b'-') = self.byte(at) {
                at += 1;
            }
            at = self.digits(at, NumberFault::NoDigitInExponent)?;
        }
        self.push(tag, 0, start, at);
        Ok(at)
    }

    /// Skips one or more digits; returns the offset after them.
    #[inline(always)]
    fn digits(&self, start: usize, fault: NumberFault) -> Result<usize, SyntaxError> {
        let mut at = start;
        while let Some(b'0'..=b'9') = self.byte(at) {
            at += 1;
        }
        if at > start {
            return Ok(at);
        }
        Err(if at < self.input.len() {
            SyntaxError::new(at, SyntaxErrorKind::InvalidNumber { fault })
        } else {
            unexpected(self.input, at, Expected::Digit)
        })
    }

    #[inline(always)]
    fn literal(
        &mut self,
        at: usize,
        word: &[u8],
        tag: Tag,
        expected: Expected,
    ) -> Result<usize, SyntaxError> {
        if !self.input[at..].starts_with(word) {
            return Err(misspelt(self.input, at, word, expected));
        }
        self.push(tag, 0, at, at + word.len());
        Ok(at + word.len())
    }
}

// The functions below take only the input: a parser that is not borrowed can live in registers.

#[cold]
fn unexpected(input: &[u8], at: usize, expected: Expected) -> SyntaxError {
    SyntaxError::unexpected(input, at, expected)
}

#[cold]
fn misspelt(input: &[u8], at: usize, word: &[u8], expected: Expected) -> SyntaxError {
    let same = input[at..].iter().zip(word).take_while(|(a, b)| a == b).count();
    unexpected(input, at + same, expected)
}

#[cold]
fn no_separator(input: &[u8], at: usize, close: u8) -> SyntaxError {
    let is_object = close == b'}';
    unexpected(
        input,
        at,
        if is_object { Expected::CommaOrObjectEnd } else { Expected::CommaOrArrayEnd },
    )
}

/// The error if no member name starts at `at`.
#[cold]
fn no_name(input: &[u8], at: usize) -> SyntaxError {
    let expected = match before(input, at) {
        Some(b',') => Expected::NameAfterComma,
        _ => Expected::NameOrObjectEnd,
    };
    unexpected(input, at, expected)
}

/// The error if no value starts at `at`; what was expected depends on what precedes it.
#[cold]
fn no_value(input: &[u8], at: usize) -> SyntaxError {
    let expected = match before(input, at) {
        Some(b'[') => Expected::ValueOrArrayEnd,
        Some(b',') => Expected::ValueAfterComma,
        Some(b':') => Expected::ValueAfterColon,
        _ if at == input.len() => return SyntaxError::new(0, SyntaxErrorKind::Empty),
        _ if input.starts_with(BYTE_ORDER_MARK) => {
            return SyntaxError::new(0, SyntaxErrorKind::ByteOrderMark);
        }
        _ => Expected::Value,
    };
    unexpected(input, at, expected)
}

/// The last byte before `at` that is not whitespace.
fn before(input: &[u8], at: usize) -> Option<u8> {
    input[..at].iter().rfind(|byte| !byte.is_ascii_whitespace()).copied()
}
