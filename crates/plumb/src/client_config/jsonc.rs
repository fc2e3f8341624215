//! JSON with comments and trailing commas, as configuration files have them.

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// `text` as plain JSON of the same length: comments, trailing commas and a byte order mark become
/// spaces, so that every position stays what it was.
pub(super) fn to_json(text: &[u8]) -> Vec<u8> {
    let mut json = text.to_vec();
    let mut at = 0;
    if json.starts_with(BOM) {
        json[..BOM.len()].fill(b' ');
        at = BOM.len();
    }
    // The last byte that is neither space nor comment, and the one before it.
    let (mut last, mut before_last) = (None, None);
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        let length = match byte {
            b'"' => string_length(rest),
            b'/' => comment_length(rest),
            _ => 1,
        };
        let end = at + length;
        if byte == b'/' && length > 1 {
            blank(&mut json[at..end]);
        } else if !byte.is_ascii_whitespace() {
            if let (b'}' | b']', Some((comma, b',')), Some(before)) = (byte, last, before_last)
                && !matches!(before, b'{' | b'[' | b',')
            {
                json[comma] = b' ';
            }
            before_last = last.map(|(_, byte)| byte);
            last = Some((at, byte));
        }
        at = end;
    }
    json
}

/// Length of the string at the start of `text`, which may have no end.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Length of the comment at the start of `text`; 1 if there is none, or none that ends.
fn comment_length(text: &[u8]) -> usize {
    match text.get(1) {
        Some(b'/') => {
            text.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(text.len())
        }
        Some(b'*') => {
            text[2..].windows(2).position(|end| end == b"*/").map_or(1, |position| position + 4)
        }
        _ => 1,
    }
}

fn blank(text: &mut [u8]) {
    for byte in text.iter_mut().filter(|byte| !byte.is_ascii_whitespace()) {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let json = to_json(text.as_bytes());
        assert_eq!(json.len(), text.len());
        assert_eq!(String::from_utf8_lossy(&json), expected);
    }

    #[test]
    fn comments_become_spaces_of_the_same_length() {
        check("{ // a \"b\n}", "{        \n}");
        check("[1/* 2\n, */,3]", "[1    \n    ,3]");
        check("[1] // ä", "[1]      ");
        check("\u{feff}{}", "   {}");
    }

    #[test]
    fn trailing_commas_become_spaces() {
        check("[1, ]", "[1  ]");
        check("{\"a\":[1,/**/],\n}", "{\"a\":[1     ] \n}");
    }

    #[test]
    fn strings_stay() {
        check(r#"["// no", "\"/*", "a,]"]"#, r#"["// no", "\"/*", "a,]"]"#);
        check(r#"["\\",]"#, r#"["\\" ]"#);
    }

    #[test]
    fn what_is_wrong_stays_wrong() {
        for text in
            ["[,]", "{,}", "[1,,]", "[1 /* no end", "[1 / 2]", "\"no end", "\"\\", "/", "/*/"]
        {
            check(text, text);
        }
    }
}
