//! Strings that are longer than a window: file contents, images in base64.

use std::array;

use fearless_simd::Simd;

use super::block::{Stops, plain};
use super::{BLOCK, StringEnd, check_utf8, escapes};
use crate::error::SyntaxError;

/// How many blocks are checked at once when a string turns out to be really long.
const STRETCH: usize = 4;

/// A string that continues for this many bytes without an escape is taken in stretches.
const LONG: usize = 8 * BLOCK;

/// Continues at `at` with the string whose content starts at `start`. The bytes in between neither end
/// it nor are escapes; `non_ascii` tells whether any of them is not ASCII.
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
            let long = at + LONG;
            while let Some(bytes) = input[at..].first_chunk() {
                let Some(found) = plain(simd, array::from_ref(bytes)) else {
                    let (length, found) = Stops::of(simd, bytes).before_first();
                    if input[at + length] != b'"' {
                        break;
                    }
                    let quote = at + length;
                    if non_ascii | found {
                        check_utf8(input, start, quote)?;
                    }
                    return Ok(StringEnd { quote, flags: 0 });
                };
                non_ascii |= found;
                at += BLOCK;
                if at == long {
                    (at, non_ascii) = skip_plain::<S, STRETCH>(simd, input, at, non_ascii);
                }
            }
            escapes::string(simd, input, start, at, non_ascii)
        },
    )
}

/// Skips stretches of `N` blocks that neither end the string nor have escapes.
#[inline(always)]
pub(super) fn skip_plain<S: Simd, const N: usize>(
    simd: S,
    input: &[u8],
    mut at: usize,
    mut non_ascii: bool,
) -> (usize, bool) {
    let (blocks, _) = input[at..].as_chunks::<BLOCK>();
    let (stretches, _) = blocks.as_chunks::<N>();
    for stretch in stretches {
        let Some(found) = plain(simd, stretch) else { break };
        non_ascii |= found;
        at += N * BLOCK;
    }
    (at, non_ascii)
}
