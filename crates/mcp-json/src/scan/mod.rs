//! Finds the end of a string.
//!
//! Most strings are names and short words. Scanning sixty-four bytes finds the ends of all strings
//! that end there; the result is kept in a [`Window`] until the parser has passed them, and this
//! part is inlined into the parser. A string that is longer, or has a backslash, goes to
//! [`long`], and from its first escape on to [`escapes`].
//!
//! All of it is generic over the instructions in use, which [`crate::parser::parse`] chooses. Code
//! that uses them must be inlined into a function that enables them, so what is not part of the
//! parser's loop goes through [`Simd::vectorize`].
#![expect(clippy::inline_always, reason = "part of the loop of the parser")]

mod block;
mod escapes;
mod long;
#[cfg(test)]
mod tests;

use fearless_simd::Simd;

use self::block::Stops;
use crate::error::{SyntaxError, SyntaxErrorKind};

const BLOCK: usize = 64;

/// The end of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StringEnd {
    /// Offset of the closing quote.
    pub(crate) quote: usize,
    /// [`ESCAPED`](crate::entry::ESCAPED) and [`LONE_SURROGATE`](crate::entry::LONE_SURROGATE).
    pub(crate) flags: u8,
}

/// The scan result for one block of the input. Texts are full of short strings, and one scan of a
/// block finds the ends of all of them.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Offset of the block.
    start: usize,
    found: Stops,
}

/// The offset of the quote that ends the string whose content starts at `start`, if that string is
/// short and plain: most are. `start` must increase from call to call.
#[inline(always)]
pub(crate) fn short_string<S: Simd>(
    simd: S,
    input: &[u8],
    start: usize,
    window: &mut Window,
) -> Option<usize> {
    let offset = start - window.start;
    let mut stops = if offset < BLOCK { window.found.stops >> offset } else { 0 };
    if stops == 0 {
        *window = Window { start, found: stops_at(simd, input, start) };
        stops = window.found.stops;
    }
    // Without a stop in the block, the first byte after it decides.
    let stop = start + stops.trailing_zeros() as usize;
    (input.get(stop) == Some(&b'"') && window.found.non_ascii == 0).then_some(stop)
}

/// Scans any string whose content starts at `start`, after [`short_string`] gave up on it.
#[inline(never)]
pub(crate) fn string<S: Simd>(
    simd: S,
    input: &[u8],
    start: usize,
    window: &Window,
) -> Result<StringEnd, SyntaxError> {
    let Window { start: from, found: Stops { stops, non_ascii } } = *window;
    let rest = Stops { stops: stops >> (start - from), non_ascii: non_ascii >> (start - from) };
    if rest.stops == 0 {
        return long::string(simd, input, start, from + BLOCK, rest.non_ascii != 0);
    }
    let (length, non_ascii) = rest.before_first();
    let stop = start + length;
    if input.get(stop) != Some(&b'"') {
        return escapes::string(simd, input, start, start, false);
    }
    if non_ascii {
        check_utf8(input, start, stop)?;
    }
    Ok(StringEnd { quote: stop, flags: 0 })
}

/// The stops in the block at `at`; the end of the input counts as one.
#[inline(always)]
fn stops_at<S: Simd>(simd: S, input: &[u8], at: usize) -> Stops {
    match input.get(at..).unwrap_or_default().first_chunk() {
        Some(bytes) => Stops::of(simd, bytes),
        None => last_stops(simd, input, at),
    }
}

/// The stops at `at`, if less than a block is left.
#[inline(never)]
fn last_stops<S: Simd>(simd: S, input: &[u8], at: usize) -> Stops {
    simd.vectorize(
        #[inline(always)]
        || {
            let rest = input.get(at..).unwrap_or_default();
            if let Some(bytes) = input.last_chunk()
                && !rest.is_empty()
            {
                let Stops { stops, non_ascii } = Stops::of(simd, bytes);
                let before = BLOCK - rest.len();
                let behind = u64::MAX << rest.len();
                return Stops { stops: stops >> before | behind, non_ascii: non_ascii >> before };
            }
            let mut bytes = [0; BLOCK];
            bytes[..rest.len()].copy_from_slice(rest);
            Stops::of(simd, &bytes)
        },
    )
}

/// Called only for strings with a byte that is not ASCII.
#[inline(never)]
fn check_utf8(input: &[u8], start: usize, end: usize) -> Result<(), SyntaxError> {
    match simdutf8::compat::from_utf8(&input[start..end]) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(SyntaxError::new(start + error.valid_up_to(), SyntaxErrorKind::InvalidUtf8))
        }
    }
}
