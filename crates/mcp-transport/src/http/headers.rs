//! The headers that Streamable HTTP adds, and how text is encoded in them.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{HeaderName, HeaderValue};

/// The revision a message is written in.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The session, in the revisions that have one.
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The method of the request in the body, from 2026-07-28 on.
pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What the request is about: a tool, a prompt, a resource.
pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Where to resume a stream.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The prefix of headers that mirror an argument.
pub const PARAM_PREFIX: &str = "mcp-param-";

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// The header that mirrors the argument with this `x-mcp-header` name; `None` if the name is not a
/// token. The caller has to make sure that names are unique, ignoring case.
pub fn param_name(label: &str) -> Option<HeaderName> {
    if label.is_empty() {
        return None;
    }
    HeaderName::from_bytes([PARAM_PREFIX.as_bytes(), label.as_bytes()].concat().as_slice()).ok()
}

/// Writes `text` as the value of `Mcp-Name` or `Mcp-Param-*`: unchanged if a header can carry it,
/// otherwise as Base64 between markers.
#[expect(clippy::missing_panics_doc, reason = "the output is always visible ASCII and spaces")]
pub fn encode_value(text: &str) -> HeaderValue {
    let written = if survives(text) {
        HeaderValue::from_str(text)
    } else {
        HeaderValue::try_from(format!("{PREFIX}{}{SUFFIX}", BASE64_STANDARD.encode(text)))
    };
    written.expect("it is visible ASCII and spaces")
}

/// Whether a header can carry the text unchanged without it looking encoded. Tabs are allowed in
/// headers, but not every intermediary preserves them.
fn survives(text: &str) -> bool {
    let looks_encoded = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    let padded = text.starts_with(' ') || text.ends_with(' ');
    !looks_encoded && !padded && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Reads what [`encode_value`] has written, ignoring surrounding whitespace.
///
/// # Errors
///
/// If it has bytes that are not allowed in headers, or is marked as Base64 but is not Base64 of
/// UTF-8 text.
pub fn decode_value(value: &HeaderValue) -> Result<String, HeaderValueError> {
    let text = value.to_str().map_err(|_| HeaderValueError::ForeignBytes)?;
    let text = text.trim_matches([' ', '\t']);
    let Some(encoded) = text.strip_prefix(PREFIX).and_then(|text| text.strip_suffix(SUFFIX)) else {
        return Ok(text.to_owned());
    };
    let bytes = BASE64_STANDARD.decode(encoded).map_err(|_| HeaderValueError::NotBase64)?;
    String::from_utf8(bytes).map_err(|_| HeaderValueError::NotUtf8)
}

/// Why the value of a header cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum HeaderValueError {
    #[error("the value has bytes other than visible ASCII, spaces and tabs")]
    ForeignBytes,
    #[error("the value is marked as Base64 but is not")]
    NotBase64,
    #[error("the value is Base64 of something that is not UTF-8")]
    NotUtf8,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, written: &str) {
        let value = encode_value(text);
        assert_eq!(value.to_str().unwrap(), written);
        assert_eq!(decode_value(&value).as_deref(), Ok(text));
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        check("get_weather", "get_weather");
        check("file:///a b/c?d=e#f", "file:///a b/c?d=e#f");
        check("", "");
        check("=?base64?", "=?base64?");
        check("x?=", "x?=");
    }

    #[test]
    fn what_a_header_would_change_is_encoded() {
        check("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=");
        check(" padded ", "=?base64?IHBhZGRlZCA=?=");
        check("line1\nline2", "=?base64?bGluZTEKbGluZTI=?=");
        check("a\tb", "=?base64?YQli?=");
        check("a\r\nX-Evil: 1", "=?base64?YQ0KWC1FdmlsOiAx?=");
        check("\u{7f}", "=?base64?fw==?=");
        check(" ", "=?base64?IA==?=");
    }

    #[test]
    fn text_that_looks_encoded_is_encoded() {
        check("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
        check("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?=");
    }

    #[test]
    fn broken_values_are_refused() {
        use HeaderValueError::{ForeignBytes, NotBase64, NotUtf8};
        for (value, error) in [
            (&b"=?base64?aGk?="[..], NotBase64),
            (b"=?base64?a GkK?=", NotBase64),
            (b"=?base64?-_==?=", NotBase64),
            (b"=?base64?aGk=\t?=", NotBase64),
            (b"=?base64?/w==?=", NotUtf8),
            (b"\xff", ForeignBytes),
            ("世".as_bytes(), ForeignBytes),
        ] {
            assert_eq!(decode_value(&HeaderValue::from_bytes(value).unwrap()), Err(error));
        }
    }

    #[test]
    fn markers_are_exact_and_blanks_around_do_not_count() {
        for (value, text) in [
            ("=?BASE64?aGk=?=", "=?BASE64?aGk=?="),
            ("=?base64?aGk=", "=?base64?aGk="),
            ("aGk=?=", "aGk=?="),
            (" \t a b \t", "a b"),
            ("  =?base64?aGk=?= ", "hi"),
            ("=?base64??=", ""),
        ] {
            let value = HeaderValue::from_str(value).unwrap();
            assert_eq!(decode_value(&value).as_deref(), Ok(text));
        }
    }

    #[test]
    fn labels_are_tokens() {
        for label in ["Region", "x-y_z.1", "!#$%&'*+-.^_`|~"] {
            assert!(param_name(label).is_some(), "{label}");
        }
        for label in ["", " ", "a b", "a:b", "ä", "a\r\nb", "a\0", "a/b", "(a)", "\"a\""] {
            assert!(param_name(label).is_none(), "{label}");
        }
        assert_eq!(param_name("Region").unwrap(), "mcp-param-region");
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in any::<String>()) {
            let value = encode_value(&text);
            prop_assert!(value.to_str().is_ok());
            prop_assert_eq!(decode_value(&value), Ok(text));
        }
    }
}
