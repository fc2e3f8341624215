use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mcp_core::{
    Inbound, MemoryBudget, MessageEnds, Outbound, OutboundRole, RefusalReason, ResponseStatus,
    Side, Ticket, Transport, TransportError,
};
use mcp_json::Limits;
use mcp_jsonrpc::{ErrorCode, JsonRpcId, JsonRpcNotification, MessageKind};
use tokio::task::JoinSet;

use crate::{
    Verdict,
    bridge::{
        conversation_tap::ConversationTap,
        outline::{Outline, Reference},
        overlong,
        text::{failure, refusal},
        waiting::{Exchange, Waiting},
    },
    http::CROWDED_OUT,
    respond::Replacement,
    shutdown::{Drain, Phase, STOPPED},
};

/// Maximum number of server requests held until the client opens a stream; then reading from the
/// server pauses.
const MAX_HELD: usize = 64;

/// One session and the child that serves it.
#[derive(Debug)]
pub(super) struct SessionRelay {
    /// Towards the client.
    transport: Arc<dyn Transport>,
    child: Arc<dyn Transport>,
    tap: ConversationTap,
    limits: Limits,
    /// Memory for child requests that wait for a stream of the client.
    room: MemoryBudget,
    waiting: Mutex<Waiting>,
}

impl SessionRelay {
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        child: Arc<dyn Transport>,
        tap: ConversationTap,
        (limits, room): (Limits, MemoryBudget),
    ) -> Arc<SessionRelay> {
        let waiting = Mutex::default();
        Arc::new(SessionRelay { transport, child, tap, limits, room, waiting })
    }

    /// Relays messages until the session ends or the child exits. Then ends the child, and fails
    /// all open requests.
    pub(super) async fn run(self: Arc<Self>, first: (Option<Ticket>, Bytes), drain: &Drain) {
        let reason = tokio::select! {
            () = drain.reached(Phase::Stopping) => STOPPED.to_owned(),
            () = self.pass_requests(first) => "the session ended".to_owned(),
            error = self.pass_answers() => error.to_string(),
        };
        tracing::debug!(reason, "a session ended, stopping its server");
        let ended = self.lock().end_all();
        for (ticket, exchange) in ended {
            self.fail(ticket, &exchange, &reason).await;
        }
        self.child.close().await;
    }

    async fn pass_requests(&self, (ticket, text): (Option<Ticket>, Bytes)) {
        self.take_from_client(ticket, text).await;
        loop {
            match self.transport.receive().await {
                Ok(Some(Inbound::Message { ticket, bytes })) => {
                    self.take_from_client(ticket, bytes).await;
                }
                Ok(Some(Inbound::Parsed { ticket, message, .. })) => {
                    self.take_from_client(ticket, message.text()).await;
                }
                Ok(Some(Inbound::ExchangeEnded { ticket, .. })) => self.cancel(ticket).await,
                Ok(Some(other)) => tracing::debug!(?other, "an unknown event of the transport"),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Handles a message of the client.
    async fn take_from_client(&self, ticket: Option<Ticket>, text: Bytes) {
        let line = self.tap.carried(text, self.limits);
        let verdict = self.tap.pass(Side::Client, &line);
        if verdict.passes() {
            return self.forward(ticket, line).await;
        }
        let Replacement { to_sender, to_receiver, .. } = Replacement::of(&line, &verdict);
        if let Some(rest) = &to_receiver {
            self.tap.replace(Side::Client, &verdict, rest);
        }
        let more_follow = (to_receiver.as_ref())
            .and_then(|rest| Outline::at(rest, self.limits))
            .is_some_and(|rest| rest.requests().next().is_some());
        if let (Some(answer), Some(ticket)) = (to_sender, ticket) {
            self.answer_for_child(ticket, answer, more_follow).await;
        }
        if let Some(rest) = to_receiver {
            self.forward(ticket, rest).await;
        }
    }

    /// Forwards a message of the client to the child.
    async fn forward(&self, ticket: Option<Ticket>, line: Bytes) {
        let outline = Outline::at(&line, self.limits).filter(is_answerable);
        let Some(outline) = outline else {
            // The child could not answer it, except without an id.
            let message = "neither a request with an id, a notification nor a response";
            let refused = Verdict::refusing(refusal(RefusalReason::NotAMessage, message));
            let answer = Replacement::of(&line, &refused).to_sender;
            if let (Some(answer), Some(ticket)) = (answer, ticket) {
                self.answer_for_child(ticket, answer, false).await;
            }
            return;
        };
        if let Some(ticket) = ticket {
            let refused = {
                let mut waiting = self.lock();
                waiting.begin(ticket, &outline, false);
                // The transport limits their number.
                let full = waiting.room_in(usize::MAX).err();
                full.and_then(|full| Some((full, waiting.end(ticket)?)))
            };
            if let Some((full, exchange)) = refused {
                return self.fail(ticket, &exchange, &full.to_string()).await;
            }
        }
        if let Err(error) = self.write(line).await
            && let Some(ticket) = ticket
            && let Some(exchange) = { self.lock().end(ticket) }
        {
            self.fail(ticket, &exchange, &error.to_string()).await;
        }
        let single = outline.single().and_then(|message| message.reference.as_ref());
        if let Some(Reference::Cancelled(id)) = single {
            self.end_cancelled(&id.id);
        }
    }

    /// Handles the cancellation of a request, which gets no answer then.
    fn end_cancelled(&self, id: &JsonRpcId) {
        let mut waiting = self.lock();
        if let Some(ticket) = waiting.exchange_of(id) {
            waiting.end(ticket);
            drop(waiting);
            self.transport.finish_exchange(ticket);
        }
    }

    /// Answers a client on behalf of the child.
    async fn answer_for_child(&self, ticket: Ticket, answer: Bytes, more_follow: bool) {
        self.tap.stand_in(Side::Server, &answer);
        let role = if more_follow {
            OutboundRole::Notification
        } else {
            OutboundRole::Response(ResponseStatus::BadRequest)
        };
        self.send(Some(ticket), role, answer).await;
    }

    /// Cancels the requests of an abandoned exchange.
    async fn cancel(&self, ticket: Ticket) {
        let Some(exchange) = ({ self.lock().end(ticket) }) else { return };
        for id in exchange.ids() {
            let line = cancelled(id);
            self.tap.stand_in(Side::Client, &line);
            let _ = self.write(line).await;
        }
    }

    /// Completes when the child is gone.
    async fn pass_answers(self: &Arc<Self>) -> TransportError {
        let mut held = JoinSet::new();
        loop {
            while held.try_join_next().is_some() {}
            match self.child.receive().await {
                Ok(Some(Inbound::Message { bytes, .. })) => {
                    self.take_from_child(bytes, &mut held).await;
                }
                Ok(Some(Inbound::TooLong { length, limit, ends, .. })) => {
                    self.lose(length, limit, &ends).await;
                }
                Ok(Some(other)) => tracing::debug!(?other, "an unknown event of the transport"),
                Ok(None) => return TransportError::Closed,
                Err(error) => return error,
            }
        }
    }

    /// Handles a line from the child.
    async fn take_from_child(self: &Arc<Self>, line: Bytes, held: &mut JoinSet<()>) {
        let verdict = self.tap.pass(Side::Server, &line);
        // HTTP cannot carry other text: it is only recorded.
        let Some(outline) = Outline::at(&line, self.limits) else { return };
        if verdict.passes() {
            return self.pass_back(line, &outline, held).await;
        }
        let Replacement { to_sender, to_receiver, .. } = Replacement::of(&line, &verdict);
        if let Some(rest) = to_receiver
            && let Some(outline) = Outline::at(&rest, self.limits)
        {
            self.tap.replace(Side::Server, &verdict, &rest);
            self.pass_back(rest, &outline, held).await;
        }
        if let Some(answer) = to_sender {
            self.tap.stand_in(Side::Client, &answer);
            let _ = self.write(answer).await;
        }
    }

    async fn pass_back(self: &Arc<Self>, line: Bytes, outline: &Outline, held: &mut JoinSet<()>) {
        if outline.is_batch && !self.lock().answers_one(outline) {
            // The answers belong to different exchanges.
            for entry in outline.entries(&line) {
                if let Some(outline) = Outline::at(&entry, self.limits) {
                    self.pass_one(entry, &outline, held).await;
                }
            }
            return;
        }
        self.pass_one(line, outline, held).await;
    }

    async fn pass_one(self: &Arc<Self>, line: Bytes, outline: &Outline, held: &mut JoinSet<()>) {
        let mut answered = None;
        for response in outline.responses() {
            let Some(id) = &response.id else { continue };
            let Some(found) = ({ self.lock().answer(None, &id.id) }) else { continue };
            if let (true, Some(revision)) = (found.opens, response.agreed) {
                self.transport.established(revision);
            }
            let is_last = answered.is_some_and(|(_, is_last)| is_last) || found.is_last;
            answered = Some((found.ticket, is_last));
        }
        if let Some((ticket, is_last)) = answered {
            let role = if is_last {
                OutboundRole::Response(ResponseStatus::Served)
            } else {
                // More answers follow in the same exchange.
                OutboundRole::Notification
            };
            return self.send(Some(ticket), role, line).await;
        }
        let Some(message) = outline.messages.first() else { return };
        let ticket = self.lock().route(message.reference.as_ref());
        match message.kind {
            Some(MessageKind::Notification) => {
                self.send(ticket, OutboundRole::Notification, line).await;
            }
            Some(MessageKind::Request) => {
                let id = message.id.as_ref().map(|id| id.id.clone());
                if held.len() >= MAX_HELD {
                    held.join_next().await;
                }
                let room = loop {
                    match self.room.take(line.len()) {
                        Some(room) => break room,
                        None if held.join_next().await.is_some() => {}
                        None => return self.answer_child(id, CROWDED_OUT).await,
                    }
                };
                // The client may not have a stream for it yet. Do not delay answers until it has.
                let relay = Arc::clone(self);
                held.spawn(async move {
                    relay.question(ticket, id, line).await;
                    drop(room);
                });
                tokio::task::yield_now().await;
            }
            // It answers no request, or is not a message.
            Some(MessageKind::Response) | None => {}
        }
    }

    /// Forwards a request of the child to the client.
    async fn question(&self, ticket: Option<Ticket>, id: Option<JsonRpcId>, bytes: Bytes) {
        let role = OutboundRole::Request;
        let outbound = Outbound { bytes, role, ticket, headers: None, parsed: None };
        if let Err(error) = self.transport.send(outbound).await {
            self.answer_child(id, &error.to_string()).await;
        }
    }

    /// Answers a request of the child with an error.
    async fn answer_child(&self, id: Option<JsonRpcId>, reason: &str) {
        if id.is_some() {
            let answer = failure(id, ErrorCode::InternalError, reason);
            self.tap.stand_in(Side::Client, &answer);
            let _ = self.write(answer).await;
        }
    }

    /// Handles an overlong line of the child: the request that it answers fails, if it can be
    /// identified.
    async fn lose(&self, length: u64, limit: u64, ends: &MessageEnds) {
        self.tap.skip(Side::Server, length);
        let Some(id) = overlong::id_of(ends) else { return };
        let Some(found) = ({ self.lock().answer(None, &id) }) else { return };
        let reason = format!("the answer has {length} bytes, more than the limit of {limit}");
        let answer = failure(Some(id), ErrorCode::InternalError, &reason);
        self.tap.stand_in(Side::Server, &answer);
        let role = if found.is_last {
            OutboundRole::Response(ResponseStatus::Served)
        } else {
            OutboundRole::Notification
        };
        self.send(Some(found.ticket), role, answer).await;
    }

    async fn fail(&self, ticket: Ticket, exchange: &Exchange, reason: &str) {
        let mut ids = exchange.ids().peekable();
        while let Some(id) = ids.next() {
            let answer = failure(Some(id.clone()), ErrorCode::InternalError, reason);
            self.tap.stand_in(Side::Server, &answer);
            let role = match ids.peek() {
                Some(_) => OutboundRole::Notification,
                None => OutboundRole::Response(ResponseStatus::Served),
            };
            self.send(Some(ticket), role, answer).await;
        }
    }

    /// Sends to the client.
    async fn send(&self, ticket: Option<Ticket>, role: OutboundRole, bytes: Bytes) {
        let outbound = Outbound { bytes, role, ticket, headers: None, parsed: None };
        if let Err(error) = self.transport.send(outbound).await {
            tracing::debug!(%error, "could not deliver a message of the server to the client");
        }
    }

    /// Writes to the child.
    async fn write(&self, bytes: Bytes) -> Result<(), TransportError> {
        let role = OutboundRole::Notification;
        let outbound = Outbound { bytes, role, ticket: None, headers: None, parsed: None };
        self.child.send(outbound).await
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether answers to it, if any, can be matched.
fn is_answerable(outline: &Outline) -> bool {
    !outline.messages.is_empty()
        && outline.messages.iter().all(|message| match message.kind {
            Some(MessageKind::Request) => message.id.is_some(),
            Some(MessageKind::Notification | MessageKind::Response) => true,
            None => false,
        })
}

/// The notification that cancels a request.
pub(super) fn cancelled(id: &JsonRpcId) -> Bytes {
    let id = match id {
        JsonRpcId::String(text) => serde_json::Value::from(&**text),
        other => serde_json::from_str(&other.to_string()).unwrap_or_default(),
    };
    let reason = "the client has disconnected";
    let params = serde_json::json!({ "requestId": id, "reason": reason });
    JsonRpcNotification::new("notifications/cancelled", Some(params)).to_bytes()
}
