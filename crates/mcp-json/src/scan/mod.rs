//! Finds the end of a string.
//!
//! Most strings are names and short words. Scanning sixty-four bytes finds the ends of all strings
//! that end there; the result is kept in a [`Window`] until the parser has passed them, and this
//! part is inlined into the parser. A string that is longer, or has a backslash, goes to
//! [`blocks`]. Both use a [`Backend`] to find relevant bytes: `sse2` if the target has it, `swar`
//! otherwise. The rest of a really [`long`] string is left to `memchr`, which detects wider
//! instructions at run time.
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

const BLOCK: usize = 64;

/// Finds relevant bytes: bit n is for byte n.
trait Backend {
    fn stops(bytes: &[u8; BLOCK]) -> Stops;
    /// `Err` if there is a quote, a backslash or a control character; otherwise whether there is a
    /// byte that is not ASCII. Cheaper than [`stops`](Backend::stops) if there is no stop.
    fn plain(bytes: &[u8; BLOCK]) -> Result<bool, Stops>;
    fn block(bytes: &[u8; BLOCK]) -> Block;
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
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
    /// `n` and `t`: the usual escapes besides quote and backslash.
    usual_escapes: u64,
}

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

/// Scans the string whose content starts at `start`, which must increase from call to call.
#[inline(always)]
pub(crate) fn string(
    input: &[u8],
    start: usize,
    window: &mut Window,
) -> Result<StringEnd, SyntaxError> {
    string_with::<Native>(input, start, window)
}

#[inline(always)]
fn string_with<B: Backend>(
    input: &[u8],
    start: usize,
    window: &mut Window,
) -> Result<StringEnd, SyntaxError> {
    let offset = start - window.start;
    if offset >= BLOCK || window.found.stops >> offset == 0 {
        *window = Window { start, found: stops_at::<B>(input, start) };
        if window.found.stops == 0 {
            return blocks::string::<B>(input, start, start + BLOCK, window.found.non_ascii != 0);
        }
    }
    let Window { start: from, found: Stops { stops, non_ascii } } = *window;
    let rest = Stops { stops: stops >> (start - from), non_ascii: non_ascii >> (start - from) };
    let (length, non_ascii) = rest.before_first();
    ended::<B>(input, start, start + length, non_ascii)
}

/// Handles the first stop, at `stop`: the end of the string if it is a quote.
#[inline(always)]
fn ended<B: Backend>(
    input: &[u8],
    start: usize,
    stop: usize,
    non_ascii: bool,
) -> Result<StringEnd, SyntaxError> {
    if input.get(stop) != Some(&b'"') {
        return blocks::string::<B>(input, start, start, false);
    }
    if non_ascii {
        check_utf8(input, start, stop)?;
    }
    Ok(StringEnd { quote: stop, flags: 0 })
}

/// The stops in the block at `at`; the end of the input counts as one.
#[inline(always)]
fn stops_at<B: Backend>(input: &[u8], at: usize) -> Stops {
    match input.get(at..).unwrap_or_default().first_chunk() {
        Some(bytes) => B::stops(bytes),
        None => last_stops::<B>(input, at),
    }
}

#[inline(never)]
fn last_stops<B: Backend>(input: &[u8], at: usize) -> Stops {
    let rest = input.get(at..).unwrap_or_default();
    if let Some(bytes) = input.last_chunk()
        && !rest.is_empty()
    {
        let Stops { stops, non_ascii } = B::stops(bytes);
        let before = BLOCK - rest.len();
        let behind = u64::MAX << rest.len();
        return Stops { stops: stops >> before | behind, non_ascii: non_ascii >> before };
    }
    let mut bytes = [0; BLOCK];
    bytes[..rest.len()].copy_from_slice(rest);
    B::stops(&bytes)
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
