use std::net::IpAddr;

use http::{HeaderMap, header};

/// Who may speak to a server, as far as a browser tells: a page that a victim visits can reach any
/// local port, and by rebinding its own name in DNS even under its own origin.
pub(super) fn refusal(
    headers: &HeaderMap,
    allowed_hosts: &[String],
    allowed_origins: &[String],
) -> Option<&'static str> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(|host| is_allowed_host(host, allowed_hosts)) {
        return Some("this Host is not served here");
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let are_allowed = origins.all(|origin| {
        origin.to_str().is_ok_and(|origin| is_allowed_origin(origin, allowed_origins))
    });
    (!are_allowed).then_some("this Origin is not allowed")
}

fn is_allowed_host(host: &str, allowed: &[String]) -> bool {
    let name = without_port(host);
    is_loopback(name)
        || allowed
            .iter()
            .any(|entry| entry.eq_ignore_ascii_case(host) || entry.eq_ignore_ascii_case(name))
}

fn is_allowed_origin(origin: &str, allowed: &[String]) -> bool {
    if allowed.iter().any(|entry| entry.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some_and(|host| is_loopback(without_port(host)))
}

/// `[::1]:80` is `[::1]`, `localhost:80` is `localhost`.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_loopback(name: &str) -> bool {
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::refusal;

    fn is_let_in(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert("host", host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert("origin", origin.parse().unwrap());
        }
        let hosts = ["mcp.example".to_owned()];
        let origins = ["https://app.example".to_owned()];
        refusal(&headers, &hosts, &origins).is_none()
    }

    #[test]
    fn loopback_and_what_is_listed_is_let_in() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:1", "127.8.8.8", "[::1]:9", "[::1]"] {
            assert!(is_let_in(host, None), "{host}");
        }
        assert!(is_let_in("mcp.example:8443", Some("https://app.example")));
        assert!(is_let_in("localhost:1", Some("http://localhost:3000")));
        assert!(is_let_in("localhost:1", Some("http://[::1]:3000")));
    }

    #[test]
    fn everybody_else_is_not() {
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", ":80"]
        {
            assert!(!is_let_in(host, None), "{host}");
        }
        for origin in [
            "http://evil.example",
            "null",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
            "http://evil.example/localhost",
            "ftp://localhost",
            "",
        ] {
            assert!(!is_let_in("localhost", Some(origin)), "{origin}");
        }
        assert!(refusal(&HeaderMap::new(), &[], &[]).is_some());
    }
}
