use std::{fmt, time::Duration};

use http::HeaderMap;

use crate::http::watch::WatchFactory;

/// Settings and limits of a client.
#[derive(Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers set what they need and keep the other defaults"
)]
pub struct HttpSettings {
    /// Sent with every request, `Authorization` for example. Their values are never shown.
    pub headers: HeaderMap,
    /// How long it may take to reach the server: name lookup, TCP and TLS together.
    pub connect_timeout: Duration,
    /// How long the server may take to accept a notification or an answer.
    pub accept_timeout: Duration,
    /// How long the server may take to begin its response to a request. Default: no limit, as callers
    /// usually set a timeout of their own.
    pub answer_timeout: Option<Duration>,
    /// How long [`close`](mcp_core::Transport::close) waits for the server to end the session.
    pub close_timeout: Duration,
    /// The longest message, in bytes. A longer event is skipped, a longer body is not read, and
    /// nothing longer is sent.
    pub max_message: usize,
    /// The longest head of a response, in bytes; at least 8 KiB.
    pub max_head: usize,
    /// How many requests may be in flight; further ones wait until one is answered or abandoned.
    pub max_exchanges: usize,
    /// How many received messages may be queued before streams are no longer read.
    pub inbox: usize,
    /// How often a broken stream is resumed without receiving anything new.
    pub resume_attempts: u32,
    /// How long to wait before reconnecting if the server does not say.
    pub retry: Duration,
    /// The longest such delay. If the server asks for more, the client gives up instead of retrying
    /// early.
    pub max_retry: Duration,
    /// Whether to open the stream on which servers before 2026-07-28 send notifications and
    /// requests.
    pub listen: bool,
    /// Sees the HTTP traffic of each conversation.
    pub watch: Option<WatchFactory>,
    /// TLS configuration; by default the system's certificates are trusted.
    #[cfg(feature = "tls")]
    pub tls: Option<std::sync::Arc<rustls::ClientConfig>>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettings {
            headers: HeaderMap::new(),
            connect_timeout: Duration::from_secs(10),
            accept_timeout: Duration::from_secs(30),
            answer_timeout: None,
            close_timeout: Duration::from_secs(2),
            max_message: 16 << 20,
            max_head: 64 << 10,
            max_exchanges: 512,
            inbox: 64,
            resume_attempts: 5,
            retry: Duration::from_secs(1),
            max_retry: Duration::from_secs(300),
            listen: true,
            watch: None,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(http::HeaderName::as_str).collect();
        f.debug_struct("HttpSettings")
            .field("headers", &names)
            .field("connect_timeout", &self.connect_timeout)
            .field("accept_timeout", &self.accept_timeout)
            .field("answer_timeout", &self.answer_timeout)
            .field("max_message", &self.max_message)
            .field("max_exchanges", &self.max_exchanges)
            .field("inbox", &self.inbox)
            .field("resume_attempts", &self.resume_attempts)
            .field("retry", &self.retry)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}
