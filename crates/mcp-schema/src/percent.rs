//! Percent-encoding, as in URIs.

use std::borrow::Cow;

/// `text` with percent-encoded bytes decoded; `None` if a `%` is not followed by two hexadecimal
/// digits.
pub(crate) fn decoded(text: &str) -> Option<Cow<'_, [u8]>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text.as_bytes()));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first == b'%' {
            let (digits, tail) = rest.split_at_checked(2)?;
            bytes.push(digit(digits[0])? << 4 | digit(digits[1])?);
            rest = tail;
        } else {
            bytes.push(*first);
        }
    }
    Some(Cow::Owned(bytes))
}

/// Like [`decoded`]; `None` if the result is not UTF-8.
pub(crate) fn decoded_text(text: &str) -> Option<String> {
    String::from_utf8(decoded(text)?.into_owned()).ok()
}

/// `text` as one URI component, encoded like `encodeURIComponent`: all but letters, digits and
/// `-_.!~*'()`.
pub(crate) fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            let digits = b"0123456789ABCDEF";
            encoded.push('%');
            encoded.push(char::from(digits[usize::from(byte >> 4)]));
            encoded.push(char::from(digits[usize::from(byte & 15)]));
        }
    }
    encoded
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_put_back() {
        assert_eq!(decoded_text("a%20b%C3%bc").as_deref(), Some("a bü"));
        assert_eq!(decoded_text("plain").as_deref(), Some("plain"));
        assert_eq!(decoded("%ff").as_deref(), Some(&[0xff][..]));
        assert_eq!(decoded_text("%ff"), None);
    }

    #[test]
    fn what_is_encoded_can_be_decoded() {
        assert_eq!(encoded("a b/ü~1(c)"), "a%20b%2F%C3%BC~1(c)");
        for text in ["", "plain", "100% ü?#[]", "\u{1f980}"] {
            assert_eq!(decoded_text(&encoded(text)).as_deref(), Some(text));
        }
    }

    #[test]
    fn half_an_escape_is_none() {
        for text in ["%", "%4", "a%zz", "%+1", "%-1"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
