use std::{fmt, sync::Arc};

use bytes::Bytes;
use mcp_json::Parsed;

use super::{BoxFuture, MessageEnds, Refusal};
use crate::Revision;

/// Moves the messages of one conversation without reading them.
///
/// One task receives; any number may send at the same time.
pub trait Transport: fmt::Debug + Send + Sync {
    /// Receives the next message or event; `None` when the peer has closed the conversation
    /// cleanly. An error is final.
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>>;

    /// Sends a message. Completes when the message is accepted for sending, not when it has arrived;
    /// waits while the peer does not read.
    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>>;

    /// How the transport carries messages, which decides what can go wrong with them.
    fn framing(&self) -> Framing {
        Framing::default()
    }

    /// Marks the exchange `ticket` as finished: it has its response, and the transport need not wait
    /// for more.
    fn finish_exchange(&self, ticket: Ticket) {
        let _ = ticket;
    }

    /// Whether finishing an exchange before its response tells the peer that the request is
    /// cancelled, without a message.
    fn finishing_cancels(&self) -> bool {
        false
    }

    /// The last error in an exchange that the transport is still retrying: its stream broke and
    /// could not be resumed yet, for example.
    fn last_error(&self, ticket: Ticket) -> Option<TransportError> {
        let _ = ticket;
        None
    }

    /// Called when the handshake is done and `revision` applies from now on.
    fn established(&self, revision: Revision) {
        let _ = revision;
    }

    /// Ends the stream of `ticket` before its response, if the response can be fetched later.
    fn release_stream(&self, ticket: Ticket) {
        let _ = ticket;
    }

    /// Closes the conversation. Messages already accepted are still delivered where possible.
    fn close(&self) -> BoxFuture<'_, ()>;
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        (**self).receive()
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        (**self).send(outbound)
    }

    fn framing(&self) -> Framing {
        (**self).framing()
    }

    fn finish_exchange(&self, ticket: Ticket) {
        (**self).finish_exchange(ticket);
    }

    fn finishing_cancels(&self) -> bool {
        (**self).finishing_cancels()
    }

    fn last_error(&self, ticket: Ticket) -> Option<TransportError> {
        (**self).last_error(ticket)
    }

    fn established(&self, revision: Revision) {
        (**self).established(revision);
    }

    fn release_stream(&self, ticket: Ticket) {
        (**self).release_stream(ticket);
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        (**self).close()
    }
}

/// How a transport carries messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Framing {
    /// In order, with message boundaries: WebSocket, a channel in memory.
    #[default]
    Messages,
    /// In order, one per line, possibly mixed with other text: standard streams.
    Lines,
    /// In concurrent HTTP exchanges: unordered, each with headers.
    HttpExchanges,
}

/// Identifies an exchange: a request, for example in its own HTTP exchange, and every message that
/// belongs to it. A server's transport assigns tickets to incoming messages; a client chooses them
/// for its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a number")]
pub struct Ticket(pub u64);

/// A message or event received from a transport.
#[derive(Debug)]
#[non_exhaustive]
pub enum Inbound {
    /// The bytes of one message, not checked in any way.
    Message {
        /// The exchange, if the transport knows it.
        ticket: Option<Ticket>,
        /// One message without its framing.
        bytes: Bytes,
    },
    /// One message that was already parsed: an HTTP service had to read it.
    Parsed {
        /// The exchange, if the transport knows it.
        ticket: Option<Ticket>,
        /// The message.
        message: Parsed,
        /// Why it is rejected, or nothing, if it was judged on its way here together with what
        /// carried it. `None` if it is still to be judged.
        refusals: Option<Vec<Refusal>>,
    },
    /// The body of an HTTP response whose status rejects the exchange as a whole. It may be a
    /// protocol error, even one without a request id.
    ErrorBody {
        /// The exchange.
        ticket: Ticket,
        /// The body.
        bytes: Bytes,
        /// As in [`Inbound::Parsed`].
        refusals: Option<Vec<Refusal>>,
    },
    /// A message over the size limit, which was discarded.
    TooLong {
        /// The exchange, if the transport knows it.
        ticket: Option<Ticket>,
        /// Its length in bytes.
        length: u64,
        /// The limit in bytes.
        limit: u64,
        /// Its beginning and end.
        ends: MessageEnds,
    },
    /// The exchange is over: the client has disconnected, or the server has ended it.
    ExchangeEnded {
        /// The exchange.
        ticket: Ticket,
        /// The error, if it did not end cleanly.
        error: Option<TransportError>,
    },
    /// Unsolicited messages from the peer may be lost from now on; the conversation continues.
    /// Sending the next message may restore the connection for them.
    NotificationsLost {
        /// The error.
        error: TransportError,
    },
}

/// A message to send.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "adapters build it")]
pub struct Outbound {
    /// The message.
    pub bytes: Bytes,
    /// The kind of message.
    pub role: OutboundRole,
    /// The exchange it belongs to.
    pub ticket: Option<Ticket>,
    /// What the transport may repeat in headers.
    pub headers: Option<Box<MessageHeaders>>,
    /// The message, if it was parsed to be judged, for a transport that is watched.
    pub parsed: Option<Parsed>,
}

/// The kind of an outgoing message, which the transport does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no fourth kind of message")]
pub enum OutboundRole {
    /// A request.
    Request,
    /// A notification.
    Notification,
    /// The response, which ends the exchange.
    Response(ResponseStatus),
}

/// The outcome of a request, for transports that expose it (as the HTTP status).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a transport must handle each of them")]
pub enum ResponseStatus {
    /// The request was served, with a result or an error.
    Served,
    /// The request was malformed, or lacks something required.
    BadRequest,
    /// The method is unknown.
    UnknownMethod,
}

/// Facts about a message that transports can put into headers for intermediaries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "adapters build it")]
pub struct MessageHeaders {
    /// The revision of the message.
    pub revision: Option<Revision>,
    /// The method.
    pub method: Option<String>,
    /// The tool, prompt or resource that the message names.
    pub name: Option<String>,
    /// Arguments that the tool's schema marks for headers: header name and value.
    pub arguments: Vec<(String, String)>,
}

/// Why a transport failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe them")]
#[non_exhaustive]
pub enum TransportError {
    /// The connection broke.
    #[error("the connection is lost: {0}")]
    Lost(String),
    /// The conversation was closed; nothing can be sent any more.
    #[error("the conversation has ended")]
    Closed,
    /// The framing is invalid, and reading cannot resynchronize.
    #[error("the framing is broken: {0}")]
    Framing(String),
    #[error("a message of {length} bytes exceeds the limit of {limit}")]
    TooLong { length: u64, limit: u64 },
    /// The peer does not read.
    #[error("the peer has not read anything for {seconds} seconds")]
    Stalled { seconds: u64 },
    /// The peer does not answer.
    #[error("the peer has not begun to answer within {seconds} seconds")]
    Unanswered { seconds: u64 },
    /// The peer rejected the exchange with an HTTP status.
    #[error("refused with HTTP status {status}{}", if body.is_empty() { String::new() } else { format!(": {body}") })]
    Status { status: u16, body: String },
    /// The session has expired; a new one must be opened.
    #[error("the server no longer knows this session")]
    SessionExpired,
    #[error("could not connect: {0}")]
    Connect(String),
    #[error("could not listen on {address}: {reason}")]
    Listen { address: String, reason: String },
}
