use std::{borrow::Cow, fmt, time::Duration};

use super::{BoxFuture, Labels, TransportError};
use crate::{Error, Json, Notification};

/// The other side of a conversation, as something that can be spoken to.
pub trait Peer: fmt::Debug + Send + Sync {
    /// Tells it something. Completes when the transport has taken the message.
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<(), PeerError>>;

    /// Asks it something and waits for the answer. Dropping the future cancels the request.
    fn request(&self, ask: Ask) -> BoxFuture<'_, Result<Json, PeerError>>;

    /// Ends the stream on which this request would be answered, if the transport can deliver the
    /// answer another way later. Long work need not hold a connection open.
    fn release_stream(&self) {}
}

/// A question to the other side.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct Ask {
    /// What is asked.
    pub method: Cow<'static, str>,
    /// With which params.
    pub params: Option<Json>,
    /// How long to wait for the answer; `None` is as long as the conversation's settings say, and
    /// [`Duration::MAX`] as long as the conversation lasts.
    pub timeout: Option<Duration>,
    /// What the transport may show on the outside.
    pub labels: Option<Box<Labels>>,
}

impl Ask {
    /// Asks `method` with `params`, and nothing special about it.
    pub fn new(method: impl Into<Cow<'static, str>>, params: Option<Json>) -> Ask {
        Ask { method: method.into(), params, timeout: None, labels: None }
    }
}

/// Why the other side did not do what it was asked to.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum PeerError {
    /// It answered with an error.
    #[error("{message} ({code})")]
    Answered { code: i64, message: String, data: Option<Json> },
    /// It answered with something that is no proper answer.
    #[error("the answer breaks the protocol: {message}")]
    InvalidAnswer { message: String, findings: Vec<Json> },
    /// Our own message was not fit to be sent: it breaks the protocol, as the findings tell, or is too
    /// long, or too many wait already.
    #[error("not sent: {message}")]
    NotSent { message: String, findings: Vec<Json> },
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// As `TimedOut`; this went wrong last while the answer was waited for.
    #[error("no answer within {after:?}; last: {last}")]
    CutOff { after: Duration, last: TransportError },
    /// This message did not get through, or what became of it cannot be heard. The conversation may
    /// go on.
    #[error("{0}")]
    Transport(TransportError),
    /// The other side let the request go without answering it. The conversation goes on.
    #[error("the request was ended without an answer")]
    Unanswered,
    /// Nothing can be asked or told any more.
    #[error("the conversation is over: {0}")]
    Gone(String),
    /// The two sides did not agree that it may be asked at all.
    #[error("the other side does not offer {0}")]
    NotOffered(String),
}

impl PeerError {
    /// As the outcome of the request in the course of which the other side was asked.
    pub fn into_error(self) -> Error {
        match self {
            PeerError::Answered { code, message, data } => Error::Coded { code, message, data },
            other => Error::internal(other.to_string()),
        }
    }
}
