//! Web origins as in the `Origin` header: scheme, host and port (RFC 6454 §6.2).

/// An origin normalised for comparison: lowercase, no default port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WebOrigin(String);

impl WebOrigin {
    /// Parses `scheme://host`, `scheme://host:port`, or `null`, which is an opaque origin.
    pub(crate) fn parse(text: &str) -> Option<WebOrigin> {
        let text = text.trim_matches([' ', '\t']).to_ascii_lowercase();
        if text == "null" {
            return Some(WebOrigin(text));
        }
        let (scheme, authority) = text.split_once("://")?;
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"/?#@\\".contains(&byte);
        let named = !scheme.is_empty() && !authority.is_empty();
        if !named || !scheme.bytes().chain(authority.bytes()).all(plain) {
            return None;
        }
        let host = match default_port(scheme) {
            Some(port) => authority.strip_suffix(port).unwrap_or(authority),
            None => authority,
        };
        Some(WebOrigin(format!("{scheme}://{host}")))
    }
}

fn default_port(scheme: &str) -> Option<&'static str> {
    match scheme {
        "http" => Some(":80"),
        "https" => Some(":443"),
        _ => None,
    }
}

/// Whether `text` is a web origin, as listed in `Settings::allowed_origins`.
pub fn is_web_origin(text: &str) -> bool {
    WebOrigin::parse(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_default_port_do_not_matter() {
        let same =
            ["https://app.example.com", "HTTPS://App.Example.com", "https://app.example.com:443"];
        for text in same {
            assert_eq!(WebOrigin::parse(text), WebOrigin::parse(same[0]), "{text}");
        }
        let others = [
            "http://app.example.com",
            "https://app.example.com:8443",
            "https://app.example.com.evil.net",
            "null",
        ];
        for text in others {
            assert!(WebOrigin::parse(text).is_some(), "{text}");
            assert_ne!(WebOrigin::parse(text), WebOrigin::parse(same[0]), "{text}");
        }
    }

    #[test]
    fn paths_and_bare_hosts_are_none() {
        for text in [
            "",
            "example.com",
            "https://",
            "://host",
            "https://a/",
            "https://u@a",
            "https://a b",
            "*",
        ] {
            assert!(!is_web_origin(text), "{text}");
        }
    }
}
