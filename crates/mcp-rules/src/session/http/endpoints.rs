//! Where MCP is spoken, among all that a recording may show.

use serde::{Deserialize, Serialize};

use super::{Exchange, Headers, url::Url};

/// Addresses that are kept; nobody has more.
const KEPT: usize = 16;

/// The addresses that messages were posted to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Endpoints {
    urls: Vec<Box<str>>,
}

impl Endpoints {
    /// Whether messages are known to be posted to other places only.
    pub(super) fn are_elsewhere(&self, url: &str) -> bool {
        let url = Url::parse(url);
        !self.urls.is_empty() && !self.urls.iter().any(|known| url.is_same_place(Url::parse(known)))
    }

    /// Takes in a request. Says whether it has nothing to do with MCP itself: it carries no
    /// message, opens no stream, and goes to another place than the messages do.
    pub(super) fn take_in(&mut self, exchange: &Exchange, headers: Headers<'_>) -> bool {
        let url = Url::parse(&exchange.url);
        let known = self.urls.iter().any(|known| url.is_same_place(Url::parse(known)));
        if !exchange.posted.is_empty() {
            if !known && self.urls.len() < KEPT {
                self.urls.push(exchange.url.clone());
            }
            return false;
        }
        let accept = headers.get("accept").unwrap_or_default();
        if known || accept.to_ascii_lowercase().contains("text/event-stream") {
            return false;
        }
        !self.urls.is_empty() || url.path.contains("/.well-known/")
    }
}
