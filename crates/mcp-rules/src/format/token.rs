//! HTTP tokens (RFC 9110 §5.6.2) and the media types made of them.

/// Whether `text` is an HTTP token (RFC 9110 §5.6.2): non-empty and without separators.
pub fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().copied().all(is_tchar)
}

const fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}

/// Whether `text` is `type/subtype`, optionally followed by a semicolon and anything else.
pub(crate) fn is_media_type(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| *byte == b';');
    let essence = text[..end.unwrap_or(text.len())].trim_ascii_end();
    let Some(slash) = essence.iter().position(|byte| *byte == b'/') else {
        return false;
    };
    is_token(&essence[..slash]) && is_token(&essence[slash + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_have_two_tokens() {
        for text in [
            "image/png",
            "image/svg+xml; charset=utf-8",
            "audio/x-wav;codec=1",
            "image/vnd.example",
            "image/png ;a=b",
        ] {
            assert!(is_media_type(text.as_bytes()), "{text}");
        }
        for text in ["", "png", ".png", "image/", "/png", "image/png/x", "im age/png", " image/png"]
        {
            assert!(!is_media_type(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn tokens_have_no_separators() {
        assert!(is_token(b"X-Region.2"));
        for text in ["", "a b", "a:b", "a\u{0}", "vær", "a/b", "\"a\""] {
            assert!(!is_token(text.as_bytes()), "{text}");
        }
    }
}
