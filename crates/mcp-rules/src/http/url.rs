//! URLs, as far as needed to tell where a request goes.

use std::borrow::Cow;

/// The parts of a URL. Nothing is decoded or normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Url<'a> {
    /// Without the colon.
    pub(super) scheme: Option<&'a str>,
    /// User information, host and port.
    authority: Option<&'a str>,
    pub(super) path: &'a str,
    pub(super) query: &'a str,
    pub(super) has_fragment: bool,
    /// Everything before the path, as written.
    origin: &'a str,
}

impl<'a> Url<'a> {
    /// Splits any text; recordings have full URLs, or just the path.
    pub(super) fn parse(text: &'a str) -> Url<'a> {
        let (text, has_fragment) = match text.split_once('#') {
            Some((before, _)) => (before, true),
            None => (text, false),
        };
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        let scheme = text.split_once(':').map(|(scheme, _)| scheme).filter(|name| is_scheme(name));
        let rest = scheme.map_or(text, |scheme| &text[scheme.len() + 1..]);
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                (Some(&rest[..end]), &rest[end..])
            }
            None => (None, rest),
        };
        let origin = &text[..text.len() - path.len()];
        Url { scheme, authority, path, query, has_fragment, origin }
    }

    /// Scheme, host and port; `None` if only a path was recorded.
    pub(super) fn origin(self) -> Option<&'a str> {
        (self.scheme.is_some() && self.authority.is_some()).then_some(self.origin)
    }

    pub(super) fn is_https(self) -> bool {
        self.scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"))
    }

    /// Whether it refers to the local machine.
    pub(super) fn is_local(self) -> bool {
        let host = self.host();
        host.eq_ignore_ascii_case("localhost")
            || host == "[::1]"
            || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
    }

    fn host(self) -> &'a str {
        let authority = self.authority.unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        match host.find(']') {
            Some(end) => &host[..=end],
            None => host.split(':').next().unwrap_or_default(),
        }
    }

    /// Whether both refer to the same resource, ignoring queries. If one was recorded without its
    /// host, only the paths are compared.
    pub(super) fn is_same_place(self, other: Url<'_>) -> bool {
        let path = |url: Url<'_>| url.path.trim_end_matches('/').len();
        let same_host = match (self.origin(), other.origin()) {
            (Some(mine), Some(yours)) => mine.eq_ignore_ascii_case(yours),
            _ => true,
        };
        same_host && self.path[..path(self)] == other.path[..path(other)]
    }

    /// The decoded values of a query parameter.
    pub(super) fn parameters(self, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
        form_values(self.query, name)
    }
}

/// The decoded values of `name` in a form or query.
pub(super) fn form_values<'a>(form: &'a str, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
    // Most URLs have no query, and splitting an empty one would yield one empty parameter.
    let pairs = (!form.is_empty()).then(|| form.split('&')).into_iter().flatten();
    pairs.filter_map(move |pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(key) == name).then(|| decode(value))
    })
}

/// Decodes percent-encoding and plus signs. Malformed sequences are kept as they are.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        bytes.push(match (first, after) {
            (b'+', _) => b' ',
            (b'%', [high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    rest = after;
                    16 * high + low
                }
                _ => b'%',
            },
            _ => *first,
        });
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_parts() {
        let url = Url::parse("https://me@Example.com:8443/a/b?x=1&y#z");
        assert_eq!((url.origin(), url.path), (Some("https://me@Example.com:8443"), "/a/b"));
        assert_eq!((url.query, url.has_fragment, url.host()), ("x=1&y", true, "Example.com"));
        let url = Url::parse("/mcp?a=b:c");
        assert_eq!((url.scheme, url.origin(), url.path), (None, None, "/mcp"));
        let url = Url::parse("com.example.app:/callback");
        assert_eq!((url.scheme, url.origin()), (Some("com.example.app"), None));
        for text in ["mcp.example.com", "/a:b", "a/b:c", "1a:b"] {
            assert_eq!((Url::parse(text).scheme, Url::parse(text).path), (None, text));
        }
        assert_eq!(Url::parse("https://example.com").path, "");
        for text in ["", "#", "?", ":", "//", "http:", "http://", "://x", "%"] {
            let _ = Url::parse(text).is_local();
        }
    }

    #[test]
    fn local_addresses_are_known() {
        for text in [
            "http://localhost",
            "http://LOCALHOST:3000/x",
            "http://127.0.0.1:1/",
            "http://[::1]:80/",
        ] {
            assert!(Url::parse(text).is_local(), "{text}");
        }
        for text in [
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "/localhost",
            "http://[::2]",
        ] {
            assert!(!Url::parse(text).is_local(), "{text}");
        }
    }

    #[test]
    fn places_are_the_same_whatever_the_query() {
        let same = |a: &str, b: &str| Url::parse(a).is_same_place(Url::parse(b));
        assert!(same("https://example.com/mcp?a", "HTTPS://Example.com/mcp/"));
        assert!(same("/mcp", "https://example.com/mcp"));
        assert!(!same("https://example.com/mcp", "https://example.org/mcp"));
        assert!(!same("/mcp", "/MCP"));
    }

    #[test]
    fn parameters_are_decoded() {
        let all = |form: &str, name: &str| -> Vec<String> {
            form_values(form, name).map(Cow::into_owned).collect()
        };
        assert_eq!(all("a=1&b=x+y%2Fz&a=%C3%A6", "a"), ["1", "æ"]);
        assert_eq!(all("a=1&b=x+y%2Fz", "b"), ["x y/z"]);
        assert_eq!(all("access%5Ftoken=t", "access_token"), ["t"]);
        assert_eq!(all("a&b=%&c=%4&d=%zz", "b"), ["%"]);
        assert_eq!(all("a&b=%&c=%4&d=%zz", "d"), ["%zz"]);
        assert_eq!(all("a", "a"), [""]);
        assert!(all("", "a").is_empty());
    }
}
