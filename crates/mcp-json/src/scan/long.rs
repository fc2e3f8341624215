//! Strings of kilobytes, such as images in base64.
//!
//! One pass finds the next quote or backslash, with the widest instructions the processor has; a
//! second one over the same bytes, still in the cache, asks for control characters and for bytes
//! that are not ASCII. Both do less per byte than one pass that tells all of them apart.

/// Small enough for the second pass to find the bytes in the first-level cache.
const WINDOW: usize = 16 * 1024;

/// Skips what neither ends a string nor escapes anything, perhaps not all of it. Returns where it
/// stopped, and whether a byte that is not ASCII was skipped.
#[inline(never)]
pub(super) fn skip_plain(input: &[u8], mut at: usize) -> (usize, bool) {
    let mut non_ascii = false;
    for window in input[at..].chunks(WINDOW) {
        let found = memchr::memchr2(b'"', b'\\', window);
        let plain = &window[..found.unwrap_or(window.len())];
        let (least, all) =
            plain.iter().fold((u8::MAX, 0), |(least, all), byte| (least.min(*byte), all | byte));
        if least < b' ' {
            break;
        }
        non_ascii |= !all.is_ascii();
        at += plain.len();
        if found.is_some() {
            break;
        }
    }
    (at, non_ascii)
}
