use std::{fmt, sync::Arc};

use bytes::Bytes;
use mcp_json::Parsed;

use super::{BoxFuture, Edges};
use crate::Revision;

/// Moves messages of one conversation, whole, without looking into them.
///
/// One task receives; any number may send at the same time.
pub trait Transport: fmt::Debug + Send + Sync {
    /// The next thing that comes in; `None` when the other side has ended the conversation in
    /// good order. An error is final.
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>>;

    /// Sends a message. Completes when it is handed over, not when it has arrived; waits while the
    /// other side does not read.
    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>>;

    /// How it carries messages, which decides what can go wrong with them.
    fn carriage(&self) -> Carriage {
        Carriage::default()
    }

    /// Says that the exchange `ticket` has its answer, so nothing more needs to be waited for.
    fn settle(&self, ticket: Ticket) {
        let _ = ticket;
    }

    /// Whether settling an exchange without its answer tells the other side that nobody waits for
    /// it, so that no message has to.
    fn settling_cancels(&self) -> bool {
        false
    }

    /// What went wrong last in an exchange that is still tried: its stream broke off, say, and could
    /// not be resumed yet.
    fn trouble(&self, ticket: Ticket) -> Option<TransportError> {
        let _ = ticket;
        None
    }

    /// Says that the opening handshake is done and `revision` is spoken from here on.
    fn established(&self, revision: Revision) {
        let _ = revision;
    }

    /// Ends the stream of `ticket` before its answer, if the answer can be fetched later.
    fn release(&self, ticket: Ticket) {
        let _ = ticket;
    }

    /// Ends the conversation: what was handed over is still delivered where possible.
    fn close(&self) -> BoxFuture<'_, ()>;
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        (**self).receive()
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        (**self).send(outbound)
    }

    fn carriage(&self) -> Carriage {
        (**self).carriage()
    }

    fn settle(&self, ticket: Ticket) {
        (**self).settle(ticket);
    }

    fn settling_cancels(&self) -> bool {
        (**self).settling_cancels()
    }

    fn trouble(&self, ticket: Ticket) -> Option<TransportError> {
        (**self).trouble(ticket)
    }

    fn established(&self, revision: Revision) {
        (**self).established(revision);
    }

    fn release(&self, ticket: Ticket) {
        (**self).release(ticket);
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        (**self).close()
    }
}

/// How a transport carries messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Carriage {
    /// One after the other, each whole: WebSocket, a channel in memory.
    #[default]
    Messages,
    /// One after the other on a line each, among which other text may get: standard streams.
    Lines,
    /// In HTTP exchanges side by side: one may overtake another, and headers stand around each.
    Exchanges,
}

/// Names an exchange: a message that opens something (a request in its own HTTP exchange, say) and
/// all that belongs to it. A server's transport gives tickets to what comes in; a client chooses
/// them for what it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a number")]
pub struct Ticket(pub u64);

/// Something that comes in.
#[derive(Debug)]
#[non_exhaustive]
pub enum Inbound {
    /// The bytes of one message, which may be anything.
    Message {
        /// What it belongs to, where the transport can tell.
        ticket: Option<Ticket>,
        /// One message without the marks that framed it.
        bytes: Bytes,
    },
    /// One message that was parsed on the way: an HTTP service had to look into it.
    Parsed {
        /// What it belongs to, where the transport can tell.
        ticket: Option<Ticket>,
        /// The message.
        message: Parsed,
    },
    /// What stands in a response that refuses the exchange as a whole: HTTP with an error status.
    /// It may be an error of the protocol, also one that names no request.
    Refusal {
        /// The exchange.
        ticket: Ticket,
        /// The body.
        bytes: Bytes,
    },
    /// Text that was too long to be kept, skipped up to its end.
    Skipped {
        /// What it belongs to, where the transport can tell.
        ticket: Option<Ticket>,
        /// How many bytes there were.
        length: u64,
        /// How many are kept at most.
        limit: u64,
        /// How it begins and ends.
        edges: Edges,
    },
    /// Nothing more comes of this exchange: a client has hung up, or a server's last word is said.
    Over {
        /// The exchange.
        ticket: Ticket,
        /// What went wrong, if something did.
        error: Option<TransportError>,
    },
    /// What the other side says without being asked may be lost from here on; the conversation goes
    /// on. The way may open again with the next message that is sent.
    Deaf {
        /// What went wrong.
        error: TransportError,
    },
}

/// A message to send.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "adapters build it")]
pub struct Outbound {
    /// The message.
    pub bytes: Bytes,
    /// What kind of message it is.
    pub role: OutboundRole,
    /// The exchange it belongs to.
    pub ticket: Option<Ticket>,
    /// What a transport may want to say about it on the outside.
    pub labels: Option<Box<Labels>>,
}

/// What a transport must know about a message it does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no fourth kind of message")]
pub enum OutboundRole {
    /// It wants an answer.
    Request,
    /// It wants none.
    Notification,
    /// It is the answer; the exchange is over with it.
    Answer(Standing),
}

/// What became of a request, as far as a transport has a way to show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a transport has to show each of them")]
pub enum Standing {
    /// It was served, well or badly.
    Served,
    /// It was not understood, or does not say what it must.
    BadRequest,
    /// There is no such method.
    UnknownMethod,
}

/// What may stand outside a message so that intermediaries need not read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "adapters build it")]
pub struct Labels {
    /// The revision the message is written in.
    pub revision: Option<Revision>,
    /// Its method.
    pub method: Option<String>,
    /// The tool, prompt or resource it is about.
    pub name: Option<String>,
    /// Arguments that a tool wants to have visible: label and value.
    pub arguments: Vec<(String, String)>,
}

/// Why a transport failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum TransportError {
    /// The other side broke off, or the way to it did.
    #[error("the connection is lost: {0}")]
    Lost(String),
    /// The end was announced; nothing can be sent any more.
    #[error("the conversation has ended")]
    Closed,
    /// The bytes are not framed as they should be and the end of the mess cannot be found.
    #[error("the framing is broken: {0}")]
    Framing(String),
    #[error("a message of {length} bytes exceeds the limit of {limit}")]
    TooLong { length: u64, limit: u64 },
    /// The other side does not read what it is sent.
    #[error("the other side has not read anything for {seconds} seconds")]
    Stuck { seconds: u64 },
    /// It refused the exchange before the protocol proper.
    #[error("refused with HTTP status {status}{}", if body.is_empty() { String::new() } else { format!(": {body}") })]
    Status { status: u16, body: String },
    /// The conversation the other side knew is gone; a new one has to be opened.
    #[error("the server no longer knows this session")]
    SessionExpired,
    #[error("could not connect: {0}")]
    Connect(String),
    #[error("could not listen on {address}: {reason}")]
    Listen { address: String, reason: String },
}
