use std::net::IpAddr;

use http::{HeaderMap, Uri, header};

/// Hosts or origins that may take part.
///
/// A page from anywhere can make a browser send requests to a local server, under a name it
/// controls; the two headers give it away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    anything: bool,
    loopback: bool,
    names: Vec<String>,
}

impl Allowed {
    /// This machine only: `localhost` and loopback addresses, any port.
    pub fn loopback() -> Allowed {
        Allowed { anything: false, loopback: true, names: Vec::new() }
    }

    /// Everything. Only for servers that something else protects.
    pub fn anything() -> Allowed {
        Allowed { anything: true, ..Allowed::loopback() }
    }

    /// Nothing yet, to build upon with [`Allowed::and`].
    pub fn nothing() -> Allowed {
        Allowed { loopback: false, ..Allowed::loopback() }
    }

    /// These and one more: a host (`example.com` with any port, or `example.com:8080`), or an
    /// origin (`https://example.com`).
    #[must_use]
    pub fn and(mut self, name: impl Into<String>) -> Allowed {
        self.names.push(name.into());
        self
    }

    fn has_host(&self, authority: &str) -> bool {
        let host = without_port(authority);
        self.anything
            || self.loopback && is_loopback(host)
            || self
                .names
                .iter()
                .any(|name| name.eq_ignore_ascii_case(host) || name.eq_ignore_ascii_case(authority))
    }

    pub(crate) fn has_origin(&self, origin: &str) -> bool {
        let authority =
            ["http://", "https://"].iter().find_map(|scheme| origin.strip_prefix(scheme));
        self.anything
            || self.loopback && authority.is_some_and(|host| is_loopback(without_port(host)))
            || self.names.iter().any(|name| name.eq_ignore_ascii_case(origin))
    }
}

/// Why a request does not come from where it may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// It names no host, or several.
    Unclear,
    Host(String),
    Origin(String),
}

/// Refuses requests under a foreign name or from a foreign page.
pub(crate) fn admit(
    hosts: &Allowed,
    origins: &Allowed,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Foreign> {
    let mut stated = headers.get_all(header::HOST).iter();
    // What is in front of the server may have looked at the other one.
    let (host, None) = (stated.next(), stated.next()) else { return Err(Foreign::Unclear) };
    if !hosts.anything {
        let host = host.map(|host| host.to_str().unwrap_or(""));
        let authority = uri.authority().map(http::uri::Authority::as_str);
        if host.or(authority).is_none() {
            return Err(Foreign::Unclear);
        }
        for host in host.into_iter().chain(authority) {
            if !hosts.has_host(host) {
                return Err(Foreign::Host(host.to_owned()));
            }
        }
    }
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or("");
        if !origins.has_origin(origin) {
            return Err(Foreign::Origin(origin.to_owned()));
        }
    }
    Ok(())
}

/// `[::1]:80` is `[::1]`, `localhost:80` is `localhost`; what only looks like a port stays.
fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_hosts_pass_with_any_port() {
        for host in ["localhost", "LocalHost:80", "127.0.0.1:1", "[::1]", "[::1]:8080", "127.9.9.9"]
        {
            assert!(Allowed::loopback().has_host(host), "{host}");
        }
    }

    #[test]
    fn names_that_only_look_local_are_foreign() {
        for host in [
            "",
            "localhost.evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "localhost:80@evil.example",
            "[::2]",
            "]",
            "[",
            ":",
            "0.0.0.0",
        ] {
            assert!(!Allowed::loopback().has_host(host), "{host}");
        }
    }

    #[test]
    fn origins_need_a_scheme_and_a_local_host() {
        for origin in ["http://localhost", "https://127.0.0.1:3000", "http://[::1]:1"] {
            assert!(Allowed::loopback().has_origin(origin), "{origin}");
        }
        for origin in [
            "null",
            "",
            "localhost",
            "http://evil.example",
            "file://localhost",
            "http://localhost@evil.example",
            "http://localhost:80@evil.example",
            "http://localhost.evil.example",
            "http://evil.example/localhost",
        ] {
            assert!(!Allowed::loopback().has_origin(origin), "{origin}");
        }
    }

    #[test]
    fn listed_names_pass_and_nothing_else_does() {
        let hosts = Allowed::nothing().and("Example.com").and("other.example:8080");
        assert!(hosts.has_host("example.com:443"));
        assert!(hosts.has_host("other.example:8080"));
        assert!(!hosts.has_host("other.example:9"));
        assert!(!hosts.has_host("localhost"));
        let origins = Allowed::nothing().and("https://example.com");
        assert!(origins.has_origin("https://example.com"));
        assert!(!origins.has_origin("http://example.com"));
    }

    #[test]
    fn a_request_has_to_name_one_host() {
        let (local, anything) = (Allowed::loopback(), Allowed::anything());
        let uri = Uri::from_static("/mcp");
        let mut headers = HeaderMap::new();
        assert_eq!(admit(&local, &local, &uri, &headers), Err(Foreign::Unclear));
        assert_eq!(admit(&anything, &local, &uri, &headers), Ok(()));
        let absolute = Uri::from_static("http://localhost/mcp");
        assert_eq!(admit(&local, &local, &absolute, &headers), Ok(()));
        for _ in 0..2 {
            headers.append(header::HOST, http::HeaderValue::from_static("localhost"));
        }
        assert_eq!(admit(&local, &local, &uri, &headers), Err(Foreign::Unclear));
        assert_eq!(admit(&anything, &local, &uri, &headers), Err(Foreign::Unclear));
    }

    #[test]
    fn both_names_of_a_request_have_to_be_allowed() {
        let local = Allowed::loopback();
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, http::HeaderValue::from_static("localhost"));
        let foreign = Uri::from_static("http://evil.example/mcp");
        let refused = admit(&local, &local, &foreign, &headers);
        assert_eq!(refused, Err(Foreign::Host("evil.example".to_owned())));
    }
}
