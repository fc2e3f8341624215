//! How values are encoded in headers: plain, or as Base64 between markers.

use std::borrow::Cow;

use base64::{Engine as _, prelude::BASE64_STANDARD};

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// Why the value of a header cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum HeaderValueFault {
    #[error("has a character that headers cannot carry")]
    Character,
    #[error("repeats a value that looks encoded without encoding it")]
    NotEncoded,
    #[error("is marked as Base64 and is not")]
    NotBase64,
    #[error("is Base64 of something that is not UTF-8")]
    NotUtf8,
}

/// Decodes the value of `Mcp-Name` or `Mcp-Param-*`, as written by [`encode_header_value`].
/// Surrounding whitespace is ignored.
///
/// # Errors
///
/// If it has characters that headers cannot carry, or if the markers enclose something other than
/// Base64 of UTF-8 text.
pub fn decode_header_value(header: &str) -> Result<Cow<'_, str>, HeaderValueFault> {
    let header = header.trim_matches([' ', '\t']);
    if !header.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        return Err(HeaderValueFault::Character);
    }
    let Some(encoded) = between_markers(header) else { return Ok(Cow::Borrowed(header)) };
    let bytes = BASE64_STANDARD.decode(encoded).map_err(|_| HeaderValueFault::NotBase64)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| HeaderValueFault::NotUtf8)
}

/// Encodes a text as the value of `Mcp-Name` or `Mcp-Param-*`: unchanged where a header can carry
/// it, otherwise as Base64 between markers.
///
/// ```
/// use mcp_rules::{decode_header_value, encode_header_value};
///
/// assert_eq!(encode_header_value("us-west1"), "us-west1");
/// let written = encode_header_value("Zürich");
/// assert_eq!(written, "=?base64?WsO8cmljaA==?=");
/// assert_eq!(decode_header_value(&written).unwrap(), "Zürich");
/// ```
pub fn encode_header_value(text: &str) -> Cow<'_, str> {
    // Tabs are allowed in headers, but not every intermediary preserves them.
    let survives = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && between_markers(text).is_none();
    if survives {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{PREFIX}{}{SUFFIX}", BASE64_STANDARD.encode(text)))
}

/// Decodes the value of a header that mirrors the text `body`.
pub(crate) fn decode_copy<'h>(
    header: &'h str,
    body: Option<&str>,
) -> Result<Cow<'h, str>, HeaderValueFault> {
    let bare = header.trim_matches([' ', '\t']);
    if body == Some(bare) && between_markers(bare).is_some() {
        return Err(HeaderValueFault::NotEncoded);
    }
    decode_header_value(header)
}

fn between_markers(value: &str) -> Option<&str> {
    value.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for text in [
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
            let header = encode_header_value(text);
            assert_eq!(decode_copy(&header, Some(text)).as_deref(), Ok(text), "{header}");
        }
        assert_eq!(encode_header_value("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
        assert_eq!(
            encode_header_value("=?base64?literal?="),
            "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="
        );
    }

    #[test]
    fn broken_values_are_told_apart_from_other_ones() {
        use HeaderValueFault::{Character, NotBase64, NotEncoded, NotUtf8};
        for (header, fault) in [
            ("Ås", Character),
            ("a\u{0}", Character),
            ("=?base64?*?=", NotBase64),
            ("=?base64?aGk?=", NotBase64),
            ("=?base64?/w==?=", NotUtf8),
        ] {
            assert_eq!(decode_header_value(header), Err(fault), "{header}");
        }
        // The markers are lowercase, and a value in another case is just a value.
        assert_eq!(decode_header_value("=?BASE64?aGk=?=").as_deref(), Ok("=?BASE64?aGk=?="));
        assert_eq!(decode_header_value("\t=?base64?aGk=?= ").as_deref(), Ok("hi"));
        let copy = "=?base64?aGk=?=";
        assert_eq!(decode_copy(copy, Some(copy)), Err(NotEncoded));
    }

    proptest! {
        #[test]
        fn any_text_reads_back(text in any::<String>()) {
            let header = encode_header_value(&text);
            prop_assert!(header.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            prop_assert_eq!(decode_header_value(&header).unwrap(), &*text);
        }
    }
}
