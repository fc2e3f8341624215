//! Strings of kilobytes, such as images in base64.
//!
//! One pass finds the next quote or backslash, with the widest instructions the processor has; a
//! second one over the same bytes, still in the cache, checks for control characters and bytes that
//! are not ASCII. Both do less per byte than one pass that distinguishes all of them.

/// Small enough that the second pass finds the bytes in the L1 cache.
const WINDOW: usize = 16 * 1024;

/// Skips bytes that neither end a string nor start an escape, possibly not all of them. Returns
/// where it stopped, and whether a byte that is not ASCII was skipped.
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
