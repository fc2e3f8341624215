//! Decoding of escapes in strings.
//!
//! Everything here but [`unicode_escape`] works on strings the parser has accepted.

use std::borrow::Cow;
use std::ops::Range;

/// The result of decoding a `\u` escape, or a pair of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unicode {
    Char(char),
    /// Half of a surrogate pair without the other half.
    LoneSurrogate,
}

/// Decodes the four digits after `\u`, and the whole second escape if both form a surrogate pair.
/// Also returns the number of bytes consumed; `None` if there are not four digits.
pub(crate) fn unicode_escape(digits: &[u8]) -> Option<(Unicode, usize)> {
    let first = four_digits(digits)?;
    if let Some(char) = char::from_u32(first) {
        return Some((Unicode::Char(char), 4));
    }
    let pair = (|| {
        let second = four_digits(digits[4..].strip_prefix(b"\\u")?)?;
        if first >= 0xDC00 || !(0xDC00..0xE000).contains(&second) {
            return None;
        }
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    })();
    Some(match pair {
        Some(char) => (Unicode::Char(char), 10),
        None => (Unicode::LoneSurrogate, 4),
    })
}

fn four_digits(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk::<4>()?.iter().try_fold(0, |value, byte| {
        let digit = char::from(*byte).to_digit(16)?;
        Some(value << 4 | digit)
    })
}

/// The unescaped text of a string's content, as UTF-8. Lone surrogates become U+FFFD.
pub(crate) fn unescape(content: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = find_backslash(content) else {
        return Cow::Borrowed(content);
    };
    let mut text = Vec::with_capacity(content.len());
    let mut rest = content;
    let mut next = Some(first);
    while let Some(at) = next {
        text.extend_from_slice(&rest[..at]);
        let (char, length) = decode(&rest[at..]);
        text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[at + length..];
        next = find_backslash(rest);
    }
    text.extend_from_slice(rest);
    Cow::Owned(text)
}

/// The ranges of lone surrogates in a string's content.
pub(crate) fn lone_surrogates(content: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(distance) = find_backslash(&content[at..]) {
        at += distance;
        let escape = &content[at..];
        let length = if let [b'\\', b'u', digits @ ..] = escape
            && let Some((unicode, length)) = unicode_escape(digits)
        {
            if unicode == Unicode::LoneSurrogate {
                found.push(at..at + 6);
            }
            2 + length
        } else {
            2
        };
        at += length;
    }
    found
}

fn find_backslash(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\\')
}

/// Decodes the escape at the start; returns the character and the escape's length.
fn decode(escape: &[u8]) -> (char, usize) {
    let char = match escape[1] {
        b'b' => '\u{8}',
        b'f' => '\u{C}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let (unicode, length) =
                unicode_escape(&escape[2..]).expect("the parser saw four digits");
            let char = match unicode {
                Unicode::Char(char) => char,
                Unicode::LoneSurrogate => char::REPLACEMENT_CHARACTER,
            };
            return (char, 2 + length);
        }
        other => char::from(other),
    };
    (char, 2)
}

#[cfg(test)]
mod tests {
    use super::{lone_surrogates, unescape};

    #[track_caller]
    fn check(content: &str, expected: &str) {
        let text = String::from_utf8(unescape(content.as_bytes()).into_owned()).unwrap();
        assert_eq!(text, expected);
    }

    #[test]
    fn every_escape_is_decoded() {
        check(r"plain", "plain");
        check(r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t");
        check(r"a\u0041\u00e4\u20AC\uD83D\uDE00z", "aAä€😀z");
        check(r"\\u0041", r"\u0041");
        check(r"\u0000", "\0");
    }

    #[test]
    fn lone_surrogates_become_the_replacement_character() {
        check(r"\uD800", "\u{FFFD}");
        check(r"\uDC00\uD800", "\u{FFFD}\u{FFFD}");
        check(r"\uD800\uD83D\uDE00", "\u{FFFD}😀");
        check(r"\uD83Dx\uDE00", "\u{FFFD}x\u{FFFD}");
        check(r"\uD800\n", "\u{FFFD}\n");
        check(r"\uD800\u0041", "\u{FFFD}A");
    }

    #[test]
    fn lone_surrogates_are_located() {
        assert!(lone_surrogates(br"\uD83D\uDE00").is_empty());
        assert_eq!(lone_surrogates(br"a\uD800\uD83D\uDE00\\uDC00\uDC00"), [1..7, 26..32]);
    }
}
