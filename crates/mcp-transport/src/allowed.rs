use std::net::IpAddr;

use http::{HeaderMap, Uri, header};
use mcp_core::excerpt;

/// Hosts or origins that may use the server.
///
/// Any web page can make a browser send requests to a local server, under a host name the page
/// controls; the `Host` and `Origin` headers reveal it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    anything: bool,
    loopback: bool,
    names: Vec<String>,
}

impl Allowed {
    /// Local clients only: `localhost` and loopback addresses, any port.
    pub fn loopback() -> Allowed {
        Allowed { anything: false, loopback: true, names: Vec::new() }
    }

    /// Everything. Only for servers protected by something else.
    pub fn anything() -> Allowed {
        Allowed { anything: true, ..Allowed::loopback() }
    }

    /// Nothing yet; add to it with [`Allowed::and`].
    pub fn nothing() -> Allowed {
        Allowed { loopback: false, ..Allowed::loopback() }
    }

    /// Adds one: a host (`example.com` with any port, or `example.com:8080`), or an origin
    /// (`https://example.com`), which has a scheme, a host, and a port unless it is the default
    /// one. Patterns are not supported.
    ///
    /// A trailing slash does not matter. The server logs a warning about names that can never
    /// match, such as `*` or an origin without a scheme.
    #[must_use]
    pub fn and(mut self, name: impl Into<String>) -> Allowed {
        let name = name.into();
        self.names.push(name.strip_suffix('/').unwrap_or(&name).to_owned());
        self
    }

    /// Logs which names can never be the host of a request.
    pub(crate) fn warn_as_hosts(&self) {
        self.warn("host", why_no_host);
    }

    /// Logs which names can never be the origin of a request.
    pub(crate) fn warn_as_origins(&self) {
        self.warn("origin", why_no_origin);
    }

    fn warn(&self, what: &str, why: impl Fn(&str) -> Option<&'static str>) {
        for name in &self.names {
            if let Some(why) = why(name) {
                tracing::warn!(name, "an allowed {what} can never match: {why}");
            }
        }
    }

    fn has_host(&self, authority: &str) -> bool {
        let host = without_port(authority);
        self.anything
            || self.loopback && is_loopback(host)
            || self.names.iter().any(|name| {
                name.eq_ignore_ascii_case(host)
                    || name.eq_ignore_ascii_case(authority)
                    // Clients leave out the default port.
                    || host.len() == authority.len()
                        && without_usual_port(name, &[":80", ":443"]).eq_ignore_ascii_case(host)
            })
    }

    pub(crate) fn has_origin(&self, origin: &str) -> bool {
        let authority =
            ["http://", "https://"].iter().find_map(|scheme| origin.strip_prefix(scheme));
        self.anything
            || self.loopback && authority.is_some_and(|host| is_loopback(without_port(host)))
            || self
                .names
                .iter()
                .any(|name| usual_origin(name).eq_ignore_ascii_case(usual_origin(origin)))
    }
}

/// Why a name can never be the host of a request.
fn why_no_host(name: &str) -> Option<&'static str> {
    if name.contains("://") {
        return Some("it is an origin; a host has no scheme");
    }
    why_no_authority(name)
}

/// Why a name can never be the origin of a request.
fn why_no_origin(name: &str) -> Option<&'static str> {
    match name.split_once("://") {
        Some(("" | "*", _)) => Some("patterns are not supported, and a scheme is required"),
        Some((_, authority)) => why_no_authority(authority),
        // Pages without an origin: files and sandboxed frames.
        None if name == "null" => None,
        None if name == "*" => why_no_authority(name),
        None => Some("an origin begins with its scheme: `https://example.com`"),
    }
}

fn why_no_authority(name: &str) -> Option<&'static str> {
    let is_bracketed = name.starts_with('[');
    match name {
        "" => Some("it is empty"),
        "*" => Some("patterns are not supported; `Allowed::anything` allows everything"),
        _ if name.contains('*') => Some("patterns are not supported"),
        _ if name.contains(['/', '?', '#']) => Some("it has a path"),
        _ if name.contains('@') => Some("it has a user"),
        _ if !name.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Some("it has spaces, or letters that are sent as punycode")
        }
        _ if !is_bracketed && name.matches(':').count() > 1 => {
            Some("an IPv6 address needs brackets: `[::1]`")
        }
        _ => None,
    }
}

/// An origin as browsers send it: without the default port.
fn usual_origin(origin: &str) -> &str {
    let has_scheme = |scheme: &str| {
        origin.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if has_scheme("http://") {
        without_usual_port(origin, &[":80"])
    } else if has_scheme("https://") {
        without_usual_port(origin, &[":443"])
    } else {
        origin
    }
}

fn without_usual_port<'a>(name: &'a str, ports: &[&str]) -> &'a str {
    ports.iter().find_map(|port| name.strip_suffix(port)).unwrap_or(name)
}

/// Why a request's host or origin is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceNotAllowed {
    /// It names no host, or more than one.
    #[error("the request names no host, or several")]
    Unclear,
    /// It is addressed to this host.
    #[error("the host `{}` is not served here", excerpt(.0, MAX_SHOWN))]
    Host(String),
    /// It comes from this page.
    #[error("requests from `{}` are not accepted", excerpt(.0, MAX_SHOWN))]
    Origin(String),
}

/// The maximum number of bytes of a rejected name that is sent back.
const MAX_SHOWN: usize = 200;

/// Rejects requests that are not addressed to one of `hosts`, or come from a page of another origin
/// than `origins`.
///
/// # Errors
///
/// If `hosts` do not include the host, or `origins` not the origin.
pub fn check_source(
    hosts: &Allowed,
    origins: &Allowed,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), SourceNotAllowed> {
    let mut stated = headers.get_all(header::HOST).iter();
    // Two different hosts: a proxy in front may have checked only the other one.
    let (host, None) = (stated.next(), stated.next()) else {
        return Err(SourceNotAllowed::Unclear);
    };
    if !hosts.anything {
        let host = host.map(|host| host.to_str().unwrap_or(""));
        let authority = uri.authority().map(http::uri::Authority::as_str);
        if host.or(authority).is_none() {
            return Err(SourceNotAllowed::Unclear);
        }
        for host in host.into_iter().chain(authority) {
            if !hosts.has_host(host) {
                return Err(SourceNotAllowed::Host(host.to_owned()));
            }
        }
    }
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or("");
        if !origins.has_origin(origin) {
            return Err(SourceNotAllowed::Origin(origin.to_owned()));
        }
    }
    Ok(())
}

/// `[::1]:80` is `[::1]`, `localhost:80` is `localhost`; anything else that looks like a port
/// stays.
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
    fn slashes_at_the_end_and_usual_ports_do_not_matter() {
        for name in ["https://example.com/", "https://example.com:443", "HTTPS://Example.com:443/"]
        {
            let origins = Allowed::nothing().and(name);
            assert!(origins.has_origin("https://example.com"), "{name}");
            assert!(origins.has_origin("https://example.com:443"), "{name}");
            assert!(!origins.has_origin("https://example.com:80"), "{name}");
            assert!(!origins.has_origin("http://example.com"), "{name}");
        }
        assert!(Allowed::nothing().and("http://a.example").has_origin("http://a.example:80"));
        for name in ["example.com:443", "example.com:80", "example.com/"] {
            assert!(Allowed::nothing().and(name).has_host("example.com"), "{name}");
        }
        assert!(!Allowed::nothing().and("example.com:443").has_host("example.com:80"));
        assert!(!Allowed::nothing().and("[::1]:443").has_host("[::2]"));
    }

    #[test]
    fn what_can_never_match_is_noticed() {
        for host in ["example.com", "example.com:8080", "[::1]:80", "127.0.0.1"] {
            assert_eq!(why_no_host(host), None, "{host}");
        }
        for host in [
            "",
            "*",
            "*.example.com",
            "https://example.com",
            "a.example/mcp",
            "::1",
            "b\u{fc}ch.example",
        ] {
            assert!(why_no_host(host).is_some(), "{host}");
        }
        for origin in ["https://example.com", "http://[::1]:80", "null", "vscode-webview://abc"] {
            assert_eq!(why_no_origin(origin), None, "{origin}");
        }
        for origin in [
            "",
            "*",
            "example.com",
            "https://",
            "https://*.example.com",
            "*://example.com",
            "https://example.com/app",
            "https://me@example.com",
        ] {
            assert!(why_no_origin(origin).is_some(), "{origin}");
        }
    }

    #[test]
    fn a_request_has_to_name_one_host() {
        let (local, anything) = (Allowed::loopback(), Allowed::anything());
        let uri = Uri::from_static("/mcp");
        let mut headers = HeaderMap::new();
        assert_eq!(check_source(&local, &local, &uri, &headers), Err(SourceNotAllowed::Unclear));
        assert_eq!(check_source(&anything, &local, &uri, &headers), Ok(()));
        let absolute = Uri::from_static("http://localhost/mcp");
        assert_eq!(check_source(&local, &local, &absolute, &headers), Ok(()));
        for _ in 0..2 {
            headers.append(header::HOST, http::HeaderValue::from_static("localhost"));
        }
        assert_eq!(check_source(&local, &local, &uri, &headers), Err(SourceNotAllowed::Unclear));
        assert_eq!(check_source(&anything, &local, &uri, &headers), Err(SourceNotAllowed::Unclear));
    }

    #[test]
    fn both_names_of_a_request_have_to_be_allowed() {
        let local = Allowed::loopback();
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, http::HeaderValue::from_static("localhost"));
        let foreign = Uri::from_static("http://evil.example/mcp");
        let refused = check_source(&local, &local, &foreign, &headers);
        assert_eq!(refused, Err(SourceNotAllowed::Host("evil.example".to_owned())));
    }
}
