use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mcp_core::{
    Carriage, Edges, Inbound, MessageHeaders, Outbound, OutboundRole, Refusal, RefusalReason, Side,
    Ticket, Transport, TransportError,
};
use mcp_json::{Limits, Parsed, SyntaxError, SyntaxErrorKind, TapePool};

use crate::{Gate, Incoming, InvalidMessage, JsonRpcId, JsonRpcMessage, Verdict};

/// Sends and receives JSON-RPC messages over a byte transport, through a gate.
#[derive(Debug)]
pub struct JsonRpcTransport<T> {
    transport: T,
    side: Side,
    gate: Mutex<Box<dyn Gate>>,
    tapes: TapePool,
    limits: Limits,
}

/// An outgoing message.
#[derive(Debug)]
pub(crate) struct OutgoingMessage {
    pub(crate) bytes: Bytes,
    /// The outcome of parsing it, once it was needed.
    parsed: Option<Result<Parsed, SyntaxError>>,
}

impl From<Bytes> for OutgoingMessage {
    fn from(bytes: Bytes) -> OutgoingMessage {
        OutgoingMessage { bytes, parsed: None }
    }
}

/// A received message or event.
#[derive(Debug)]
pub(crate) enum Arrival {
    Single {
        ticket: Option<Ticket>,
        entry: Entry,
    },
    Batch {
        ticket: Option<Ticket>,
        entries: Vec<Entry>,
        /// The gate's refusal of the batch as a whole.
        refusal: Option<Refusal>,
    },
    /// Not JSON.
    Unreadable {
        ticket: Option<Ticket>,
        refusal: Refusal,
    },
    Over {
        ticket: Ticket,
        error: Option<TransportError>,
    },
    /// Notifications may be lost from now on.
    NotificationsLost(TransportError),
    /// A message over the size limit; only its edges are known.
    TooLong {
        ticket: Option<Ticket>,
        length: u64,
        limit: u64,
        edges: Edges,
    },
    /// Irrelevant here.
    Skipped,
}

/// A message, or why it was rejected.
pub(crate) type Entry = Result<JsonRpcMessage, Box<RefusedMessage>>;

/// A rejected message.
#[derive(Debug)]
pub(crate) struct RefusedMessage {
    /// The message, if it has a valid envelope.
    pub(crate) message: Option<JsonRpcMessage>,
    /// Its id, if it is readable.
    pub(crate) id: Option<JsonRpcId>,
    /// Whether it may have been meant as a response.
    pub(crate) may_be_response: bool,
    /// Whether its sender may expect a response.
    pub(crate) may_expect_response: bool,
    /// Whether it has the members of a response, valid or not.
    pub(crate) is_response: bool,
    pub(crate) refusal: Refusal,
}

/// Why a message was not sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("{}", .0.message)]
    Refused(Refusal),
    #[error(transparent)]
    Transport(TransportError),
}

impl<T: Transport> JsonRpcTransport<T> {
    /// Puts `gate` in front of `transport`. `side` is our own side.
    pub fn new(transport: T, side: Side, gate: Box<dyn Gate>) -> JsonRpcTransport<T> {
        JsonRpcTransport {
            transport,
            side,
            gate: Mutex::new(gate),
            tapes: TapePool::new(),
            limits: Limits::default(),
        }
    }

    /// Sets the limits. Messages of more than [`Limits::max_bytes`] are neither accepted nor sent.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Uses the pool `tapes`, which several conversations may share.
    #[must_use]
    pub fn with_tapes(mut self, tapes: TapePool) -> Self {
        self.tapes = tapes;
        self
    }

    /// Our own side.
    pub fn side(&self) -> Side {
        self.side
    }

    pub(crate) fn inner(&self) -> &T {
        &self.transport
    }

    pub(crate) async fn receive(&self) -> Result<Option<Arrival>, TransportError> {
        Ok(match self.transport.receive().await? {
            None => None,
            Some(Inbound::Message { ticket, bytes }) => Some(self.read(ticket, &bytes)),
            Some(Inbound::Parsed { ticket, message }) => Some(self.read_parsed(ticket, &message)),
            Some(Inbound::Refusal { ticket, bytes }) => Some(self.read_refusal(ticket, &bytes)),
            Some(Inbound::Skipped { ticket, length, limit, edges }) => {
                self.gate().skipped(self.side.other(), length);
                Some(Arrival::TooLong { ticket, length, limit, edges })
            }
            Some(Inbound::Over { ticket, error }) => Some(Arrival::Over { ticket, error }),
            Some(Inbound::NotificationsLost { error }) => Some(Arrival::NotificationsLost(error)),
            Some(_) => Some(Arrival::Skipped),
        })
    }

    /// Reads the body of a rejected exchange. Only here may an error response lack an id.
    fn read_refusal(&self, ticket: Ticket, bytes: &Bytes) -> Arrival {
        // An HTML page, for example; the end of the exchange reports the status.
        let Ok(parsed) = self.parse(bytes) else { return Arrival::Skipped };
        match Incoming::read(&parsed) {
            Incoming::Single(Ok(JsonRpcMessage::Response(response))) if response.id.is_none() => {
                let entry = Ok(JsonRpcMessage::Response(response));
                Arrival::Single { ticket: Some(ticket), entry }
            }
            _ => self.read_parsed(Some(ticket), &parsed),
        }
    }

    fn read(&self, ticket: Option<Ticket>, bytes: &Bytes) -> Arrival {
        // Some transports have no limit.
        if let Err(TransportError::TooLong { length, limit }) = self.fits(bytes) {
            self.gate().skipped(self.side.other(), length);
            return Arrival::TooLong { ticket, length, limit, edges: Edges::of(bytes) };
        }
        match self.parse(bytes) {
            Ok(parsed) => self.read_parsed(ticket, &parsed),
            Err(error) => self.read_unreadable(ticket, bytes, &error),
        }
    }

    fn read_unreadable(
        &self,
        ticket: Option<Ticket>,
        bytes: &Bytes,
        error: &SyntaxError,
    ) -> Arrival {
        let verdict = self.gate().judge_unreadable(self.side.other(), bytes, error);
        let refusal = verdict.refusals.into_iter().next().unwrap_or_else(|| Refusal {
            index: None,
            reason: RefusalReason::NotJson,
            message: format!("not JSON: {error}"),
            findings: Vec::new(),
        });
        let has_bom = error.kind == SyntaxErrorKind::ByteOrderMark;
        if has_bom && let Some(id) = self.response_id_after_bom(bytes) {
            let refused = RefusedMessage {
                message: None,
                id: Some(id),
                may_be_response: true,
                may_expect_response: false,
                is_response: true,
                refusal,
            };
            return Arrival::Single { ticket, entry: Err(Box::new(refused)) };
        }
        Arrival::Unreadable { ticket, refusal }
    }

    fn read_parsed(&self, ticket: Option<Ticket>, parsed: &Parsed) -> Arrival {
        let verdict = self.gate().judge(self.side.other(), parsed);
        match Incoming::read(parsed) {
            Incoming::Single(message) => {
                Arrival::Single { ticket, entry: apply_verdict(message, &verdict, None) }
            }
            Incoming::Batch(messages) => Arrival::Batch {
                ticket,
                entries: messages
                    .into_iter()
                    .enumerate()
                    .map(|(index, message)| apply_verdict(message, &verdict, Some(index)))
                    .collect(),
                refusal: verdict.refusals.into_iter().find(|refusal| refusal.index.is_none()),
            },
        }
    }

    /// The id of a response preceded by a byte order mark. It lets us fail the pending request with
    /// the reason instead of a timeout.
    fn response_id_after_bom(&self, bytes: &Bytes) -> Option<JsonRpcId> {
        const BOM: usize = '\u{feff}'.len_utf8();
        if bytes.len() < BOM {
            return None;
        }
        match Incoming::read(&self.parse(&bytes.slice(BOM..)).ok()?) {
            Incoming::Single(Ok(JsonRpcMessage::Response(response))) => response.id,
            _ => None,
        }
    }

    fn parse(&self, bytes: &Bytes) -> Result<Parsed, SyntaxError> {
        self.tapes.parse(bytes.clone(), self.limits)
    }

    /// The outgoing message parsed, on first use.
    pub(crate) fn parsed<'m>(
        &self,
        message: &'m mut OutgoingMessage,
    ) -> Result<&'m Parsed, &'m SyntaxError> {
        let OutgoingMessage { bytes, parsed } = message;
        parsed.get_or_insert_with(|| self.parse(bytes)).as_ref()
    }

    /// Checks the size limit.
    pub(crate) fn fits(&self, bytes: &Bytes) -> Result<(), TransportError> {
        let (length, limit) = (bytes.len() as u64, self.limits.max_bytes as u64);
        if length > limit { Err(TransportError::TooLong { length, limit }) } else { Ok(()) }
    }

    /// Sends a message if it is within the size limit and passes the gate. It is judged at once, before
    /// the returned future is polled.
    pub(crate) fn send(
        &self,
        message: OutgoingMessage,
        role: OutboundRole,
        ticket: Option<Ticket>,
        headers: Option<Box<MessageHeaders>>,
    ) -> impl Future<Output = Result<(), SendError>> {
        let admitted = self.admit(message);
        async move {
            let (bytes, parsed) = admitted?;
            let outbound = Outbound { bytes, role, ticket, headers, parsed };
            self.transport.send(outbound).await.map_err(SendError::Transport)
        }
    }

    /// An outgoing message if it may be sent, with its tape if the transport is watched.
    fn admit(&self, mut message: OutgoingMessage) -> Result<(Bytes, Option<Parsed>), SendError> {
        // Before the gate, which remembers what it has seen.
        self.fits(&message.bytes).map_err(SendError::Transport)?;
        match self.judge_outgoing(&mut message).refusals.into_iter().next() {
            Some(refusal) => Err(SendError::Refused(refusal)),
            None => Ok(self.keep_parsed(message)),
        }
    }

    fn keep_parsed(&self, message: OutgoingMessage) -> (Bytes, Option<Parsed>) {
        let is_watched = self.transport.carriage() == Carriage::Exchanges;
        let parsed = message.parsed.filter(|_| is_watched).and_then(Result::ok);
        (message.bytes, parsed)
    }

    /// The gate's verdict on an outgoing message.
    pub(crate) fn judge_outgoing(&self, message: &mut OutgoingMessage) -> Verdict {
        if self.gate().is_open() {
            return Verdict::PASS;
        }
        let bytes = message.bytes.clone();
        match self.parsed(message) {
            Ok(parsed) => self.gate().judge(self.side, parsed),
            Err(error) => self.gate().judge_unreadable(self.side, &bytes, error),
        }
    }

    /// Sends a substitute for a message that did not pass, if it is within the size limit.
    pub(crate) async fn send_unjudged(
        &self,
        bytes: Bytes,
        role: OutboundRole,
        ticket: Option<Ticket>,
        headers: Option<Box<MessageHeaders>>,
    ) -> Result<(), SendError> {
        self.fits(&bytes).map_err(SendError::Transport)?;
        let outbound = Outbound { bytes, role, ticket, headers, parsed: None };
        self.transport.send(outbound).await.map_err(SendError::Transport)
    }

    fn gate(&self) -> MutexGuard<'_, Box<dyn Gate>> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn apply_verdict(
    message: Result<JsonRpcMessage, InvalidMessage>,
    verdict: &Verdict,
    index: Option<usize>,
) -> Entry {
    let refusal = verdict.refusal(index).cloned();
    match (message, refusal) {
        (Ok(message), None) => Ok(message),
        (Ok(message), Some(refusal)) => {
            let id = match &message {
                JsonRpcMessage::Request(request) => Some(request.id.clone()),
                JsonRpcMessage::Response(response) => response.id.clone(),
                JsonRpcMessage::Notification(_) => None,
            };
            let may_be_response = matches!(message, JsonRpcMessage::Response(_));
            let may_expect_response = matches!(message, JsonRpcMessage::Request(_));
            let message = Some(message);
            let is_response = may_be_response;
            Err(Box::new(RefusedMessage {
                message,
                id,
                may_be_response,
                may_expect_response,
                is_response,
                refusal,
            }))
        }
        (Err(invalid), refusal) => Err(Box::new(RefusedMessage {
            message: None,
            may_be_response: !invalid.names_method,
            may_expect_response: !invalid.is_notification && !invalid.is_response,
            is_response: invalid.is_response,
            refusal: refusal.unwrap_or_else(|| Refusal {
                index,
                reason: RefusalReason::NotAMessage,
                message: invalid.to_string(),
                findings: Vec::new(),
            }),
            id: invalid.id,
        })),
    }
}
