//! Scans strings with escapes, sixty-four bytes at a time.
//!
//! Escaped bytes are found by arithmetic on the whole block, with a carry into the next one, so a
//! text full of `\n` and `\"` costs per block and not per escape.

use fearless_simd::Simd;

use crate::entry::{ESCAPED, LONE_SURROGATE};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::escape::{Unicode, unicode_escape};
use crate::expected::{Expected, Found};

use super::block::Block;
use super::{BLOCK, StringEnd, check_utf8, long};

/// Escapes come in clusters. A branch on whether a block has any would be mispredicted half of the
/// time, so all blocks take the full arithmetic until this many in a row had none.
const CALM: u32 = 4;

/// Continues at `at`, where a backslash, a control character or the end is within a block.
#[inline(never)]
pub(super) fn string<S: Simd>(
    simd: S,
    input: &[u8],
    start: usize,
    mut at: usize,
    mut non_ascii: bool,
) -> Result<StringEnd, SyntaxError> {
    simd.vectorize(
        #[inline(always)]
        || {
            let mut calm = 0;
            let mut state = Escapes::default();
            loop {
                if calm >= CALM {
                    (at, non_ascii) = long::skip_plain::<S, 1>(simd, input, at, non_ascii);
                }
                let block = match input[at..].first_chunk() {
                    Some(bytes) => Block::of(simd, bytes),
                    None => last_block(simd, input, at),
                };
                let escaped = state.escaped(block.backslashes);
                let stops = block.quotes & !escaped | block.controls;
                let below = !stops & stops.wrapping_sub(1);
                state.seen |= block.backslashes & below != 0;
                non_ascii |= block.non_ascii & below != 0;
                let usual = block.quotes | block.backslashes | block.usual_escapes;
                state.check(input, at, escaped & below & !usual)?;
                if stops != 0 {
                    let stop = at + stops.trailing_zeros() as usize;
                    let is_escaped = escaped & stops & stops.wrapping_neg() != 0;
                    return finish(input, start, stop, is_escaped, non_ascii, &state);
                }
                calm = if block.backslashes == 0 { calm + 1 } else { 0 };
                at += BLOCK;
            }
        },
    )
}

/// The block at `at`, if less than a block is left. Bytes past the end count as control characters,
/// so the scan stops there at the latest.
#[inline(never)]
fn last_block<S: Simd>(simd: S, input: &[u8], at: usize) -> Block {
    simd.vectorize(
        #[inline(always)]
        || {
            let rest = &input[at..];
            let behind = u64::MAX << rest.len();
            let mut bytes = [b' '; BLOCK];
            bytes[..rest.len()].copy_from_slice(rest);
            let block = Block::of(simd, &bytes);
            Block { controls: block.controls | behind, ..block }
        },
    )
}

/// State of the string's escapes.
#[derive(Default)]
struct Escapes {
    /// 1 if the last block ended in a backslash that escapes the next block's first byte.
    carry: u64,
    seen: bool,
    lone_surrogate: bool,
    /// Offset past the last escape that was checked: the second half of a surrogate pair is checked
    /// with the first.
    done: usize,
}

impl Escapes {
    /// The bytes after an escaping backslash.
    ///
    /// In a run of backslashes every second one is itself escaped. Runs that start at an odd bit
    /// are distinguished from those that start at an even one by adding their starts to the mask:
    /// the carry ends just after the run, and its parity against the alternating pattern gives the
    /// answer.
    #[inline(always)]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let backslashes = backslashes & !self.carry;
        let follows = backslashes << 1 | self.carry;
        let odd_starts = backslashes & !EVEN & !follows;
        let (ends, overflow) = odd_starts.overflowing_add(backslashes);
        self.carry = u64::from(overflow);
        (EVEN ^ ends << 1) & follows
    }

    /// Checks the escaped bytes, given as bits relative to `at`, that are not among the usual ones.
    #[inline(always)]
    fn check(&mut self, input: &[u8], at: usize, mut escaped: u64) -> Result<(), SyntaxError> {
        while escaped != 0 {
            self.check_one(input, at + escaped.trailing_zeros() as usize)?;
            escaped &= escaped - 1;
        }
        Ok(())
    }

    /// Checks the escape whose backslash is before `at`.
    fn check_one(&mut self, input: &[u8], at: usize) -> Result<(), SyntaxError> {
        match input[at] {
            b'/' | b'b' | b'f' | b'r' => Ok(()),
            b'u' if at < self.done => Ok(()),
            b'u' => {
                let digits = &input[at + 1..];
                let Some((unicode, length)) = unicode_escape(digits) else {
                    return Err(incomplete(input, at));
                };
                self.lone_surrogate |= unicode == Unicode::LoneSurrogate;
                self.done = at + 1 + length;
                Ok(())
            }
            _ => Err(invalid(input, at)),
        }
    }
}

/// Handles the end of the scan at `stop`: a closing quote, an invalid byte, or the end of input.
#[inline(always)]
fn finish(
    input: &[u8],
    start: usize,
    stop: usize,
    is_escaped: bool,
    non_ascii: bool,
    escapes: &Escapes,
) -> Result<StringEnd, SyntaxError> {
    match input.get(stop) {
        Some(b'"') => {}
        Some(_) if is_escaped => return Err(invalid(input, stop)),
        Some(byte) => {
            return Err(SyntaxError::new(stop, SyntaxErrorKind::ControlCharacter { byte: *byte }));
        }
        None => {
            return Err(SyntaxError::unexpected(input, input.len(), Expected::ClosingQuote));
        }
    }
    if non_ascii {
        check_utf8(input, start, stop)?;
    }
    let mut flags = 0;
    if escapes.seen {
        flags |= ESCAPED;
    }
    if escapes.lone_surrogate {
        flags |= LONE_SURROGATE;
    }
    Ok(StringEnd { quote: stop, flags })
}

/// The error for a backslash before `at` that does not start an escape.
#[cold]
fn invalid(input: &[u8], at: usize) -> SyntaxError {
    let found = Found::at(input, at);
    SyntaxError::new(at - 1, SyntaxErrorKind::InvalidEscape { found })
}

/// The error for a `\u`, with the `u` at `at`, that lacks digits: maybe only because the input
/// ends.
#[cold]
fn incomplete(input: &[u8], at: usize) -> SyntaxError {
    let digits = &input[at + 1..];
    if digits.len() < 4 && digits.iter().all(u8::is_ascii_hexdigit) {
        return SyntaxError::unexpected(input, input.len(), Expected::ClosingQuote);
    }
    invalid(input, at)
}
