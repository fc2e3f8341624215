//! Secrets in text that is not JSON: `"name": "value"` in a broken message, `NAME=value` in a log
//! line, `Bearer …` anywhere, users and passwords in URLs.

use std::ops::Range;

use super::Wanted;

/// Longer names are ignored, so that the work stays proportional to the length of the text.
const LONGEST_NAME: usize = 128;

/// Shorter words after `Bearer ` are prose rather than tokens, and so are words without digits.
const SHORTEST_TOKEN: usize = 8;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) range: Range<usize>,
    /// Whether it is the content of a JSON string.
    pub(super) is_json: bool,
}

/// The secrets in `text`, in order.
pub(super) fn secrets(text: &[u8], wanted: &Wanted) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for at in memchr::memchr3_iter(b':', b'=', b' ', text) {
        if found.last().is_some_and(|last| at < last.range.end) {
            continue;
        }
        let secret = match text[at] {
            b' ' if wanted.guesses => after_scheme(text, at),
            b' ' => None,
            b':' if wanted.guesses && text[at..].starts_with(b"://") => user_info(text, at + 3),
            _ => after_name(text, at, wanted),
        };
        found.extend(secret.filter(|secret| !secret.range.is_empty()));
    }
    found
}

/// The credentials after `Bearer` or `Basic`, which end at `at`.
fn after_scheme(text: &[u8], at: usize) -> Option<Found> {
    let ends_with = |word: &[u8]| {
        at.checked_sub(word.len()).is_some_and(|start| text[start..at].eq_ignore_ascii_case(word))
    };
    if !ends_with(b"bearer") && !ends_with(b"basic") {
        return None;
    }
    let start = at + 1;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
    let length = text[start..].iter().take_while(|byte| is_part(byte)).count();
    let token = &text[start..start + length];
    (length >= SHORTEST_TOKEN && token.iter().any(u8::is_ascii_digit))
        .then(|| Found { range: start..start + length, is_json: false })
}

/// The user and password of a URL whose host begins at `start`. A user without a password is secret
/// if it looks like a token, which `git@` does not.
fn user_info(text: &[u8], start: usize) -> Option<Found> {
    let rest = &text[start..];
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/?#\"'<>\\".contains(byte);
    let authority = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let length = memchr::memrchr(b'@', authority)?;
    let is_secret = |byte: &u8| *byte == b':' || byte.is_ascii_digit();
    authority[..length]
        .iter()
        .any(is_secret)
        .then(|| Found { range: start..start + length, is_json: false })
}

/// The value of the name before the `:` or `=` at `at`.
fn after_name(text: &[u8], at: usize, wanted: &Wanted) -> Option<Found> {
    let name = name_before(text, at)?;
    if !wanted.is_secret(name.0) {
        return None;
    }
    let spaces = text[at + 1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let mut start = at + 1 + if text[at] == b':' { spaces } else { 0 };
    let escapes = text[start..].iter().take_while(|byte| **byte == b'\\').count();
    if let Some(quote @ (b'"' | b'\'')) = text.get(start + escapes).copied() {
        start += escapes + 1;
        let length = quoted_length(&text[start..], quote, escapes > 0);
        let is_json = quote == b'"' && escapes == 0;
        return Some(Found { range: start..start + length, is_json });
    }
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"&;,\"'\\)}]<>".contains(byte);
    let rest = &text[start..];
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    // In prose, a word without digits after a colon is an explanation, not a secret.
    let is_prose = text[at] == b':' && !name.1;
    if is_prose && !rest[..length].iter().any(u8::is_ascii_digit) {
        return None;
    }
    Some(Found { range: start..start + length, is_json: false })
}

/// The name that ends before `at`, and whether it is in quotes.
fn name_before(text: &[u8], at: usize) -> Option<(&str, bool)> {
    let before = &text[at.saturating_sub(LONGEST_NAME)..at];
    let before = before.trim_ascii_end();
    let (before, is_quoted) = match before.strip_suffix(b"\"") {
        Some(rest) => (rest.strip_suffix(b"\\").unwrap_or(rest), true),
        None => (before, false),
    };
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let start = before.iter().rposition(|byte| !is_part(byte)).map_or(0, |position| position + 1);
    let name = std::str::from_utf8(&before[start..]).ok()?;
    (!name.is_empty()).then_some((name, is_quoted))
}

/// Length of the text up to the closing quote, or to the end if there is none.
fn quoted_length(text: &[u8], quote: u8, is_escaped: bool) -> usize {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if byte == quote || byte == b'\\' && is_escaped {
            return at;
        }
        at += if byte == b'\\' { 2 } else { 1 };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = secrets(text.as_bytes(), &Wanted::default());
        let found: Vec<&str> = found.into_iter().map(|found| &text[found.range]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn values_of_secret_names_are_found() {
        check(r#"{"password": "a\"b", "name": "c""#, &[r#"a\"b"#]);
        check(r#"{"token":"never ends"#, &["never ends"]);
        check(r#"{"token":123,"x":4"#, &["123"]);
        check(r#"{\"token\":\"abc\"}"#, &["abc"]);
        check("GITHUB_TOKEN=ghp_1 node server.js", &["ghp_1"]);
        check("password='a b' x=1", &["a b"]);
        check("password: hunter2", &["hunter2"]);
        check("authorization: Bearer abcdef123456", &["abcdef123456"]);
    }

    #[test]
    fn credentials_in_urls_are_found() {
        check("postgres://joe:s3cr3t@db.example/x", &["joe:s3cr3t"]);
        check("see (https://joe:a@b@h.example) and ws://x?a@b", &["joe:a@b"]);
        check("git clone https://ghp_1a2b3c@h.example/x", &["ghp_1a2b3c"]);
        check("ssh://git@h.example/x, http://h.example:80/@x, ://, http://", &[]);
        check("url=https://joe:pw@h.example&token=abc", &["joe:pw", "abc"]);
    }

    #[test]
    fn prose_is_left_alone() {
        check("password: required", &[]);
        check("a bearer token is needed; basic authentication is not enough", &[]);
        check("progressToken=1, tokens: 5", &[]);
        check("=:= : ==", &[]);
    }
}
