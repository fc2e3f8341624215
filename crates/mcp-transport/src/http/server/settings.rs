use std::time::Duration;

use mcp_core::Revisions;

use crate::Allowed;

/// What an [`HttpService`](super::HttpService) accepts and keeps.
///
/// Two waits have no limit here, since only the client can know one. A request is worked on as long
/// as its client waits: when it hangs up, a stateless exchange is cancelled, and a session goes on
/// without a reader. A stream lasts as long as somebody reads it; who vanishes without a word is
/// noticed by the keep-alives, which nobody takes any more.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpSettings {
    /// The revisions spoken here. Without a legacy one there are no sessions: GET and DELETE are
    /// not allowed then.
    pub revisions: Revisions,
    /// Names under which the server may be addressed. Default: loopback.
    pub hosts: Allowed,
    /// Origins from which browsers may speak to it. Default: loopback.
    pub origins: Allowed,
    /// Whether pages from these origins may also read the answers: browsers are told so (CORS). To be
    /// switched off where a layer around the service does it. Default: true.
    pub cors: bool,
    /// Longest body of a request in bytes. Default: 16 MiB.
    pub max_body: usize,
    /// Bytes of all bodies together of which the rest is yet to come; what comes in one piece does
    /// not count. Requests beyond it are turned away (503). There is always room for one body.
    /// Default: 256 MiB.
    pub max_unfinished: usize,
    /// Time for the whole body of a request to arrive. Default: 30 s.
    pub body_timeout: Duration,
    /// Sessions at the same time. Default: 10,000.
    pub max_sessions: usize,
    /// A session whose client does not come back once it is open, if only to say so, ends after this
    /// time. Default: 1 min.
    pub session_claim: Duration,
    /// A session without requests, open streams and work in progress ends after this time.
    /// Default: 30 min.
    pub session_idle: Duration,
    /// Requests of one session that are not answered yet. Default: 16,384.
    pub max_pending: usize,
    /// Messages of one session that wait for the application. Default: 256.
    pub inbound_queue: usize,
    /// Events of one session that are kept for clients that come back. Default: 1,000.
    pub replay_events: usize,
    /// Bytes of one session that are kept for clients that come back; the newest event is kept
    /// whatever its length. Default: 1 MiB.
    pub replay_bytes: usize,
    /// Streams of one session that clients open by GET; beyond it the oldest ends. Default: 8.
    pub max_standalone: usize,
    /// Events that wait in one stream for a client that reads slowly. Default: 64.
    pub stream_queue: usize,
    /// After this time a client that does not read its stream loses it. Default: 30 s.
    pub stall_timeout: Duration,
    /// How long a request of the server waits for a stream on which it can be sent. Default: 10 s.
    pub stream_wait: Duration,
    /// How often a silent stream shows that it is alive. Default: 15 s.
    pub keep_alive: Duration,
    /// After which time clients may come back to a stream that ended early. Default: 1 s.
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
