//! Percent-encoding, as URIs have it.

use std::borrow::Cow;

/// `text` with every `%` and its two digits replaced by the byte they stand for; `None` for a `%`
/// without two hexadecimal digits.
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

/// The same where the bytes must be text.
pub(crate) fn decoded_text(text: &str) -> Option<String> {
    String::from_utf8(decoded(text)?.into_owned()).ok()
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
    fn half_an_escape_is_none() {
        for text in ["%", "%4", "a%zz", "%+1", "%-1"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
