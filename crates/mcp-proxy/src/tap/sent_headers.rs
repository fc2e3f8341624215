use std::borrow::Cow;

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SET_COOKIE},
};
use mcp_rules::Headers;

/// Headers as recorded: without credentials, which never reach a recording, and in a single
/// allocation. They are judged on another thread, which would otherwise share the reference count
/// of every value with the forwarding thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentHeaders {
    /// Names and values, one after the other.
    text: String,
    /// The lengths of each name and its value.
    lengths: Vec<(usize, usize)>,
}

impl SentHeaders {
    pub(crate) fn of(headers: &HeaderMap) -> SentHeaders {
        let bytes = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        let mut sent = SentHeaders {
            text: String::with_capacity(bytes),
            lengths: Vec::with_capacity(headers.len()),
        };
        for (name, value) in headers {
            let value = shown(name, value);
            sent.text.push_str(name.as_str());
            sent.text.push_str(&value);
            sent.lengths.push((name.as_str().len(), value.len()));
        }
        sent
    }

    /// Names, in lower case, and values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut rest = &*self.text;
        self.lengths.iter().map(move |(name, value)| {
            let (this, after) = rest.split_at(name + value);
            rest = after;
            this.split_at(*name)
        })
    }

    /// The headers in the form that the rules read.
    pub(super) fn as_read(&self) -> Headers<'_> {
        self.iter().collect()
    }

    /// Approximate memory use in bytes.
    pub(super) fn size(&self) -> usize {
        self.text.len() + size_of_val(&*self.lengths)
    }
}

fn shown<'v>(name: &HeaderName, value: &'v HeaderValue) -> Cow<'v, str> {
    let text = String::from_utf8_lossy(value.as_bytes());
    match *name {
        AUTHORIZATION | PROXY_AUTHORIZATION => {
            // Keep the scheme and the length, which rules look at.
            let (scheme, rest) = text.split_once(' ').unwrap_or(("", &text));
            let space = if scheme.is_empty() { "" } else { " " };
            format!("{scheme}{space}{}", "x".repeat(rest.len())).into()
        }
        COOKIE | SET_COOKIE => "x".repeat(text.len()).into(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sent: &[(&'static str, &'static [u8])], kept: &[(&str, &str)]) {
        let headers: HeaderMap = sent
            .iter()
            .map(|(name, value)| {
                (HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap())
            })
            .collect();
        assert_eq!(SentHeaders::of(&headers).iter().collect::<Vec<_>>(), kept);
    }

    #[test]
    fn headers_are_kept_as_they_were_sent() {
        check(&[], &[]);
        check(
            &[("accept", b"a"), ("x-empty", b""), ("x-other", b"\xC3\xA9, \xFF")],
            &[("accept", "a"), ("x-empty", ""), ("x-other", "é, \u{FFFD}")],
        );
    }

    #[test]
    fn credentials_are_not_kept() {
        check(
            &[("authorization", b"Bearer secret"), ("cookie", b"a=b"), ("set-cookie", b"c")],
            &[("authorization", "Bearer xxxxxx"), ("cookie", "xxx"), ("set-cookie", "x")],
        );
        check(&[("proxy-authorization", b"secret")], &[("proxy-authorization", "xxxxxx")]);
    }
}
