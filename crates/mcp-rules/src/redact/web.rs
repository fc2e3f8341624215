//! Secrets in URLs, forms and headers.

use std::{hash::BuildHasher, ops::Range};

use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{
    mask::mask,
    names::{HeaderKind, is_secret_parameter},
};

/// Masks credentials and secret parameters in a URL or a form.
pub(super) fn mask_url(keys: &impl BuildHasher, url: &mut [u8]) {
    if let Some(range) = user_info(url) {
        mask(keys, &mut url[range]);
    }
    mask_pairs(keys, url);
}

/// Masks the secret parameters of a form, or of a query.
fn mask_pairs(keys: &impl BuildHasher, text: &mut [u8]) {
    for pair in text.split_mut(|byte| matches!(byte, b'&' | b'#' | b'?')) {
        let Some(end) = memchr::memchr(b'=', pair) else { continue };
        let (name, value) = pair.split_at_mut(end);
        if std::str::from_utf8(name).is_ok_and(is_secret_parameter) {
            mask(keys, &mut value[1..]);
        }
    }
}

/// Whether a text could be a form.
pub(super) fn is_form(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%+&=*:/?@".contains(byte);
    memchr::memchr(b'=', text).is_some() && text.iter().all(is_part)
}

/// Masks the value of a header.
pub(super) fn mask_header(keys: &impl BuildHasher, kind: HeaderKind, value: &mut [u8]) {
    match kind {
        HeaderKind::Secret => mask(keys, value),
        HeaderKind::Parameter => mask_parameter(keys, value),
        HeaderKind::Cookies => {
            value.split_mut(|byte| *byte == b';').for_each(|pair| mask_cookie(keys, pair));
        }
        HeaderKind::SetCookie => {
            let first = memchr::memchr(b';', value).unwrap_or(value.len());
            mask_cookie(keys, &mut value[..first]);
        }
        HeaderKind::Url => mask_url(keys, value),
    }
}

fn mask_cookie(keys: &impl BuildHasher, pair: &mut [u8]) {
    let start = memchr::memchr(b'=', pair).map_or(0, |position| position + 1);
    mask(keys, &mut pair[start..]);
}

/// Masks an argument as it would be masked in a message.
fn mask_parameter(keys: &impl BuildHasher, value: &mut [u8]) {
    let encoded = value
        .strip_prefix(b"=?base64?")
        .and_then(|rest| rest.strip_suffix(b"?="))
        .and_then(|encoded| BASE64_STANDARD.decode(encoded).ok());
    match encoded {
        Some(mut text) => {
            mask(keys, &mut text);
            let end = value.len() - 2;
            value[9..end].copy_from_slice(BASE64_STANDARD.encode(text).as_bytes());
        }
        None => mask(keys, value),
    }
}

/// The range of the user information in a URL.
fn user_info(url: &[u8]) -> Option<Range<usize>> {
    let start = memchr::memmem::find(url, b"://")? + 3;
    let rest = &url[start..];
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    let at = memchr::memrchr(b'@', &rest[..end])?;
    Some(start..start + at)
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasherDefault, DefaultHasher};

    use super::*;

    type Keys = BuildHasherDefault<DefaultHasher>;

    #[track_caller]
    fn check(mask: impl Fn(&Keys, &mut [u8]), text: &str, kept: &[&str], gone: &[&str]) {
        let mut bytes = text.as_bytes().to_vec();
        mask(&Keys::default(), &mut bytes);
        let masked = String::from_utf8(bytes).unwrap();
        assert_eq!(masked.len(), text.len());
        for part in kept {
            assert!(masked.contains(part), "{masked}");
        }
        for part in gone {
            assert!(text.contains(part) && !masked.contains(part), "{masked}");
        }
    }

    #[test]
    fn urls_keep_all_but_secrets() {
        let url = "https://user:pass@host.example:8080/mcp?x=1&access_token=abcdef&code=123456#y";
        let kept = ["https://", "@host.example:8080/mcp?x=1&access_token=", "&code=", "#y"];
        check(mask_url, url, &kept, &["user:pass", "abcdef", "123456"]);
        check(mask_url, "/messages?sessionId=abcdef", &["/messages?sessionId="], &["abcdef"]);
        check(mask_url, "/a@b?x=c", &["/a@b?x=c"], &[]);
    }

    #[test]
    fn forms_keep_all_but_secrets() {
        let form = "grant_type=authorization_code&code=abcdef&client_secret=q%2Fwerty";
        assert!(is_form(form.as_bytes()) && !is_form(b"a = b") && !is_form(b"plain"));
        let kept = ["grant_type=authorization_code&code=", "&client_secret=", "%2F"];
        check(mask_pairs, form, &kept, &["abcdef", "werty"]);
    }

    #[test]
    fn cookies_keep_their_names() {
        let cookies = |keys: &Keys, text: &mut [u8]| mask_header(keys, HeaderKind::Cookies, text);
        check(cookies, "sid=abcdef; theme=darkest", &["sid=", "; theme="], &["abcdef", "darkest"]);
        let set = |keys: &Keys, text: &mut [u8]| mask_header(keys, HeaderKind::SetCookie, text);
        check(set, "sid=abcdef; Path=/; HttpOnly", &["sid=", "; Path=/; HttpOnly"], &["abcdef"]);
    }

    #[test]
    fn an_argument_in_a_header_is_masked_like_the_argument() {
        let keys = Keys::default();
        let mut argument = "gehéim".as_bytes().to_vec();
        let encoded = format!("=?base64?{}?=", BASE64_STANDARD.encode(&argument));
        let mut header = encoded.into_bytes();
        mask(&keys, &mut argument);
        mask_header(&keys, HeaderKind::Parameter, &mut header);
        let expected = format!("=?base64?{}?=", BASE64_STANDARD.encode(&argument));
        assert_eq!(header, expected.into_bytes());
    }
}
