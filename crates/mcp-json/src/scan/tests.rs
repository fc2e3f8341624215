//! Every instruction set sees the same bytes, and the scanner reads as a byte-by-byte one does.

use fearless_simd::{Level, Simd, dispatch};
use proptest::prelude::{Strategy, any, prop_oneof, proptest};

use super::block::{Block, Stops, plain};
use super::{BLOCK, StringEnd, Window, short_string, string};
use crate::entry::{ESCAPED, LONE_SURROGATE};
use crate::error::SyntaxError;
use crate::escape::lone_surrogates;

/// The instruction sets of this machine, from what every machine has to the widest.
fn levels() -> Vec<Level> {
    #[cfg(target_arch = "x86_64")]
    {
        let here = Level::new();
        let known = [
            Some(Level::baseline()),
            here.as_sse4_2().map(Level::Sse4_2),
            here.as_avx2().map(Level::Avx2),
            Some(here),
        ];
        known.into_iter().flatten().collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    vec![Level::baseline(), Level::new()]
}

fn bits(bytes: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> u64 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(is(*byte)))
}

#[test]
fn every_instruction_set_sees_the_same_bytes() {
    fn seen<S: Simd>(simd: S, bytes: &[u8; BLOCK]) -> (Block, Stops, Option<bool>) {
        (Block::of(simd, bytes), Stops::of(simd, bytes), plain(simd, &[*bytes]))
    }
    let levels = levels();
    let special = [b'a', b'"', b'\\', 0, 0x1F, 0x20, 0x7F, 0x80, 0xFF, b'n'];
    // Every byte value at every position of a block.
    for place in 0..BLOCK {
        for byte in 0..=u8::MAX {
            for filler in special {
                let mut bytes = [filler; BLOCK];
                bytes[place] = byte;
                let block = Block {
                    quotes: bits(&bytes, |byte| byte == b'"'),
                    backslashes: bits(&bytes, |byte| byte == b'\\'),
                    controls: bits(&bytes, |byte| byte < 0x20),
                    non_ascii: bits(&bytes, |byte| !byte.is_ascii()),
                    usual_escapes: bits(&bytes, |byte| matches!(byte, b'n' | b't')),
                };
                let found = block.quotes | block.backslashes | block.controls;
                let stops = Stops { stops: found, non_ascii: block.non_ascii };
                let plain = (found == 0).then_some(block.non_ascii != 0);
                let expected = (block, stops, plain);
                for level in &levels {
                    let seen = dispatch!(*level, simd => seen(simd, &bytes));
                    assert_eq!(seen, expected, "{level:?}");
                }
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
    for level in levels() {
        let scan = |start, window: &mut Window| -> Result<StringEnd, SyntaxError> {
            dispatch!(level, simd => match short_string(simd, input, start, window) {
                Some(quote) => Ok(StringEnd { quote, flags: 0 }),
                None => string(simd, input, start, window),
            })
        };
        let fresh = scan(start, &mut Window::default());
        assert_eq!(fresh.as_ref().ok(), expected.as_ref(), "{}", String::from_utf8_lossy(input));
        // The same with a window left over from an earlier string.
        let mut window = Window::default();
        for earlier in start.saturating_sub(3)..start {
            let _ = scan(earlier, &mut window);
        }
        assert_eq!(scan(start, &mut window), fresh);
    }
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
