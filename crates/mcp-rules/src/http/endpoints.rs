//! The MCP endpoints among all URLs that a recording may show.

use serde::{Deserialize, Serialize};

use super::{Exchange, HeaderName, Headers, url::Url};

/// Maximum URLs kept; more than anyone needs.
const KEPT: usize = 16;

/// The URLs that messages were posted to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Endpoints {
    urls: Vec<Box<str>>,
}

/// The destination of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Destination {
    /// Unknown: no message was posted yet.
    #[default]
    Unknown,
    /// A URL that messages are posted to.
    Endpoint,
    /// Another URL of the server, for an event stream, as in the HTTP+SSE transport.
    Beside,
    /// Not the MCP server: an authorization server, for example.
    Elsewhere,
}

impl Endpoints {
    /// Whether messages are known to be posted only to other URLs.
    pub(super) fn are_elsewhere(&self, url: &str) -> bool {
        !self.urls.is_empty() && !self.has(url)
    }

    /// Records a request and returns its destination.
    pub(super) fn record(&mut self, exchange: &Exchange, headers: &Headers<'_>) -> Destination {
        if self.has(&exchange.url) {
            return Destination::Endpoint;
        }
        if !exchange.posted.is_empty() {
            if self.urls.len() < KEPT {
                self.urls.push(exchange.url.clone());
            }
            return Destination::Endpoint;
        }
        if Url::parse(&exchange.url).path.contains("/.well-known/") {
            return Destination::Elsewhere;
        }
        if self.urls.is_empty() {
            return Destination::Unknown;
        }
        let accept = headers.value(HeaderName::Accept).unwrap_or_default();
        if accept.to_ascii_lowercase().contains("text/event-stream") {
            Destination::Beside
        } else {
            Destination::Elsewhere
        }
    }

    fn has(&self, url: &str) -> bool {
        // Nearly always the spelling is the same.
        self.urls.iter().any(|known| **known == *url) || {
            let url = Url::parse(url);
            self.urls.iter().any(|known| url.is_same_place(Url::parse(known)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::exchange::{Posted, PostedKind};

    fn request(url: &str, posts: bool) -> Exchange {
        let message = Posted { id: None, name: "ping".into(), kind: PostedKind::Request };
        let posted = posts.then_some(message).into_iter().collect();
        Exchange { url: url.into(), posted, ..Exchange::default() }
    }

    #[test]
    fn messages_show_where_the_endpoint_is() {
        let stream = &[("Accept", "Text/Event-Stream")].into_iter().collect();
        let none = &Headers::new();
        let mut endpoints = Endpoints::default();
        let mut aim =
            |url: &str, posts: bool, headers| endpoints.record(&request(url, posts), headers);
        assert_eq!(aim("/mcp", false, stream), Destination::Unknown);
        assert_eq!(aim("/.well-known/x", false, stream), Destination::Elsewhere);
        assert_eq!(aim("/mcp", true, none), Destination::Endpoint);
        assert_eq!(aim("https://example.com/mcp/?a", false, none), Destination::Endpoint);
        assert_eq!(aim("/sse", false, stream), Destination::Beside);
        assert_eq!(aim("/sse", false, none), Destination::Elsewhere);
    }

    #[test]
    fn endpoints_beyond_the_limit_are_not_kept() {
        let mut endpoints = Endpoints::default();
        assert!(!endpoints.are_elsewhere("/0"));
        for number in 0..=KEPT {
            endpoints.record(&request(&format!("/{number}"), true), &Headers::new());
        }
        assert!(!endpoints.are_elsewhere(&format!("/{}", KEPT - 1)));
        assert!(endpoints.are_elsewhere(&format!("/{KEPT}")));
    }
}
