use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mcp_core::{
    Edges, Inbound, Labels, Outbound, OutboundRole, Refusal, RefusalReason, Side, Ticket,
    Transport, TransportError,
};
use mcp_json::{Limits, Parsed, SyntaxError, SyntaxErrorKind, TapePool};

use crate::{Gate, Incoming, InvalidMessage, JsonRpcId, JsonRpcMessage, Verdict};

/// JSON-RPC messages over a transport that moves bytes, past a gate that judges them.
#[derive(Debug)]
pub struct JsonRpcTransport<T> {
    transport: T,
    side: Side,
    gate: Mutex<Box<dyn Gate>>,
    tapes: TapePool,
    limits: Limits,
}

/// A message of ours on its way out.
#[derive(Debug)]
pub(crate) struct OwnMessage {
    pub(crate) bytes: Bytes,
    /// What became of parsing it, once somebody wanted to look into it.
    parsed: Option<Result<Parsed, SyntaxError>>,
}

impl From<Bytes> for OwnMessage {
    fn from(bytes: Bytes) -> OwnMessage {
        OwnMessage { bytes, parsed: None }
    }
}

/// Something that came in.
#[derive(Debug)]
pub(crate) enum Arrival {
    Single {
        ticket: Option<Ticket>,
        entry: Entry,
    },
    Batch {
        ticket: Option<Ticket>,
        entries: Vec<Entry>,
        /// What the gate has against the batch as such.
        refusal: Option<Refusal>,
    },
    /// Not even JSON.
    Unreadable {
        ticket: Option<Ticket>,
        refusal: Refusal,
    },
    Over {
        ticket: Ticket,
        error: Option<TransportError>,
    },
    /// News may be lost from here on.
    Deaf(TransportError),
    /// Text beyond a limit, of which only the edges are known.
    TooLong {
        ticket: Option<Ticket>,
        length: u64,
        limit: u64,
        edges: Edges,
    },
    /// Nothing that matters here.
    Skipped,
}

/// A message, or what stands in its place.
pub(crate) type Entry = Result<JsonRpcMessage, Box<RefusedMessage>>;

/// A message that may not pass.
#[derive(Debug)]
pub(crate) struct RefusedMessage {
    /// The message, if it is one.
    pub(crate) message: Option<JsonRpcMessage>,
    /// Its id, if one could be read.
    pub(crate) id: Option<JsonRpcId>,
    /// Whether it may have been meant as an answer.
    pub(crate) may_answer: bool,
    /// Whether somebody may wait for an answer to it.
    pub(crate) may_ask: bool,
    /// Whether it has the members of an answer, however broken.
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
    /// Puts `gate` before `transport`. `side` is who we are.
    pub fn new(transport: T, side: Side, gate: Box<dyn Gate>) -> JsonRpcTransport<T> {
        JsonRpcTransport {
            transport,
            side,
            gate: Mutex::new(gate),
            tapes: TapePool::new(),
            limits: Limits::default(),
        }
    }

    /// Takes other limits. Messages of more than [`Limits::max_bytes`] are neither taken in nor sent.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Takes tapes from `tapes`, which conversations may share.
    #[must_use]
    pub fn with_tapes(mut self, tapes: TapePool) -> Self {
        self.tapes = tapes;
        self
    }

    /// Who we are.
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
            Some(Inbound::Deaf { error }) => Some(Arrival::Deaf(error)),
            Some(_) => Some(Arrival::Skipped),
        })
    }

    /// An error that names no request is right here, and nowhere else.
    fn read_refusal(&self, ticket: Ticket, bytes: &Bytes) -> Arrival {
        // A page for people, say; the end of the exchange tells the status.
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
        // Some transports have no limit of their own.
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
        let is_marked = error.kind == SyntaxErrorKind::ByteOrderMark;
        if is_marked && let Some(id) = self.answered_behind_mark(bytes) {
            let refused = RefusedMessage {
                message: None,
                id: Some(id),
                may_answer: true,
                may_ask: false,
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
                Arrival::Single { ticket, entry: enter(message, &verdict, None) }
            }
            Incoming::Batch(messages) => Arrival::Batch {
                ticket,
                entries: messages
                    .into_iter()
                    .enumerate()
                    .map(|(index, message)| enter(message, &verdict, Some(index)))
                    .collect(),
                refusal: verdict.refusals.into_iter().find(|refusal| refusal.index.is_none()),
            },
        }
    }

    /// The request of ours that is answered behind a byte order mark. Whoever waits for it shall hear
    /// what is wrong rather than nothing.
    fn answered_behind_mark(&self, bytes: &Bytes) -> Option<JsonRpcId> {
        const MARK: usize = '\u{feff}'.len_utf8();
        if bytes.len() < MARK {
            return None;
        }
        match Incoming::read(&self.parse(&bytes.slice(MARK..)).ok()?) {
            Incoming::Single(Ok(JsonRpcMessage::Response(response))) => response.id,
            _ => None,
        }
    }

    fn parse(&self, bytes: &Bytes) -> Result<Parsed, SyntaxError> {
        self.tapes.parse(bytes.clone(), self.limits)
    }

    /// A message of ours, parsed the first time that somebody looks into it.
    pub(crate) fn parsed<'m>(
        &self,
        message: &'m mut OwnMessage,
    ) -> Result<&'m Parsed, &'m SyntaxError> {
        let OwnMessage { bytes, parsed } = message;
        parsed.get_or_insert_with(|| self.parse(bytes)).as_ref()
    }

    /// Whether a message is short enough.
    pub(crate) fn fits(&self, bytes: &Bytes) -> Result<(), TransportError> {
        let (length, limit) = (bytes.len() as u64, self.limits.max_bytes as u64);
        if length > limit { Err(TransportError::TooLong { length, limit }) } else { Ok(()) }
    }

    /// Sends a message if it is short enough and the gate lets it pass. It is judged at once; what
    /// waits for the transport is only its bytes.
    pub(crate) fn send(
        &self,
        message: OwnMessage,
        role: OutboundRole,
        ticket: Option<Ticket>,
        labels: Option<Box<Labels>>,
    ) -> impl Future<Output = Result<(), SendError>> {
        let admitted = self.admit(message);
        async move { self.send_unjudged(admitted?, role, ticket, labels).await }
    }

    /// The bytes of a message of ours, if it may be sent.
    fn admit(&self, mut message: OwnMessage) -> Result<Bytes, SendError> {
        // First, as a gate remembers what it has seen.
        self.fits(&message.bytes).map_err(SendError::Transport)?;
        match self.judge_own(&mut message).refusals.into_iter().next() {
            Some(refusal) => Err(SendError::Refused(refusal)),
            None => Ok(message.bytes),
        }
    }

    /// What the gate says about a message of ours.
    pub(crate) fn judge_own(&self, message: &mut OwnMessage) -> Verdict {
        if self.gate().is_open() {
            return Verdict::PASS;
        }
        let bytes = message.bytes.clone();
        match self.parsed(message) {
            Ok(parsed) => self.gate().judge(self.side, parsed),
            Err(error) => self.gate().judge_unreadable(self.side, &bytes, error),
        }
    }

    /// Sends what stands in for a message that did not pass, if it is short enough.
    pub(crate) async fn send_unjudged(
        &self,
        bytes: Bytes,
        role: OutboundRole,
        ticket: Option<Ticket>,
        labels: Option<Box<Labels>>,
    ) -> Result<(), SendError> {
        self.fits(&bytes).map_err(SendError::Transport)?;
        let outbound = Outbound { bytes, role, ticket, labels };
        self.transport.send(outbound).await.map_err(SendError::Transport)
    }

    fn gate(&self) -> MutexGuard<'_, Box<dyn Gate>> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn enter(
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
            let may_answer = matches!(message, JsonRpcMessage::Response(_));
            let may_ask = matches!(message, JsonRpcMessage::Request(_));
            let message = Some(message);
            let is_response = may_answer;
            Err(Box::new(RefusedMessage { message, id, may_answer, may_ask, is_response, refusal }))
        }
        (Err(invalid), refusal) => Err(Box::new(RefusedMessage {
            message: None,
            may_answer: !invalid.names_method,
            may_ask: !invalid.is_notification && !invalid.is_response,
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
