use http::{HeaderName, StatusCode};
use mcp_core::excerpt;

/// How much of a header is shown.
const SHOWN: usize = 200;

/// Why the service rejects an HTTP request without asking the application.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum HttpFault {
    #[error("the host `{}` is not served here", excerpt(.0, SHOWN))]
    ForeignHost(String),
    #[error("a request must name exactly one host")]
    HostUnclear,
    #[error("requests from the origin `{}` are not allowed", excerpt(.0, SHOWN))]
    ForeignOrigin(String),
    #[error("the method {} is not allowed, only {allowed}", excerpt(method, SHOWN))]
    MethodNotAllowed { method: String, allowed: &'static str },
    #[error("the client must accept {0}")]
    NotAcceptable(&'static str),
    #[error("the content type must be application/json")]
    UnsupportedMediaType,
    #[error("the body must not have a content coding")]
    UnsupportedCoding,
    #[error("the body is empty: it must be a JSON-RPC message")]
    BodyEmpty,
    #[error("the body exceeds the limit of {limit} bytes")]
    BodyTooLong { limit: usize },
    #[error("the body did not arrive within {seconds} seconds")]
    BodyTooSlow { seconds: u64 },
    #[error("the server is waiting for too many incomplete bodies")]
    TooManyUnfinished,
    #[error("too many responses wait to be read")]
    TooManyUnread,
    #[error("too many messages wait to be processed")]
    TooManyQueued,
    #[error("the body is incomplete")]
    BodyBroken,
    #[error("the header `{0}` is repeated or unreadable")]
    InvalidHeader(HeaderName),
    #[error("the protocol version `{}` is not supported", excerpt(.0, SHOWN))]
    UnsupportedRevision(String),
    #[error("the header `Mcp-Session-Id` is missing")]
    SessionMissing,
    #[error("there is no such session")]
    SessionUnknown,
    #[error(
        "there is no event with the id `{}`, or the events after it are no longer available",
        excerpt(.0, SHOWN)
    )]
    EventUnknown(String),
    #[error("the session has too many unanswered requests")]
    TooManyPending,
    #[error("the server has too many sessions")]
    TooManySessions,
    #[error("the client has too many sessions")]
    TooManySessionsOfClient,
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The application gave up without an answer.
    #[error("the server ended the conversation without an answer")]
    Unanswered,
    #[error("the server could not create a session id")]
    NoRandomness,
}

impl HttpFault {
    /// The status of the response.
    pub const fn status(&self) -> StatusCode {
        match self {
            HttpFault::ForeignHost(_) | HttpFault::ForeignOrigin(_) => StatusCode::FORBIDDEN,
            HttpFault::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            HttpFault::NotAcceptable(_) => StatusCode::NOT_ACCEPTABLE,
            HttpFault::UnsupportedMediaType | HttpFault::UnsupportedCoding => {
                StatusCode::UNSUPPORTED_MEDIA_TYPE
            }
            HttpFault::BodyTooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            HttpFault::BodyTooSlow { .. } => StatusCode::REQUEST_TIMEOUT,
            HttpFault::HostUnclear
            | HttpFault::BodyBroken
            | HttpFault::BodyEmpty
            | HttpFault::InvalidHeader(_)
            | HttpFault::UnsupportedRevision(_)
            | HttpFault::SessionMissing
            | HttpFault::EventUnknown(_) => StatusCode::BAD_REQUEST,
            HttpFault::SessionUnknown => StatusCode::NOT_FOUND,
            HttpFault::TooManyPending | HttpFault::TooManySessionsOfClient => {
                StatusCode::TOO_MANY_REQUESTS
            }
            HttpFault::TooManyUnfinished
            | HttpFault::TooManyUnread
            | HttpFault::TooManyQueued
            | HttpFault::TooManySessions
            | HttpFault::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
            HttpFault::Unanswered | HttpFault::NoRandomness => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}
