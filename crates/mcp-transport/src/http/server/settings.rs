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
    /// piece do not count. Further requests get 503. The last quarter is for bodies of at most
    /// 64 KiB, and there is always room for one body. Default: 256 MiB.
    pub max_unfinished: usize,
    /// Time for the whole body of a request to arrive. Default: 30 s.
    pub body_timeout: Duration,
    /// Maximum number of open sessions. Beyond it, an idle session is ended: one that was never used
    /// since it was opened, or else the one idle for longest. If none is idle, the client gets 503.
    /// Default: 10,000.
    pub max_sessions: usize,
    /// Maximum number of open sessions of a [principal](super::Application::principal). Beyond it,
    /// an idle one of these is ended; if none is idle, the client gets 429. Default: 1,000.
    pub max_sessions_per_principal: usize,
    /// The same for the sessions that were opened without a principal from one address, or one /64
    /// network of IPv6, as far as the [address is known](super::RemoteAddress). Loopback addresses
    /// do not count: a proxy on the same machine has them for all of its clients. Default: 1,000.
    pub max_sessions_per_address: usize,
    /// A session whose client never sends a second request ends after this time. Default: 1 min.
    pub session_claim: Duration,
    /// A session without requests, open streams and work in progress ends after this time.
    /// Default: 30 min.
    pub session_idle: Duration,
    /// Maximum number of unanswered requests per session. Default: 16,384.
    pub max_pending: usize,
    /// Maximum total size in bytes of the requests in a session whose client has disconnected. They
    /// continue, so that the client can resume; beyond this limit the oldest are cancelled.
    /// Default: 1 MiB.
    pub max_abandoned: usize,
    /// Maximum number of messages per session that wait for the application. Default: 256.
    pub inbound_queue: usize,
    /// Maximum total size in bytes of the messages of all sessions that wait for the application.
    /// Beyond it, requests get 503. The last quarter is for messages of at most 64 KiB, and there is
    /// always room for one. Default: 256 MiB.
    pub max_queued: usize,
    /// Number of events per session that are kept for resuming clients. Default: 1,000.
    pub replay_events: usize,
    /// Number of bytes per session that are kept for resuming clients; the newest event is kept
    /// whatever its size if [`HttpSettings::replay_total`] allows it. Default: 1 MiB.
    pub replay_bytes: usize,
    /// Number of bytes that are kept for resuming clients in all sessions together, and for clients
    /// that have no stream open. The last quarter is for sessions that keep at most 64 KiB. Beyond
    /// it, events are not kept. Default: 64 MiB.
    pub replay_total: usize,
    /// Maximum number of GET streams per session; beyond it the oldest ends. Default: 8.
    pub max_standalone: usize,
    /// Number of events buffered per stream for slow clients. Default: 64.
    pub stream_queue: usize,
    /// The same in bytes; one larger event is accepted if the buffer is empty. Default: 1 MiB.
    pub stream_queue_bytes: usize,
    /// A client that does not read its stream for this long loses it. Default: 30 s.
    pub stall_timeout: Duration,
    /// Maximum total size in bytes of the events that are buffered for clients, and of the responses
    /// and events over 16 KiB that are being sent to them. Beyond it, responses become 503 and
    /// streams end early, to be resumed. The last quarter is for those of at most 64 KiB, and there
    /// is always room for one. Default: 128 MiB.
    pub max_unread: usize,
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
            max_sessions_per_principal: 1_000,
            max_sessions_per_address: 1_000,
            session_claim: Duration::from_secs(60),
            session_idle: Duration::from_secs(30 * 60),
            max_pending: 16_384,
            max_abandoned: 1 << 20,
            inbound_queue: 256,
            max_queued: 256 << 20,
            replay_events: 1_000,
            replay_bytes: 1 << 20,
            replay_total: 64 << 20,
            max_standalone: 8,
            stream_queue: 64,
            stream_queue_bytes: 1 << 20,
            stall_timeout: Duration::from_secs(30),
            max_unread: 128 << 20,
            stream_wait: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
        }
    }
}
