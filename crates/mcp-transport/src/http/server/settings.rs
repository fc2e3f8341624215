use std::time::Duration;

use mcp_core::Revisions;

use crate::Allowed;

/// The settings and limits of an [`HttpService`](super::HttpService).
///
/// Two things have no time limit here, since only the client can know one. A request runs as long
/// as its client waits: when the client disconnects, a stateless exchange is cancelled, and a
/// session continues without a reader. A stream lasts as long as it is read; a client that
/// disappears silently is detected when keep-alives are no longer read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpSettings {
    /// The supported revisions. Without a legacy one there are no sessions, and GET and DELETE are
    /// not allowed.
    pub revisions: Revisions,
    /// Host names of the server. Default: loopback.
    pub hosts: Allowed,
    /// Origins whose web pages may use it. Default: loopback.
    pub origins: Allowed,
    /// Whether to send CORS headers, so that pages from these origins can read the answers. Turn it
    /// off if a layer around the service does that. Default: true.
    pub cors: bool,
    /// Maximum size of a request body in bytes. Default: 16 MiB.
    pub max_body: usize,
    /// Maximum total size of all incomplete request bodies in bytes; bodies that arrive in one
    /// piece do not count. Further requests get 503. There is always room for one body. Default:
    /// 256 MiB.
    pub max_unfinished: usize,
    /// Time for the whole body of a request to arrive. Default: 30 s.
    pub body_timeout: Duration,
    /// Maximum number of open sessions. Default: 10,000.
    pub max_sessions: usize,
    /// A session whose client never sends a second request ends after this time. Default: 1 min.
    pub session_claim: Duration,
    /// A session without requests, open streams and work in progress ends after this time.
    /// Default: 30 min.
    pub session_idle: Duration,
    /// Maximum number of unanswered requests per session. Default: 16,384.
    pub max_pending: usize,
    /// Maximum number of messages per session that wait for the application. Default: 256.
    pub inbound_queue: usize,
    /// Number of events per session that are kept for resuming clients. Default: 1,000.
    pub replay_events: usize,
    /// Number of bytes per session that are kept for resuming clients; the newest event is kept
    /// whatever its size. Default: 1 MiB.
    pub replay_bytes: usize,
    /// Maximum number of GET streams per session; beyond it the oldest ends. Default: 8.
    pub max_standalone: usize,
    /// Number of events buffered per stream for slow clients. Default: 64.
    pub stream_queue: usize,
    /// A client that does not read its stream for this long loses it. Default: 30 s.
    pub stall_timeout: Duration,
    /// How long a request of the server waits for a stream on which it can be sent. Default: 10 s.
    pub stream_wait: Duration,
    /// Interval of keep-alives on a silent stream. Default: 15 s.
    pub keep_alive: Duration,
    /// How long clients should wait before resuming a stream that ended early. Default: 1 s.
    pub retry: Duration,
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettings {
            revisions: Revisions::ALL,
            hosts: Allowed::loopback(),
            origins: Allowed::loopback(),
            cors: true,
            max_body: 16 << 20,
            max_unfinished: 256 << 20,
            body_timeout: Duration::from_secs(30),
            max_sessions: 10_000,
            session_claim: Duration::from_secs(60),
            session_idle: Duration::from_secs(30 * 60),
            max_pending: 16_384,
            inbound_queue: 256,
            replay_events: 1_000,
            replay_bytes: 1 << 20,
            max_standalone: 8,
            stream_queue: 64,
            stall_timeout: Duration::from_secs(30),
            stream_wait: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
        }
    }
}
