//! The grammar: one pass over the bytes, one entry per value and member name.
//!
//! Open containers are on an explicit stack of frames, so depth costs memory that is limited, never
//! the call stack.
#![expect(
    clippy::inline_always,
    reason = "the parser is one loop: its parts cost more as calls than they do"
)]

use fearless_simd::{Level, Simd, dispatch};

use crate::duplicates;
use crate::entry::{ESCAPED, Entry, LONE_SURROGATE, Tag, narrow};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::expected::{Expected, NumberFault};
use crate::limits::Limits;
use crate::scan::{self, StringEnd};

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
    scratch.frames.clear();
    dispatch!(Level::new(), simd => parse_with(simd, input, limits, entries, scratch))
        .map_err(|Failure(error)| *error)
}

/// Boxed, so that results of the parts of the parser fit in registers.
struct Failure(Box<SyntaxError>);

impl From<SyntaxError> for Failure {
    fn from(error: SyntaxError) -> Failure {
        Failure(Box::new(error))
    }
}

/// Parses with the widest instructions of this machine.
#[inline(always)]
fn parse_with<S: Simd>(
    simd: S,
    input: &[u8],
    limits: Limits,
    entries: &mut Vec<Entry>,
    Scratch { frames, names }: &mut Scratch,
) -> Result<Notices, Failure> {
    let base = entries.len();
    let mut parser = Parser {
        simd,
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

struct Parser<'t, S> {
    simd: S,
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

impl<S: Simd> Parser<'_, S> {
    #[inline(always)]
    fn document(&mut self) -> Result<(), Failure> {
        let mut next = self.token(0);
        loop {
            if self.open.close == b'}' {
                next = self.name(next)?;
            }
            let (at, byte) = next;
            let end = match byte {
                b'"' => self.string(at)?,
                b'{' => {
                    self.open(at, Tag::Object, b'}')?;
                    next = self.token(at + 1);
                    if next.1 != b'}' {
                        continue;
                    }
                    self.close(next.0)
                }
                b'[' => {
                    self.open(at, Tag::Array, b']')?;
                    next = self.token(at + 1);
                    if next.1 != b']' {
                        continue;
                    }
                    self.close(next.0)
                }
                b'-' | b'0'..=b'9' => self.number(at)?,
                b't' => self.literal(at, b"true", Tag::True, Expected::True)?,
                b'f' => self.literal(at, b"false", Tag::False, Expected::False)?,
                b'n' => self.literal(at, b"null", Tag::Null, Expected::Null)?,
                _ => return Err(no_value(self.input, at)),
            };
            match self.next_item(end)? {
                Some(item) => next = item,
                None => return Ok(()),
            }
        }
    }

    /// Moves from the end of a value to the next member or element, closing containers on the way;
    /// `None` at the end of the text.
    #[inline(always)]
    fn next_item(&mut self, mut at: usize) -> Result<Option<(usize, u8)>, Failure> {
        loop {
            self.open.children += 1;
            let (after, byte) = self.token(at);
            if byte == b',' && self.open.close != NO_CONTAINER {
                return Ok(Some(self.token(after + 1)));
            }
            if self.open.close == NO_CONTAINER {
                return self.end(after);
            }
            if byte != self.open.close {
                return Err(no_separator(self.input, after, self.open.close));
            }
            at = self.close(after);
        }
    }

    /// Nothing may follow the outermost value.
    #[inline(always)]
    fn end<T>(&self, at: usize) -> Result<Option<T>, Failure> {
        if at == self.input.len() {
            return Ok(None);
        }
        Err(fail(at, SyntaxErrorKind::TrailingData))
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> Option<u8> {
        self.input.get(at).copied()
    }

    /// The first byte at or after `at` that is not whitespace, after its offset. At the end of the
    /// text it is a NUL, which no rule of the grammar accepts.
    #[inline(always)]
    fn token(&self, mut at: usize) -> (usize, u8) {
        loop {
            let byte = self.byte(at).unwrap_or(0);
            // One comparison handles the common case of no whitespace.
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return (at, byte);
            }
            at += 1;
        }
    }

    /// The index of the next entry.
    #[inline(always)]
    fn index(&self) -> u32 {
        narrow(self.entries.len() - self.base)
    }

    #[inline(always)]
    fn push(&mut self, tag: Tag, flags: u8, start: usize, end: usize) {
        let past = self.index() + 1;
        self.entries.push(Entry::new(tag, flags, start..end, past));
    }

    #[inline(always)]
    fn open(&mut self, at: usize, tag: Tag, close: u8) -> Result<(), Failure> {
        // The outermost frame is not a container.
        if self.frames.len() >= self.max_depth {
            let kind = SyntaxErrorKind::TooDeep { limit: self.max_depth };
            return Err(fail(at, kind));
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

    /// Parses a member name, which begins with the given token, and its colon; returns the first
    /// token of the value.
    #[inline(always)]
    fn name(&mut self, (at, byte): (usize, u8)) -> Result<(usize, u8), Failure> {
        if byte != b'"' {
            return Err(no_name(self.input, at));
        }
        let start = at + 1;
        let (quote, fingerprint) =
            match scan::short_string(self.simd, self.input, start, &mut self.window) {
                Some(quote) => {
                    let fingerprint = duplicates::fingerprint(self.input, start..quote);
                    self.entries.push(Entry::new(Tag::String, 0, start..quote, fingerprint));
                    (quote, fingerprint)
                }
                None => self.long_name(start)?,
            };
        let known = duplicates::remember(&mut self.open.filter, fingerprint);
        if known && self.open.children < duplicates::MAX_FILTERED {
            let entries = &self.entries[self.base..];
            self.notices.duplicate_keys = self.notices.duplicate_keys
                || duplicates::is_last_repeated(self.input, entries, self.open.index);
        }
        let (colon, byte) = self.token(quote + 1);
        if byte != b':' {
            return Err(unexpected(self.input, colon, Expected::Colon));
        }
        Ok(self.token(colon + 1))
    }

    /// Parses a name that is not short and plain; returns its end and its fingerprint.
    #[inline(never)]
    fn long_name(&mut self, start: usize) -> Result<(usize, u32), Failure> {
        let StringEnd { quote, flags } = self.any_string(start)?;
        let fingerprint = match flags & ESCAPED {
            0 => duplicates::fingerprint(self.input, start..quote),
            _ => duplicates::slow_fingerprint(&self.input[start..quote]),
        };
        self.entries.push(Entry::new(Tag::String, flags, start..quote, fingerprint));
        Ok((quote, fingerprint))
    }

    #[inline(always)]
    fn string(&mut self, at: usize) -> Result<usize, Failure> {
        let start = at + 1;
        match scan::short_string(self.simd, self.input, start, &mut self.window) {
            Some(quote) => {
                self.push(Tag::String, 0, start, quote);
                Ok(quote + 1)
            }
            None => self.long_string(start),
        }
    }

    /// Parses a string that is not short and plain; returns the offset after it.
    #[inline(never)]
    fn long_string(&mut self, start: usize) -> Result<usize, Failure> {
        let StringEnd { quote, flags } = self.any_string(start)?;
        self.push(Tag::String, flags, start, quote);
        Ok(quote + 1)
    }

    fn any_string(&mut self, start: usize) -> Result<StringEnd, Failure> {
        let end = scan::string(self.simd, self.input, start, &self.window)?;
        self.notices.lone_surrogates |= end.flags & LONE_SURROGATE != 0;
        Ok(end)
    }

    #[inline(always)]
    fn number(&mut self, start: usize) -> Result<usize, Failure> {
        let mut at = start;
        let mut tag = Tag::Integer;
        if self.byte(at) == Some(b'-') {
            at += 1;
        }
        let first = at;
        at = self.digits(at, NumberFault::NoDigitAfterMinus)?;
        if self.input[first] == b'0' && at > first + 1 {
            let kind = SyntaxErrorKind::InvalidNumber { fault: NumberFault::LeadingZero };
            return Err(fail(first, kind));
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
    fn digits(&self, start: usize, fault: NumberFault) -> Result<usize, Failure> {
        let mut at = start;
        while let Some(b'0'..=b'9') = self.byte(at) {
            at += 1;
        }
        if at > start {
            return Ok(at);
        }
        Err(if at < self.input.len() {
            fail(at, SyntaxErrorKind::InvalidNumber { fault })
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
    ) -> Result<usize, Failure> {
        if !self.input[at..].starts_with(word) {
            return Err(misspelt(self.input, at, word, expected));
        }
        self.push(tag, 0, at, at + word.len());
        Ok(at + word.len())
    }
}

// The functions below take only the input: a parser that is not borrowed can live in registers.

#[cold]
fn fail(at: usize, kind: SyntaxErrorKind) -> Failure {
    SyntaxError::new(at, kind).into()
}

#[cold]
fn unexpected(input: &[u8], at: usize, expected: Expected) -> Failure {
    SyntaxError::unexpected(input, at, expected).into()
}

#[cold]
fn misspelt(input: &[u8], at: usize, word: &[u8], expected: Expected) -> Failure {
    let same = input[at..].iter().zip(word).take_while(|(a, b)| a == b).count();
    unexpected(input, at + same, expected)
}

#[cold]
fn no_separator(input: &[u8], at: usize, close: u8) -> Failure {
    let is_object = close == b'}';
    unexpected(
        input,
        at,
        if is_object { Expected::CommaOrObjectEnd } else { Expected::CommaOrArrayEnd },
    )
}

/// The error if no member name starts at `at`.
#[cold]
fn no_name(input: &[u8], at: usize) -> Failure {
    let expected = match before(input, at) {
        Some(b',') => Expected::NameAfterComma,
        _ => Expected::NameOrObjectEnd,
    };
    unexpected(input, at, expected)
}

/// The error if no value starts at `at`; what was expected depends on what precedes it.
#[cold]
fn no_value(input: &[u8], at: usize) -> Failure {
    let expected = match before(input, at) {
        Some(b'[') => Expected::ValueOrArrayEnd,
        Some(b',') => Expected::ValueAfterComma,
        Some(b':') => Expected::ValueAfterColon,
        _ if at == input.len() => return fail(0, SyntaxErrorKind::Empty),
        _ if input.starts_with(BYTE_ORDER_MARK) => {
            return fail(0, SyntaxErrorKind::ByteOrderMark);
        }
        _ => Expected::Value,
    };
    unexpected(input, at, expected)
}

/// The last byte before `at` that is not whitespace.
fn before(input: &[u8], at: usize) -> Option<u8> {
    input[..at].iter().rfind(|byte| !byte.is_ascii_whitespace()).copied()
}
