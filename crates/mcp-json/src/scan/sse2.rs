//! Sixteen bytes per instruction with SSE2, which every x86-64 processor has.
//!
//! `safe_arch` offers the instructions as safe functions because the target is known to have them;
//! the standard library's are safe only inside functions that enable the feature again.

use safe_arch::{
    bitor_m128i, bitxor_m128i, cmp_eq_mask_i8_m128i, load_unaligned_m128i, m128i, min_u8_m128i,
    move_mask_i8_m128i, set_splat_i8_m128i,
};

use super::{BLOCK, Backend, Block, Stops};

pub(super) struct Sse2;

impl Backend for Sse2 {
    #[inline(always)]
    fn stops(bytes: &[u8; BLOCK]) -> Stops {
        let quarters = quarters(bytes);
        Stops { stops: join(each(quarters, stops)), non_ascii: join(quarters) }
    }

    #[inline(always)]
    fn block(bytes: &[u8; BLOCK]) -> Block {
        let quarters = quarters(bytes);
        Block {
            quotes: join(each(quarters, |quarter| equal(quarter, b'"'))),
            backslashes: join(each(quarters, |quarter| equal(quarter, b'\\'))),
            controls: join(each(quarters, controls)),
            non_ascii: join(quarters),
            usual_escapes: join(each(quarters, |quarter| {
                or(equal(quarter, b'n'), equal(quarter, b't'))
            })),
        }
    }

    #[inline(always)]
    fn plain(bytes: &[u8; BLOCK]) -> Result<bool, Stops> {
        let quarters = quarters(bytes);
        // The minimum of each column shows whether any byte is too small.
        let smallest = fold(each(quarters, quotes_sink), min_u8_m128i);
        let backslashes = fold(each(quarters, |quarter| equal(quarter, b'\\')), bitor_m128i);
        if mask(or(at_most_0x20(smallest), backslashes)) != 0 {
            return Err(Self::stops(bytes));
        }
        Ok(mask(fold(quarters, bitor_m128i)) != 0)
    }
}

#[inline(always)]
fn quarters(bytes: &[u8; BLOCK]) -> [m128i; 4] {
    let (chunks, _) = bytes.as_chunks::<16>();
    let load = |index: usize| load_unaligned_m128i(&chunks[index]);
    [load(0), load(1), load(2), load(3)]
}

/// As the `map` of arrays, which is not always inlined.
#[inline(always)]
fn each<T>([a, b, c, d]: [m128i; 4], change: impl Fn(m128i) -> T) -> [T; 4] {
    [change(a), change(b), change(c), change(d)]
}

#[inline(always)]
fn stops(bytes: m128i) -> m128i {
    or(at_most_0x20(quotes_sink(bytes)), equal(bytes, b'\\'))
}

/// Flips a bit that turns a quote into 0x20 and a space into something larger, and maps control
/// characters to control characters: then one comparison finds quotes and control characters.
#[inline(always)]
fn quotes_sink(bytes: m128i) -> m128i {
    bitxor_m128i(bytes, set_splat_i8_m128i(0x02))
}

#[inline(always)]
fn at_most_0x20(bytes: m128i) -> m128i {
    cmp_eq_mask_i8_m128i(min_u8_m128i(bytes, set_splat_i8_m128i(0x20)), bytes)
}

#[inline(always)]
fn fold([a, b, c, d]: [m128i; 4], join: impl Fn(m128i, m128i) -> m128i) -> m128i {
    join(join(a, b), join(c, d))
}

#[inline(always)]
fn equal(bytes: m128i, byte: u8) -> m128i {
    cmp_eq_mask_i8_m128i(bytes, set_splat_i8_m128i(byte.cast_signed()))
}

#[inline(always)]
fn controls(bytes: m128i) -> m128i {
    cmp_eq_mask_i8_m128i(min_u8_m128i(bytes, set_splat_i8_m128i(0x1F)), bytes)
}

#[inline(always)]
fn or(a: m128i, b: m128i) -> m128i {
    bitor_m128i(a, b)
}

/// The top bit of each byte.
#[inline(always)]
fn mask(bytes: m128i) -> u64 {
    u64::from(move_mask_i8_m128i(bytes).cast_unsigned())
}

#[inline(always)]
fn join(quarters: [m128i; 4]) -> u64 {
    let [a, b, c, d] = each(quarters, mask);
    a | b << 16 | c << 32 | d << 48
}
