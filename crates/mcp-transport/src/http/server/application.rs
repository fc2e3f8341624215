use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{StatusCode, request::Parts};
use mcp_core::{BoxFuture, Revision, Transport};
use mcp_json::Parsed;

use super::HttpFault;

/// The layer above: it reads messages, which the service does not, and holds conversations.
pub trait Application: fmt::Debug + Send + Sync + 'static {
    /// Looks at the message of a POST just long enough to tell how it has to be treated.
    ///
    /// # Errors
    ///
    /// If it has no place in any conversation; the client gets what the refusal says.
    fn glimpse(&self, head: &Parts, body: &Bytes) -> Result<Glimpse, Refused>;

    /// Who sends a request, if something before the service has found out. A session belongs to whom
    /// it was opened for; others who know its id do not find it.
    fn principal(&self, head: &Parts) -> Option<Arc<str>> {
        let _ = head;
        None
    }

    /// Holds a conversation to its end. `opening` is the head of the HTTP request that opened it.
    ///
    /// A session is only opened if [`Transport::established`] was called before the answer to the
    /// request that opens it. It goes on until the future completes or the session ends, which
    /// [`Transport::receive`] shows as `None`. In a stateless exchange the first message is ready
    /// at once; after the answer `receive` gives `None`, and [`mcp_core::Inbound::Over`] if the
    /// client hangs up before it. Where the request is [long-lived](Glimpse::long_lived), `None` also
    /// comes when the service is drained: then it is time to answer.
    fn converse(&self, transport: Arc<dyn Transport>, opening: &Parts) -> BoxFuture<'static, ()>;

    /// The body that tells a client why the service itself refuses it, as `application/json`.
    fn explain(&self, fault: &HttpFault) -> Bytes;
}

/// What the service must know of a message and cannot read itself.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "applications build it")]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each with its name")]
pub struct Glimpse {
    /// It is a request, or a batch with one.
    pub wants_answer: bool,
    /// It is an `initialize` of the legacy era.
    pub opens_session: bool,
    /// It speaks a stateless revision: this exchange is a conversation of its own.
    pub stateless: bool,
    /// Its answer is meant to stay out: a stream of news, which may end when the server does.
    pub long_lived: bool,
    /// The revision its sender speaks or asks for, where it says so.
    pub revision: Option<Revision>,
    /// The message, if the application has parsed it to see all this. It travels on in this form.
    pub parsed: Option<Parsed>,
}

/// A message that is turned away by the application.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "applications build it")]
pub struct Refused {
    /// The status of the response.
    pub status: StatusCode,
    /// Its body, `application/json`.
    pub body: Bytes,
}
