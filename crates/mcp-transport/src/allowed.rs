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
    if !hosts.anything {
        let mut named = false;
        let stated = headers.get_all(header::HOST).iter().map(|value| value.to_str().unwrap_or(""));
        for host in stated.chain(uri.authority().map(http::uri::Authority::as_str)) {
            named = true;
            if !hosts.has_host(host) {
                return Err(Foreign::Host(host.to_owned()));
            }
        }
        if !named {
            return Err(Foreign::Host(String::new()));
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
    fn a_request_that_names_no_host_is_foreign() {
        let local = Allowed::loopback();
        let uri = Uri::from_static("/mcp");
        let refused = admit(&local, &local, &uri, &HeaderMap::new());
        assert_eq!(refused, Err(Foreign::Host(String::new())));
        assert_eq!(admit(&Allowed::anything(), &local, &uri, &HeaderMap::new()), Ok(()));
    }
}
