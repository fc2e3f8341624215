//! Finding the end of a string.
//!
//! Most strings are names and short words, so the first look takes sixteen bytes at once and is
//! inlined into the parser. Everything longer, or with a backslash, goes to [`blocks`], which
//! takes sixty-four bytes at a time. Both ask a [`Backend`] which bytes are of interest: `sse2`
//! where the target has it, `swar` everywhere else. The rest of a really [`long`] string is left to
//! `memchr`, which looks for wider instructions when it runs.
#![expect(clippy::inline_always, reason = "part of the loop of the parser")]

mod blocks;
mod long;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod swar;
#[cfg(test)]
mod tests;

use crate::error::{SyntaxError, SyntaxErrorKind};

#[cfg(target_arch = "x86_64")]
type Native = sse2::Sse2;
#[cfg(not(target_arch = "x86_64"))]
type Native = swar::Swar;

const SHORT: usize = 16;
const BLOCK: usize = 64;

/// Where interesting bytes are: bit n stands for byte n.
trait Backend {
    fn short(bytes: &[u8; SHORT]) -> Stops;
    /// `Err` if there is a quote, a backslash or a control character; else whether there is a
    /// byte that is not ASCII.
    fn plain(bytes: &[u8; BLOCK]) -> Result<bool, Stops>;
    fn block(bytes: &[u8; BLOCK]) -> Block;
}

#[derive(Debug, PartialEq)]
struct Stops {
    /// Quotes, backslashes, control characters.
    stops: u64,
    non_ascii: u64,
}

impl Stops {
    /// Number of bytes before the first stop, and whether one of them is not ASCII.
    #[inline(always)]
    fn before_first(&self) -> (usize, bool) {
        let below = !self.stops & self.stops.wrapping_sub(1);
        (self.stops.trailing_zeros() as usize, self.non_ascii & below != 0)
    }
}

#[derive(Debug, PartialEq)]
struct Block {
    quotes: u64,
    backslashes: u64,
    controls: u64,
    non_ascii: u64,
    /// `n` and `t`: besides quote and backslash the usual ones behind a backslash.
    usual_escapes: u64,
}

/// A string that was read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StringEnd {
    /// Offset of the closing quote.
    pub(crate) quote: usize,
    /// [`ESCAPED`](crate::entry::ESCAPED) and [`LONE_SURROGATE`](crate::entry::LONE_SURROGATE).
    pub(crate) flags: u8,
}

/// Reads the string whose first byte behind the opening quote is at `start`.
#[inline(always)]
pub(crate) fn string(input: &[u8], start: usize) -> Result<StringEnd, SyntaxError> {
    string_with::<Native>(input, start)
}

#[inline(always)]
fn string_with<B: Backend>(input: &[u8], start: usize) -> Result<StringEnd, SyntaxError> {
    match input[start..].first_chunk() {
        Some(bytes) => from_short::<B>(input, start, &B::short(bytes)),
        None => near_end::<B>(input, start),
    }
}

/// Fewer than sixteen bytes are left: looks at the last sixteen and forgets those before `start`.
#[inline(never)]
fn near_end<B: Backend>(input: &[u8], start: usize) -> Result<StringEnd, SyntaxError> {
    let Some(bytes) = input.last_chunk() else {
        return blocks::string::<B>(input, start);
    };
    let Stops { stops, non_ascii } = B::short(bytes);
    let before = start + SHORT - input.len();
    let stops = Stops { stops: stops >> before, non_ascii: non_ascii >> before };
    from_short::<B>(input, start, &stops)
}

#[inline(always)]
fn from_short<B: Backend>(
    input: &[u8],
    start: usize,
    short: &Stops,
) -> Result<StringEnd, SyntaxError> {
    let (length, non_ascii) = short.before_first();
    let quote = start + length;
    if short.stops == 0 || input[quote] != b'"' {
        return blocks::string::<B>(input, start);
    }
    if non_ascii {
        check_utf8(input, start, quote)?;
    }
    Ok(StringEnd { quote, flags: 0 })
}

/// Only strings with a byte that is not ASCII come here.
#[inline(never)]
fn check_utf8(input: &[u8], start: usize, end: usize) -> Result<(), SyntaxError> {
    match simdutf8::compat::from_utf8(&input[start..end]) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(SyntaxError::new(start + error.valid_up_to(), SyntaxErrorKind::InvalidUtf8))
        }
    }
}
