//! Bit masks of a block of sixty-four bytes: bit n describes byte n.

use fearless_simd::{Bytes, Simd, i8x64, mask8x64, prelude::*, u8x64};

use super::BLOCK;

/// The masks for finding the end of a string.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Stops {
    /// Quotes, backslashes, control characters.
    pub(super) stops: u64,
    pub(super) non_ascii: u64,
}

impl Stops {
    #[inline(always)]
    pub(super) fn of<S: Simd>(simd: S, bytes: &[u8; BLOCK]) -> Stops {
        let bytes = load(simd, bytes);
        Stops { stops: stops(bytes).to_bitmask(), non_ascii: non_ascii(bytes) }
    }

    /// Number of bytes before the first stop, and whether one of them is not ASCII.
    #[inline(always)]
    pub(super) fn before_first(&self) -> (usize, bool) {
        let below = !self.stops & self.stops.wrapping_sub(1);
        (self.stops.trailing_zeros() as usize, self.non_ascii & below != 0)
    }
}

/// The masks for finding and checking escapes.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    pub(super) quotes: u64,
    pub(super) backslashes: u64,
    pub(super) controls: u64,
    pub(super) non_ascii: u64,
    /// `n` and `t`: the usual escapes besides quote and backslash.
    pub(super) usual_escapes: u64,
}

impl Block {
    #[inline(always)]
    pub(super) fn of<S: Simd>(simd: S, bytes: &[u8; BLOCK]) -> Block {
        let bytes = load(simd, bytes);
        Block {
            quotes: bytes.simd_eq(b'"').to_bitmask(),
            backslashes: bytes.simd_eq(b'\\').to_bitmask(),
            controls: at_most(bytes, 0x1F).to_bitmask(),
            non_ascii: non_ascii(bytes),
            usual_escapes: (bytes.simd_eq(b'n') | bytes.simd_eq(b't')).to_bitmask(),
        }
    }
}

/// Whether there is a byte that is not ASCII; `None` if there is a quote, a backslash or a control
/// character. Cheaper than [`Stops::of`] for many blocks.
#[inline(always)]
pub(super) fn plain<S: Simd, const N: usize>(simd: S, blocks: &[[u8; BLOCK]; N]) -> Option<bool> {
    let zero = u8x64::splat(simd, 0);
    // The minimum of each column shows whether any byte is too small.
    let mut smallest = u8x64::splat(simd, u8::MAX);
    let (mut backslashes, mut all) = (zero.simd_eq(1), zero);
    for block in blocks {
        let bytes = load(simd, block);
        smallest = smallest.min(quotes_sink(bytes));
        backslashes |= bytes.simd_eq(b'\\');
        all |= bytes;
    }
    if (at_most(smallest, 0x20) | backslashes).any_true() {
        return None;
    }
    Some(non_ascii(all) != 0)
}

#[inline(always)]
fn load<S: Simd>(simd: S, bytes: &[u8; BLOCK]) -> u8x64<S> {
    u8x64::from_slice(simd, bytes)
}

#[inline(always)]
fn stops<S: Simd>(bytes: u8x64<S>) -> mask8x64<S> {
    at_most(quotes_sink(bytes), 0x20) | bytes.simd_eq(b'\\')
}

/// Flips a bit that turns a quote into 0x20 and a space into something larger, and maps control
/// characters to control characters: then one comparison finds quotes and control characters.
#[inline(always)]
fn quotes_sink<S: Simd>(bytes: u8x64<S>) -> u8x64<S> {
    bytes ^ 0x02
}

/// The minimum is in every instruction set, a comparison of unsigned bytes is not.
#[inline(always)]
fn at_most<S: Simd>(bytes: u8x64<S>, limit: u8) -> mask8x64<S> {
    bytes.min(limit).simd_eq(bytes)
}

/// The top bit of each byte.
#[inline(always)]
fn non_ascii<S: Simd>(bytes: u8x64<S>) -> u64 {
    bytes.bitcast::<i8x64<S>>().simd_lt(0).to_bitmask()
}
