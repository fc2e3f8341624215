use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{StatusCode, request::Parts};
use mcp_core::{BoxFuture, Revision, Transport};
use mcp_json::Parsed;

use super::HttpFault;
use crate::http::watch::HttpWatch;

/// The layer above the service: it parses messages, which the service does not, and runs
/// conversations.
pub trait Application: fmt::Debug + Send + Sync + 'static {
    /// Parses the body of a POST; `None` if it is not JSON. The message is passed on in this form,
    /// so that nothing parses it again.
    fn parse(&self, body: &Bytes) -> Option<Parsed> {
        let _ = body;
        None
    }

    /// Determines how the message of a POST has to be handled. `parsed` is what
    /// [`Application::parse`] returned for `body`.
    ///
    /// # Errors
    ///
    /// If the message is invalid in any conversation; the client gets the response in the error.
    fn inspect(
        &self,
        head: &Parts,
        body: &Bytes,
        parsed: Option<&Parsed>,
    ) -> Result<RequestInfo, RejectionResponse>;

    /// The watch for the HTTP traffic of a session, from its first request on.
    fn watch_session(&self) -> Option<Arc<dyn HttpWatch>> {
        None
    }

    /// The watch for the HTTP traffic of an exchange that is a conversation of its own. `opening` is
    /// the head of its request.
    fn watch_exchange(&self, opening: &Parts) -> Option<Arc<dyn HttpWatch>> {
        let _ = opening;
        None
    }

    /// The watch for the HTTP traffic of an exchange that is rejected before it belongs to a
    /// conversation.
    fn watch_rejected(&self) -> Option<Arc<dyn HttpWatch>> {
        None
    }

    /// The authenticated sender of a request, if a layer before the service has determined it. A
    /// session belongs to the principal that opened it; others cannot use it even if they know its
    /// id.
    fn principal(&self, head: &Parts) -> Option<Arc<str>> {
        let _ = head;
        None
    }

    /// Runs a conversation to its end. `opening` is the head of the HTTP request that opened it.
    /// `watch` sees its HTTP traffic, and may have judged what the transport receives.
    ///
    /// A session is only opened if [`Transport::established`] was called before the answer to the
    /// request that opens it. It lasts until the future completes or the session ends, for which
    /// [`Transport::receive`] returns `None`. In a stateless exchange the first message is ready at
    /// once; `receive` returns `None` after the answer, and [`mcp_core::Inbound::ExchangeEnded`] if the
    /// client disconnects before it. If the request is [long-lived](RequestInfo::long_lived), `receive`
    /// also returns `None` when the service is drained: then it is time to answer.
    fn converse(
        &self,
        transport: Arc<dyn Transport>,
        opening: &Parts,
        watch: Option<Arc<dyn HttpWatch>>,
    ) -> BoxFuture<'static, ()>;

    /// The `application/json` body that tells a client why the service rejected its request.
    fn explain(&self, fault: &HttpFault) -> Bytes;
}

/// What the service needs to know about a message but cannot read itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "applications build it")]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct RequestInfo {
    /// It is a request, or a batch with one.
    pub expects_response: bool,
    /// It is an `initialize` of the legacy era. If that expects no response, it is rejected.
    pub opens_session: bool,
    /// It uses a stateless revision: this exchange is a whole conversation.
    pub stateless: bool,
    /// Its response is open-ended: a notification stream, which may end when the server shuts down.
    pub long_lived: bool,
    /// The revision its sender uses or asks for, if stated.
    pub revision: Option<Revision>,
}

/// The response to a message that the application rejects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "applications build it")]
pub struct RejectionResponse {
    /// The status of the response.
    pub status: StatusCode,
    /// Its body, `application/json`.
    pub body: Bytes,
}
