//! Eight bytes per word with plain integer arithmetic, for targets without SSE2.

use super::{BLOCK, Backend, Block, Stops};

pub(super) struct Swar;

impl Backend for Swar {
    #[inline(always)]
    fn stops(bytes: &[u8; BLOCK]) -> Stops {
        both(&words::<BLOCK, 8>(bytes))
    }

    #[inline(always)]
    fn block(bytes: &[u8; BLOCK]) -> Block {
        let words = words::<BLOCK, 8>(bytes);
        Block {
            quotes: join(&words, |word| equal(word, b'"')),
            backslashes: join(&words, |word| equal(word, b'\\')),
            controls: join(&words, controls),
            non_ascii: join(&words, non_ascii),
            usual_escapes: join(&words, |word| equal(word, b'n') | equal(word, b't')),
        }
    }

    #[inline(always)]
    fn plain(bytes: &[u8; BLOCK]) -> Result<bool, Stops> {
        let words = words::<BLOCK, 8>(bytes);
        if words.iter().fold(0, |all, word| all | stops(*word)) != 0 {
            return Err(both(&words));
        }
        Ok(words.iter().fold(0, |all, word| all | non_ascii(*word)) != 0)
    }
}

#[inline(always)]
fn both(words: &[u64]) -> Stops {
    Stops { stops: join(words, stops), non_ascii: join(words, non_ascii) }
}

const TOPS: u64 = 0x8080_8080_8080_8080;
const ONES: u64 = 0x0101_0101_0101_0101;

#[inline(always)]
fn words<const BYTES: usize, const WORDS: usize>(bytes: &[u8; BYTES]) -> [u64; WORDS] {
    let (chunks, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|index| u64::from_le_bytes(chunks[index]))
}

// Each of these sets the top bit of exactly the bytes that qualify and clears every other bit.

#[inline(always)]
fn stops(word: u64) -> u64 {
    equal(word, b'"') | equal(word, b'\\') | controls(word)
}

#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * u64::from(byte));
    // A byte is zero if adding 0x7F to its low seven bits does not carry into the top bit and the
    // top bit is not set. Carries never leave their byte.
    !(((difference & !TOPS) + !TOPS) | difference) & TOPS
}

#[inline(always)]
fn controls(word: u64) -> u64 {
    // Adding 0x60 to the low seven bits carries into the top bit for 0x20 and above.
    !(((word & !TOPS) + ONES * 0x60) | word) & TOPS
}

#[inline(always)]
fn non_ascii(word: u64) -> u64 {
    word & TOPS
}

/// Collects the top bits of all bytes of all words.
#[inline(always)]
fn join(words: &[u64], select: impl Fn(u64) -> u64) -> u64 {
    // The multiplication moves the bit of byte k to bit 56 + k; products do not overlap.
    let gather = |tops: u64| (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    words.iter().rev().fold(0, |mask, word| mask << 8 | gather(select(*word)))
}
