//! How values are written in headers: plain, or as Base64 between markers.

use std::borrow::Cow;

use base64::{Engine as _, prelude::BASE64_STANDARD};

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Text(Cow<'a, str>),
    /// It cannot be read, and why.
    Broken(&'static str),
}

/// Reads the value of a header that repeats `body`, if that is known.
pub(super) fn read<'a>(header: &'a str, body: Option<&str>) -> Value<'a> {
    let header = header.trim_matches([' ', '\t']);
    if !header.chars().all(is_plain) {
        return Value::Broken("has a character that headers cannot carry");
    }
    let Some(encoded) = sentinel(header) else {
        return Value::Text(Cow::Borrowed(header));
    };
    if body == Some(header) {
        return Value::Broken("repeats a value that looks encoded without encoding it");
    }
    match BASE64_STANDARD.decode(encoded).map(String::from_utf8) {
        Ok(Ok(text)) => Value::Text(Cow::Owned(text)),
        Ok(Err(_)) => Value::Broken("is Base64 of something that is not UTF-8"),
        Err(_) => Value::Broken("is marked as Base64 and is not"),
    }
}

/// Writes a value as a header.
pub(super) fn encode(value: &str) -> Cow<'_, str> {
    let plain = value.chars().all(is_plain)
        && value.trim_matches([' ', '\t']) == value
        && sentinel(value).is_none();
    if plain {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("{PREFIX}{}{SUFFIX}", BASE64_STANDARD.encode(value)))
}

/// Visible ASCII, space and tab.
fn is_plain(character: char) -> bool {
    matches!(character, ' '..='~' | '\t')
}

/// What stands between the markers.
fn sentinel(value: &str) -> Option<&str> {
    value.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for value in [
            "us-west1",
            "Hello, 世界",
            " padded ",
            "line1\nline2",
            "=?base64?literal?=",
            "=?base64??=",
            "=?base64?",
            "a\tb",
            "",
        ] {
            let header = encode(value);
            assert!(header.chars().all(is_plain), "{value}");
            assert_eq!(read(&header, Some(value)), Value::Text(value.into()), "{header}");
        }
        assert_eq!(encode("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
        assert_eq!(encode("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
    }

    #[test]
    fn broken_values_are_told_apart_from_other_ones() {
        for header in ["Ås", "a\u{0}", "=?base64?*?=", "=?base64?aGk?=", "=?base64?/w==?="] {
            assert!(matches!(read(header, None), Value::Broken(_)), "{header}");
        }
        // The markers are lower case, and a value in other case is just a value.
        assert_eq!(read("=?BASE64?aGk=?=", None), Value::Text("=?BASE64?aGk=?=".into()));
        assert_eq!(read("=?base64?aGk=?=", None), Value::Text("hi".into()));
        assert!(matches!(read("=?base64?aGk=?=", Some("=?base64?aGk=?=")), Value::Broken(_)));
    }
}
