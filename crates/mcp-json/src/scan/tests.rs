//! The backends agree with each other, and the scanner with a byte-by-byte one.

use proptest::prelude::{Strategy, any, prop_oneof, proptest};

use super::swar::Swar;
use super::{BLOCK, Backend, Native, StringEnd, Window, string_with};
use crate::entry::{ESCAPED, LONE_SURROGATE};
use crate::escape::lone_surrogates;

#[test]
fn both_back_ends_see_the_same_bytes() {
    // Every byte value at every position of a block.
    for place in 0..BLOCK {
        for byte in 0..=u8::MAX {
            for filler in [b'a', b'"', b'\\', 0, 0x1F, 0x20, 0x7F, 0x80, 0xFF, b'n'] {
                let mut bytes = [filler; BLOCK];
                bytes[place] = byte;
                assert_eq!(Native::block(&bytes), Swar::block(&bytes));
                assert_eq!(Native::plain(&bytes), Swar::plain(&bytes));
                assert_eq!(Native::stops(&bytes), Swar::stops(&bytes));
            }
        }
    }
}

/// The result of scanning the string from `start` byte by byte.
fn naive(input: &[u8], start: usize) -> Option<StringEnd> {
    let mut at = start;
    let mut flags = 0;
    loop {
        match input.get(at)? {
            b'"' => break,
            b'\\' => {
                flags |= ESCAPED;
                at += match input.get(at + 1)? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                    b'u' if input.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => 6,
                    _ => return None,
                };
            }
            0..0x20 => return None,
            _ => at += 1,
        }
    }
    std::str::from_utf8(&input[start..at]).ok()?;
    if !lone_surrogates(&input[start..at]).is_empty() {
        flags |= LONE_SURROGATE;
    }
    Some(StringEnd { quote: at, flags })
}

#[track_caller]
fn check(input: &[u8], start: usize) {
    let expected = naive(input, start);
    let native = string_with::<Native>(input, start, &mut Window::default());
    assert_eq!(native, string_with::<Swar>(input, start, &mut Window::default()));
    assert_eq!(native.as_ref().ok(), expected.as_ref(), "{}", String::from_utf8_lossy(input));
    // The same with a window left over from an earlier string.
    let mut window = Window::default();
    for earlier in start.saturating_sub(3)..start {
        let _ = string_with::<Native>(input, earlier, &mut window);
    }
    assert_eq!(string_with::<Native>(input, start, &mut window), native);
}

#[test]
fn strings_are_read_at_every_alignment() {
    let endings: [&[u8]; 9] = [
        b"\"",
        b"\\\"",
        b"\\\\\"",
        b"\\\\\\\"\"",
        b"\n\"",
        b"\xC3\xA4\"",
        b"\xC3\"",
        b"\\u0041\"",
        b"\\ud83d\\ude00\"",
    ];
    for length in 0..150 {
        for ending in endings {
            for behind in [0, 1, 15, 16, 17, 63, 64, 65, 200] {
                let text = [&vec![b'x'; length], ending, &vec![b'"'; behind]].concat();
                for start in [0, 1, 7, 15, 16, 40] {
                    check(&[&vec![b'\\'; start], &*text].concat(), start);
                }
            }
        }
    }
}

#[test]
fn long_strings_are_read_to_their_end() {
    let endings: [&[u8]; 7] =
        [b"\"", b"\\\"\"", b"\n\"", b"\xC3\xA4\"", b"\xC3\"", b"\\ud800\"", b""];
    for length in (440..600).chain(4600..4680).chain([9000]) {
        for ending in endings {
            let text = [&vec![b'x'; length], ending, b"xxxx", ending].concat();
            check(&text, 0);
            check(&text, 3);
        }
        let mut text = vec![b'x'; length];
        text[length / 2] = 0x1F;
        check(&text, 0);
        text[length / 3] = 0xFF;
        check(&text, 0);
    }
}

#[test]
fn backslashes_are_carried_from_block_to_block() {
    for before in 0..70 {
        for backslashes in 0..140 {
            let text = [vec![b'x'; before], vec![b'\\'; backslashes], b"\"y\"".to_vec()].concat();
            check(&text, 0);
        }
    }
}

fn contents() -> impl Strategy<Value = Vec<u8>> {
    const ESCAPES: [&[u8]; 8] =
        [b"\\\\", b"\\\"", b"\\n", b"\\u00e4", b"\\ud800", b"\\udc00", b"\\", b"\""];
    let piece = prop_oneof![
        "[ -~]{0,70}".prop_map(String::into_bytes),
        "[äö€😀]{0,10}".prop_map(String::into_bytes),
        proptest::sample::select(&ESCAPES).prop_map(<[u8]>::to_vec),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_string_is_read_as_the_grammar_says(input in contents()) {
        for start in 0..=input.len().min(20) {
            check(&input, start);
        }
    }
}
