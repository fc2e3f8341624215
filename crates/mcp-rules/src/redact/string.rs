//! Changes the text of a JSON string while preserving which characters are escaped.

/// Passes the decoded text of a JSON string, given without its quotes, to `change`, and escapes the
/// result as before. `change` must preserve the length of every character, and every character that
/// is not a letter or digit.
pub(super) fn with_text(content: &mut [u8], change: impl FnOnce(&mut [u8])) {
    if memchr::memchr(b'\\', content).is_none() {
        return change(content);
    }
    let (mut text, escapes) = decode(content);
    change(&mut text);
    let (mut at, mut decoded) = (0, 0);
    for escape in escapes {
        let plain = escape.at - at;
        content[at..escape.at].copy_from_slice(&text[decoded..decoded + plain]);
        decoded += plain;
        let end = escape.at + escape.length;
        let character = text.get(decoded..decoded + escape.character.len_utf8());
        if let Some(character) = character.and_then(|bytes| std::str::from_utf8(bytes).ok())
            && let Some(character) = character.chars().next()
            && character != escape.character
        {
            spell(character, &mut content[escape.at..end]);
        }
        decoded += escape.character.len_utf8();
        at = end;
    }
    content[at..].copy_from_slice(&text[decoded..]);
}

/// An escape in a string.
struct Escape {
    at: usize,
    length: usize,
    character: char,
}

/// The decoded text and its escapes. Invalid escapes count as text.
fn decode(content: &[u8]) -> (Vec<u8>, Vec<Escape>) {
    let mut text = Vec::with_capacity(content.len());
    let mut escapes = Vec::new();
    let mut at = 0;
    for start in memchr::memchr_iter(b'\\', content) {
        if start < at {
            continue;
        }
        text.extend_from_slice(&content[at..start]);
        at = start;
        let Some((character, length)) = escape(&content[start..]) else { continue };
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        escapes.push(Escape { at: start, length, character });
        at = start + length;
    }
    text.extend_from_slice(&content[at..]);
    (text, escapes)
}

/// The escape at the start of `text`, and its length.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let simple = |character| Some((character, 2));
    match text.get(1)? {
        b'n' => simple('\n'),
        b't' => simple('\t'),
        b'r' => simple('\r'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{c}'),
        byte @ (b'"' | b'\\' | b'/') => simple(char::from(*byte)),
        b'u' => {
            let first = hex(text.get(2..6)?)?;
            if let Some(character) = char::from_u32(first) {
                return Some((character, 6));
            }
            let second =
                text.get(6..8).filter(|it| it == b"\\u").and_then(|_| hex(text.get(8..12)?));
            let pair = second.and_then(|second| {
                char::decode_utf16([u16::try_from(first).ok()?, u16::try_from(second).ok()?])
                    .next()?
                    .ok()
            });
            Some(match pair {
                Some(character) => (character, 12),
                None => (char::REPLACEMENT_CHARACTER, 6),
            })
        }
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Rewrites a `\u` escape, preserving the case of its digits. Other escapes are not changed.
fn spell(character: char, escape: &mut [u8]) {
    let is_upper = escape.iter().any(u8::is_ascii_uppercase);
    for (unit, place) in character.encode_utf16(&mut [0; 2]).iter().zip(escape.chunks_exact_mut(6))
    {
        let text = if is_upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
        place.copy_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, seen: &str, expected: &str) {
        let mut bytes = content.as_bytes().to_vec();
        with_text(&mut bytes, |text| {
            assert_eq!(String::from_utf8_lossy(text), seen);
            for byte in text.iter_mut().filter(|byte| byte.is_ascii_lowercase()) {
                *byte = b'z';
            }
        });
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
    }

    #[test]
    fn the_spelling_stays() {
        check("abc", "abc", "zzz");
        check(r"a\nb\u0063\u004a\/", "a\nbcJ/", r"z\nz\u007a\u004a\/");
        check(r"\u006A\u00e9é", "jéé", r"\u007A\u00e9é");
        check(r"\ud83d\ude00x", "😀x", r"\ud83d\ude00z");
    }

    #[test]
    fn what_is_no_escape_counts_as_text() {
        check(r"\ud83dx", "\u{fffd}x", r"\ud83dz");
        check(r"\q\u12", r"\q\u12", r"\z\z12");
        check(r"a\", r"a\", r"z\");
        check(r"\u+123", r"\u+123", r"\z+123");
    }
}
