//! Replaces a value by another one of the same shape.
//!
//! Digits become digits and letters letters, character by character, so that length, encoding and
//! most formats stay. Which ones follows from the value and a secret key: equal values stay equal,
//! different ones stay different (every step is a permutation), and nobody without the key can tell
//! what a value was, or whether a guess is right.

use std::hash::{BuildHasher, Hash as _, Hasher as _};

/// Rounds of a Feistel network: each shifts half of the characters depending on the other half.
const ROUNDS: u32 = 6;

/// Shorter runs of hexadecimal digits may be words.
const SHORTEST_HEX: usize = 8;

/// Names of authentication schemes that precede credentials, and are not secret.
const SCHEMES: [&str; 6] = ["basic", "bearer", "digest", "dpop", "negotiate", "token"];

/// Ranges whose letters are replaced by letters of the same range. All characters of a range have the
/// same length in UTF-8.
const ALPHABETS: [(char, char); 16] = [
    ('0', '9'),
    ('a', 'z'),
    ('A', 'Z'),
    ('à', 'ö'),
    ('ø', 'ÿ'),
    ('À', 'Ö'),
    ('Ø', 'Þ'),
    ('Ā', 'ſ'),
    ('α', 'ω'),
    ('а', 'я'),
    ('А', 'Я'),
    ('א', 'ת'),
    ('ぁ', 'ゖ'),
    ('ァ', 'ヺ'),
    ('一', '龥'),
    ('가', '힣'),
];

/// What all other letters become, by length in UTF-8.
const FILLERS: [char; 4] = ['x', 'ß', 'ꀀ', '𠀀'];

/// A character that changes.
#[derive(Debug, Clone, Copy)]
struct Symbol {
    at: usize,
    /// The first character of its run, and the number of characters in it.
    first: u32,
    count: u32,
    /// Its position in the run.
    value: u32,
}

/// Replaces `text` in place.
pub(super) fn mask(keys: &impl BuildHasher, text: &mut [u8]) {
    let mut symbols = symbols(text);
    permute(keys, &mut symbols);
    for Symbol { at, first, value, .. } in symbols {
        if let Some(character) = char::from_u32(first + value) {
            let end = at + character.len_utf8();
            character.encode_utf8(&mut text[at..end]);
        }
    }
}

fn permute(keys: &impl BuildHasher, symbols: &mut [Symbol]) {
    let (left, right) = symbols.split_at_mut(symbols.len() / 2);
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            shift(keys, round, left, right);
        } else {
            shift(keys, round, right, left);
        }
    }
}

/// Shifts every symbol of `to` by an amount derived from `from`.
fn shift(keys: &impl BuildHasher, round: u32, from: &[Symbol], to: &mut [Symbol]) {
    let mut hasher = keys.build_hasher();
    round.hash(&mut hasher);
    for symbol in from {
        hasher.write_u32(symbol.first + symbol.value);
    }
    let digest = hasher.finish();
    for (position, pair) in to.chunks_mut(2).enumerate() {
        let mut amount = keys.hash_one((round, digest, position));
        for symbol in pair {
            let step = u32::try_from(amount & 0xFFFF_FFFF).unwrap_or_default() % symbol.count;
            symbol.value = (symbol.value + step) % symbol.count;
            amount >>= 32;
        }
    }
}

/// The characters of `text` that change.
fn symbols(text: &[u8]) -> Vec<Symbol> {
    if matches!(text, b"true" | b"false" | b"null") {
        return Vec::new();
    }
    let kept = prefix(text);
    let rest = &text[kept..];
    let mut symbols = Vec::new();
    if let Some(digits) = number_digits(rest) {
        let starts = rest.iter().position(u8::is_ascii_digit).unwrap_or(0);
        for at in (0..digits).filter(|at| rest[*at].is_ascii_digit()) {
            match (at == starts, rest[at]) {
                // A number has no leading zero.
                (true, b'0') => {}
                (true, _) => symbols.push(Symbol::of(kept + at, rest[at].into(), ('1', '9'))),
                (false, _) => symbols.push(Symbol::of(kept + at, rest[at].into(), ('0', '9'))),
            }
        }
        return symbols;
    }
    let is_hex = is_hexadecimal(rest);
    let end = base64_end(rest);
    let mut at = 0;
    for chunk in rest.utf8_chunks() {
        for character in chunk.valid().chars() {
            let is_escaped = is_percent_escape(rest, at)
                || at > 0 && is_percent_escape(rest, at - 1)
                || at > 1 && is_percent_escape(rest, at - 2);
            if at < end
                && !is_escaped
                && let Some(alphabet) = alphabet(character, is_hex)
            {
                symbols.push(Symbol::of(kept + at, character, alphabet));
            }
            at += character.len_utf8();
        }
        at += chunk.invalid().len();
    }
    symbols
}

impl Symbol {
    fn of(at: usize, character: char, (first, last): (char, char)) -> Symbol {
        let (first, count) = (u32::from(first), u32::from(last) - u32::from(first) + 1);
        // A filler is a run of one, whatever the character was.
        Symbol { at, first, count, value: u32::from(character).saturating_sub(first) % count }
    }
}

/// The range that a character belongs to; `None` if it is not changed.
fn alphabet(character: char, is_hex: bool) -> Option<(char, char)> {
    if is_hex && character.is_ascii_alphabetic() {
        return Some(if character.is_ascii_lowercase() { ('a', 'f') } else { ('A', 'F') });
    }
    let run = ALPHABETS.into_iter().find(|(first, last)| (*first..=*last).contains(&character));
    run.or_else(|| {
        let filler = FILLERS[character.len_utf8() - 1];
        (!character.is_ascii() && character.is_alphanumeric()).then_some((filler, filler))
    })
}

/// Length of the scheme before credentials, or of a URL.
fn prefix(text: &[u8]) -> usize {
    let word = text.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len());
    let rest = &text[word..];
    let spaces = rest.iter().take_while(|byte| **byte == b' ').count();
    let is_scheme =
        || SCHEMES.iter().any(|scheme| scheme.as_bytes().eq_ignore_ascii_case(&text[..word]));
    if spaces > 0 && is_scheme() {
        return word + spaces;
    }
    if rest.starts_with(b"://") { word + 3 } else { 0 }
}

/// If `text` is a JSON number, where its exponent begins.
fn number_digits(text: &[u8]) -> Option<usize> {
    let run = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let start = usize::from(text.first() == Some(&b'-'));
    let mut at = start + run(start);
    if at == start || text[start] == b'0' && at > start + 1 {
        return None;
    }
    if text.get(at) == Some(&b'.') {
        let digits = run(at + 1);
        if digits == 0 {
            return None;
        }
        at += 1 + digits;
    }
    let digits = at;
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = run(at.min(text.len()));
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    (at == text.len()).then_some(digits)
}

fn is_hexadecimal(text: &[u8]) -> bool {
    let mut digits = 0;
    for byte in text.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()) {
        if !byte.is_ascii_hexdigit() {
            return false;
        }
        digits += 1;
    }
    digits >= SHORTEST_HEX
}

/// The end of what may change in Base64: the last digit before the padding has bits that must be
/// zero.
fn base64_end(text: &[u8]) -> usize {
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    if (1..=2).contains(&padding) { (text.len() - padding).saturating_sub(1) } else { text.len() }
}

/// Whether `%` and two hexadecimal digits are at `at`.
fn is_percent_escape(text: &[u8], at: usize) -> bool {
    matches!(text.get(at..at + 3), Some([b'%', high, low])
        if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        hash::{BuildHasherDefault, DefaultHasher},
    };

    use proptest::prelude::*;

    use super::*;

    fn masked(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        mask(&BuildHasherDefault::<DefaultHasher>::default(), &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    /// Digits as `9`, letters as `a` and `A`.
    fn shape(text: &str) -> String {
        let class = |it: char| match it {
            '0'..='9' => '9',
            'a'..='z' => 'a',
            'A'..='Z' => 'A',
            it => it,
        };
        text.chars().map(class).collect()
    }

    #[test]
    fn the_shape_stays() {
        for text in [
            "hunter2!",
            "sk-abcDEF0123456789",
            "eyJhbGciOi.J9-_x.y",
            "-12.50",
            "a b\nc",
            "user@host.example",
        ] {
            assert_ne!(masked(text), text);
            assert_eq!(shape(&masked(text)), shape(text));
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        assert!(masked("Bearer abcdefgh").starts_with("Bearer "));
        assert!(masked("https://user:secret@host/").starts_with("https://"));
        assert!(masked("AAECAw==").ends_with("w=="));
        assert!(masked("abc%2Fdef").contains("%2F"));
        for text in ["true", "null", "0", "", "--", "😀"] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn hexadecimal_stays_hexadecimal() {
        let uuid = masked("123e4567-e89b-12d3-a456-426614174000");
        assert!(uuid.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()), "{uuid}");
    }

    #[test]
    fn other_scripts_keep_their_length() {
        for text in ["пароль", "パスワード", "密码", "sécurité", "กขค", "𝒜𝒷"]
        {
            let other = masked(text);
            assert_eq!((other.len(), other.chars().count()), (text.len(), text.chars().count()));
            assert_ne!(other, text);
        }
    }

    #[test]
    fn different_values_stay_different() {
        let values = (0..10_000).map(|number| masked(&format!("{number:04}x")));
        assert_eq!(values.collect::<BTreeSet<_>>().len(), 10_000);
        let numbers = (1000..10_000).map(|number: u32| masked(&number.to_string()));
        let numbers: BTreeSet<_> = numbers.collect();
        assert_eq!(numbers.len(), 9000);
        assert!(numbers.iter().all(|number| !number.starts_with('0')));
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length_and_stays_text(text in any::<String>()) {
            let other = masked(&text);
            prop_assert_eq!(other.len(), text.len());
            prop_assert_eq!(&masked(&text), &other, "twice the same");
        }

        #[test]
        fn any_bytes_keep_their_length(bytes in any::<Vec<u8>>()) {
            let mut other = bytes.clone();
            mask(&BuildHasherDefault::<DefaultHasher>::default(), &mut other);
            prop_assert_eq!(other.len(), bytes.len());
        }
    }
}
