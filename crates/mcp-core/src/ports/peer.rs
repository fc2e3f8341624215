use std::{borrow::Cow, fmt, time::Duration};

use super::{BoxFuture, MessageHeaders, TransportError};
use crate::{Error, Json, Notification};

/// The other side of a conversation; sends it notifications and requests.
pub trait Peer: fmt::Debug + Send + Sync {
    /// Sends a notification. Completes when the transport has accepted it.
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<(), PeerError>>;

    /// Sends a request and waits for the response. Dropping the future cancels the request.
    fn request(&self, ask: OutgoingRequest) -> BoxFuture<'_, Result<Json, PeerError>>;

    /// Ends the stream that would carry the response to the current request, if the transport can
    /// deliver the response later. Long work need not keep a connection open.
    fn release_stream(&self) {}
}

/// A request to the peer.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct OutgoingRequest {
    /// The method.
    pub method: Cow<'static, str>,
    /// The params.
    pub params: Option<Json>,
    /// How long to wait for the response: `None` uses the conversation's default, and
    /// [`Duration::MAX`] waits as long as the conversation lasts.
    pub timeout: Option<Duration>,
    /// What the transport may repeat in headers.
    pub headers: Option<Box<MessageHeaders>>,
}

impl OutgoingRequest {
    /// A request of `method` with `params` and the defaults for everything else.
    pub fn new(method: impl Into<Cow<'static, str>>, params: Option<Json>) -> OutgoingRequest {
        OutgoingRequest { method: method.into(), params, timeout: None, headers: None }
    }
}

/// Why a request or notification to the peer failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe them")]
#[non_exhaustive]
pub enum PeerError {
    /// The peer responded with an error.
    #[error("{message} ({code})")]
    ErrorResponse { code: i64, message: String, data: Option<Json> },
    /// The peer's response is invalid.
    #[error("the response violates the protocol: {message}")]
    InvalidResponse { message: String, findings: Vec<Json> },
    /// Our own message was not sent: it violates the protocol (see `findings`), is too long, or too
    /// many requests are in flight.
    #[error("not sent: {message}")]
    NotSent { message: String, findings: Vec<Json> },
    /// No response in time. `last_error` is the last transport error that occurred while waiting.
    #[error("no response within {after:?}{}", last_error.as_ref().map_or(String::new(), |error| format!("; last error: {error}")))]
    TimedOut { after: Duration, last_error: Option<TransportError> },
    /// This message could not be delivered, or its response could not be received. The conversation
    /// may continue.
    #[error("{0}")]
    Transport(TransportError),
    /// The peer ended the request without a response. The conversation continues.
    #[error("the request ended without a response")]
    Unanswered,
    /// The conversation is over; nothing can be sent any more.
    #[error("the conversation is over: {0}")]
    Closed(String),
    /// The peer has not declared the capability that the request needs.
    #[error("the peer does not offer {0}")]
    MissingCapability(String),
}

impl PeerError {
    /// The error for the request whose handler called the peer.
    pub fn into_error(self) -> Error {
        match self {
            PeerError::ErrorResponse { code, message, data } => {
                Error::Coded { code, message, data }
            }
            other => Error::internal(other.to_string()),
        }
    }
}
