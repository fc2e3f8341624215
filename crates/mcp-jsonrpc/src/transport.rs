use std::{
    future::poll_fn,
    sync::{Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use bytes::Bytes;
use mcp_core::{
    Framing, Inbound, MessageEnds, MessageHeaders, Outbound, OutboundRole, Refusal, RefusalReason,
    Side, Ticket, Transport, TransportError,
};
use mcp_json::{Limits, Parsed, SyntaxError, SyntaxErrorKind, TapePool};

use crate::{
    Envelope, Gate, Incoming, InvalidMessage, JsonRpcId, JsonRpcMessage, MessageKind, Verdict,
    id::integer_value, incoming,
};

/// The maximum length of an id in bytes. Ids are remembered while a request is in flight and
/// afterwards, and repeated in the response.
pub(crate) const MAX_ID: usize = 4 << 10;

/// Sends and receives JSON-RPC messages over a byte transport, through a gate.
#[derive(Debug)]
pub struct JsonRpcTransport<T> {
    transport: T,
    side: Side,
    gate: Mutex<Box<dyn Gate>>,
    /// Whether the gate passes everything unread.
    is_open: bool,
    /// Held by a sender from judging a message until the transport has accepted it.
    turns: tokio::sync::Mutex<()>,
    tapes: TapePool,
    limits: Limits,
}

/// See [`JsonRpcTransport::turn`].
pub(crate) type Turn<'t> = tokio::sync::MutexGuard<'t, ()>;

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
        batch: ReceivedBatch,
    },
    /// Not JSON.
    Unreadable {
        ticket: Option<Ticket>,
        refusal: Refusal,
    },
    ExchangeEnded {
        ticket: Ticket,
        error: Option<TransportError>,
    },
    /// Notifications may be lost from now on.
    NotificationsLost(TransportError),
    /// A message over the size limit; only its ends are known.
    TooLong {
        ticket: Option<Ticket>,
        length: u64,
        limit: u64,
        ends: MessageEnds,
    },
    /// An event that does not concern JSON-RPC.
    Ignored,
}

/// A batch and the gate's verdict on it. Its entries are read when they are wanted: a batch that is
/// rejected as a whole costs no more than its text.
#[derive(Debug)]
pub(crate) struct ReceivedBatch {
    message: Parsed,
    verdict: Verdict,
}

impl ReceivedBatch {
    /// How many entries it has.
    pub(crate) fn len(&self) -> usize {
        self.message.document().root().len()
    }

    /// The gate's refusal of the batch as a whole.
    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        self.verdict.refusal(None)
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        let document = self.message.document();
        let entries = document.root().elements().enumerate();
        entries
            .map(|(index, entry)| {
                apply_verdict(incoming::read(entry, &self.message), &self.verdict, Some(index))
            })
            .collect()
    }

    /// Calls `found` with the ids of the entries that may be meant as responses to us.
    pub(crate) fn for_each_answered(&self, mut found: impl FnMut(i64)) {
        for entry in self.message.document().root().elements() {
            let envelope = Envelope::of(entry);
            let is_call =
                matches!(envelope.kind(), Some(MessageKind::Request | MessageKind::Notification));
            if let Some(id) = envelope.id.filter(|_| !is_call).and_then(integer_value) {
                found(id);
            }
        }
    }
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
            is_open: gate.is_open(),
            gate: Mutex::new(gate),
            turns: tokio::sync::Mutex::new(()),
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
            Some(Inbound::Parsed { ticket, message, refusals }) => {
                Some(self.read_parsed(ticket, &message, refusals))
            }
            Some(Inbound::ErrorBody { ticket, bytes, refusals }) => {
                Some(self.read_refusal(ticket, &bytes, refusals))
            }
            Some(Inbound::TooLong { ticket, length, limit, ends }) => {
                self.gate().skipped(self.side.other(), length);
                Some(Arrival::TooLong { ticket, length, limit, ends })
            }
            Some(Inbound::ExchangeEnded { ticket, error }) => {
                Some(Arrival::ExchangeEnded { ticket, error })
            }
            Some(Inbound::NotificationsLost { error }) => Some(Arrival::NotificationsLost(error)),
            Some(_) => Some(Arrival::Ignored),
        })
    }

    /// Reads the body of a rejected exchange. Only here may an error response lack an id.
    fn read_refusal(
        &self,
        ticket: Ticket,
        bytes: &Bytes,
        refusals: Option<Vec<Refusal>>,
    ) -> Arrival {
        // An HTML page, for example; the end of the exchange reports the status.
        let Ok(parsed) = self.parse(bytes) else { return Arrival::Ignored };
        match Incoming::read(&parsed) {
            Incoming::Single(Ok(JsonRpcMessage::Response(response))) if response.id.is_none() => {
                let entry = Ok(JsonRpcMessage::Response(response));
                Arrival::Single { ticket: Some(ticket), entry }
            }
            _ => self.read_parsed(Some(ticket), &parsed, refusals),
        }
    }

    fn read(&self, ticket: Option<Ticket>, bytes: &Bytes) -> Arrival {
        // Some transports have no limit.
        if let Err(TransportError::TooLong { length, limit }) = self.fits(bytes) {
            self.gate().skipped(self.side.other(), length);
            return Arrival::TooLong { ticket, length, limit, ends: MessageEnds::of(bytes) };
        }
        match self.parse(bytes) {
            Ok(parsed) => self.read_parsed(ticket, &parsed, None),
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
            facts: None,
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

    /// Reads a message; `refusals` is the verdict on it if it was judged before.
    fn read_parsed(
        &self,
        ticket: Option<Ticket>,
        parsed: &Parsed,
        refusals: Option<Vec<Refusal>>,
    ) -> Arrival {
        // The gate sees it even if it is refused here, so that it knows what the refusal answers.
        let judge = || self.gate().judge(self.side.other(), parsed).refusals;
        let verdict = Verdict { refusals: refusals.unwrap_or_else(judge) };
        if let Some(refused) = overlong_id(parsed) {
            return Arrival::Single { ticket, entry: Err(Box::new(refused)) };
        }
        let document = parsed.document();
        if document.root().is_array() && !document.root().is_empty() {
            let batch = ReceivedBatch { message: parsed.clone(), verdict };
            return Arrival::Batch { ticket, batch };
        }
        let entry = apply_verdict(incoming::read_single(parsed), &verdict, None);
        Arrival::Single { ticket, entry }
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

    /// Sends a message if it is within the size limit and passes the gate. Messages are judged in the
    /// order in which they are sent, whichever task sends them.
    pub(crate) async fn send(
        &self,
        message: OutgoingMessage,
        role: OutboundRole,
        ticket: Option<Ticket>,
        headers: Option<Box<MessageHeaders>>,
    ) -> Result<(), SendError> {
        let turn = self.turn().await;
        let (bytes, parsed) = self.admit(message)?;
        let outbound = Outbound { bytes, role, ticket, headers, parsed };
        self.hand_over(outbound, turn).await
    }

    /// The exclusive right to judge a message and pass it to the transport. Granted in the order of
    /// the calls.
    pub(crate) async fn turn(&self) -> Turn<'_> {
        self.turns.lock().await
    }

    async fn hand_over(&self, outbound: Outbound, turn: Turn<'_>) -> Result<(), SendError> {
        let mut sending = self.transport.send(outbound);
        if self.transport.framing() == Framing::HttpExchanges {
            // Polling once sends the message. The rest of the future only waits for its own exchange,
            // for which other senders need not wait.
            let begun = poll_fn(|context| Poll::Ready(sending.as_mut().poll(context)));
            if let Poll::Ready(sent) = begun.await {
                return sent.map_err(SendError::Transport);
            }
            drop(turn);
            return sending.await.map_err(SendError::Transport);
        }
        // If the pipe is full, no other sender could write either.
        let sent = sending.await.map_err(SendError::Transport);
        drop(turn);
        sent
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
        let is_watched = self.transport.framing() == Framing::HttpExchanges;
        let parsed = message.parsed.filter(|_| is_watched).and_then(Result::ok);
        (message.bytes, parsed)
    }

    /// The gate's verdict on an outgoing message.
    pub(crate) fn judge_outgoing(&self, message: &mut OutgoingMessage) -> Verdict {
        if self.is_open {
            return Verdict::PASS;
        }
        let OutgoingMessage { bytes, parsed } = message;
        match parsed.get_or_insert_with(|| self.parse(bytes)) {
            Ok(parsed) => self.gate().judge(self.side, parsed),
            Err(error) => self.gate().judge_unreadable(self.side, bytes, error),
        }
    }

    /// Sends a substitute for a message that did not pass, if it is within the size limit.
    pub(crate) async fn send_unjudged(
        &self,
        bytes: Bytes,
        role: OutboundRole,
        ticket: Option<Ticket>,
    ) -> Result<(), SendError> {
        let turn = self.turn().await;
        self.send_judged(bytes, role, ticket, turn).await
    }

    /// Sends a message that was judged in this `turn`, or a substitute for it.
    pub(crate) async fn send_judged(
        &self,
        bytes: Bytes,
        role: OutboundRole,
        ticket: Option<Ticket>,
        turn: Turn<'_>,
    ) -> Result<(), SendError> {
        self.fits(&bytes).map_err(SendError::Transport)?;
        let outbound = Outbound { bytes, role, ticket, headers: None, parsed: None };
        self.hand_over(outbound, turn).await
    }

    fn gate(&self) -> MutexGuard<'_, Box<dyn Gate>> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The refusal of a message or batch whose id is too long to be remembered. The id is sent back
/// anyway, so that the sender can tell which request was refused.
fn overlong_id(parsed: &Parsed) -> Option<RefusedMessage> {
    if parsed.as_bytes().len() <= MAX_ID {
        return None;
    }
    let document = parsed.document();
    let root = document.root();
    let has_one = |envelope: &Envelope<'_>| envelope.id.is_some_and(|id| id.raw().len() > MAX_ID);
    let (id, is_response) = if root.is_array() {
        root.elements().map(Envelope::of).find(has_one)?;
        (None, false)
    } else {
        let envelope = Some(Envelope::of(root)).filter(has_one)?;
        (envelope.readable_id(), envelope.method.is_none())
    };
    Some(RefusedMessage {
        message: None,
        id,
        may_be_response: is_response,
        may_expect_response: !is_response,
        is_response,
        refusal: Refusal {
            index: None,
            reason: RefusalReason::NotAMessage,
            message: format!("an `id` must not be longer than {MAX_ID} bytes"),
            findings: Vec::new(),
            facts: None,
        },
    })
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
                facts: None,
            }),
            id: invalid.id,
        })),
    }
}
