use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_core::{
    Inbound, MemoryBudget, Outbound, OutboundRole, RefusalReason, ResponseStatus, Side, Ticket,
    Transport,
};
use mcp_json::Limits;
use mcp_jsonrpc::{ErrorCode, MessageKind};
use tokio::{sync::Mutex as AsyncMutex, time::Instant};

use super::{
    Launcher,
    callers::{Addressed, Callers, Delivery, Inbox, Numbered},
    session::cancelled,
};
use crate::{
    bridge::{
        conversation_tap::ConversationTap,
        outline::{Message, Outline, Reference},
        overlong,
        text::{failure, one_line, refusal},
    },
    respond::Replacement,
    shutdown::{Drain, Phase, STOPPED},
};

/// The child that serves all requests without a session. It is started for the first one, and again
/// if it has exited.
#[derive(Debug)]
pub(super) struct SharedChild {
    launcher: Arc<Launcher>,
    /// Maximum number of starts within [`WINDOW`].
    max_starts: usize,
    state: AsyncMutex<State>,
    closed: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    running: Option<Arc<Running>>,
    starts: VecDeque<Instant>,
}

const WINDOW: Duration = Duration::from_secs(60);

impl SharedChild {
    pub(super) fn new(launcher: Arc<Launcher>, max_starts: usize) -> SharedChild {
        let (state, closed) = (AsyncMutex::default(), AtomicBool::new(false));
        SharedChild { launcher, max_starts, state, closed }
    }

    /// Serves the single message of an exchange.
    pub(super) async fn serve(
        &self,
        transport: Arc<dyn Transport>,
        ticket: Option<Ticket>,
        text: Bytes,
    ) {
        let line = one_line(text, self.launcher.limits);
        let exchange = Exchange { transport, ticket };
        let outline = Outline::at(&line, self.launcher.limits);
        let single = outline.as_ref().and_then(Outline::single);
        let running = match self.running().await {
            Ok(running) => running,
            Err(reason) => {
                let id = single.and_then(|message| Some(message.id.as_ref()?.id.clone()));
                let answer = failure(id, ErrorCode::InternalError, &reason);
                return exchange.answer(answer, ResponseStatus::Served).await;
            }
        };
        match single {
            Some(message) if message.kind == Some(MessageKind::Request) && message.id.is_some() => {
                running.ask(&exchange, &line, message).await;
            }
            Some(message) if message.kind == Some(MessageKind::Notification) => {
                // Requests are cancelled by ending their exchange; ids of different clients may be
                // equal.
                if !matches!(message.reference, Some(Reference::Cancelled(_))) {
                    running.notify(&line).await;
                }
            }
            // No request of the child is open.
            Some(message) if message.kind == Some(MessageKind::Response) => {}
            _ => {
                let reason = if outline.is_some() {
                    (
                        RefusalReason::NotAMessage,
                        "the body must be a single request or notification",
                    )
                } else {
                    (RefusalReason::NotJson, "the body is not a JSON text")
                };
                let mut verdict = running.tap.pass(Side::Client, &line);
                // The whole text: without a session there are no batches.
                verdict.refusals.push(refusal(reason.0, reason.1));
                if let Some(answer) = Replacement::of(&line, &verdict).to_sender {
                    running.tap.stand_in(Side::Server, &answer);
                    exchange.answer(answer, ResponseStatus::BadRequest).await;
                }
            }
        }
    }

    /// Returns the child, starting it if necessary.
    async fn running(&self) -> Result<Arc<Running>, String> {
        let mut state = self.state.lock().await;
        if self.closed.load(Ordering::Relaxed) {
            return Err("the proxy is stopping".to_owned());
        }
        if let Some(running) = &state.running
            && !running.callers().is_over()
        {
            return Ok(Arc::clone(running));
        }
        let now = Instant::now();
        while state.starts.front().is_some_and(|start| now.duration_since(*start) > WINDOW) {
            state.starts.pop_front();
        }
        if state.starts.len() >= self.max_starts {
            let (starts, window) = (self.max_starts, WINDOW.as_secs());
            return Err(format!("the server exits too often: {starts} starts in {window} seconds"));
        }
        state.starts.push_back(now);
        let started = self.launcher.start("shared").await;
        let (child, tap) = started.map_err(|error| error.to_string())?;
        let (limits, drain) = (self.launcher.limits, self.launcher.drain.clone());
        let (room, callers) = (self.launcher.room.clone(), Mutex::default());
        let running = Arc::new(Running { child, tap, limits, room, callers, drain });
        tokio::spawn(Arc::clone(&running).read_all());
        state.running = Some(Arc::clone(&running));
        Ok(running)
    }

    /// Ends the child.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let running = self.state.lock().await.running.take();
        if let Some(running) = running {
            running.child.close().await;
        }
    }
}

/// An HTTP exchange, which is a conversation of its own.
struct Exchange {
    transport: Arc<dyn Transport>,
    ticket: Option<Ticket>,
}

impl Exchange {
    async fn answer(&self, bytes: Bytes, status: ResponseStatus) {
        if self.ticket.is_some() {
            let role = OutboundRole::Response(status);
            self.send(Delivery { bytes, role, held: None }).await;
        }
    }

    async fn send(&self, delivery: Delivery) {
        let (Delivery { bytes, role, held: _held }, ticket) = (delivery, self.ticket);
        let outbound = Outbound { bytes, role, ticket, headers: None, parsed: None };
        if let Err(error) = self.transport.send(outbound).await {
            tracing::debug!(%error, "could not deliver a message of the server to the client");
        }
    }

    /// Completes when the client has disconnected, or the exchange should end.
    async fn is_left(&self) {
        loop {
            match self.transport.receive().await {
                Ok(Some(Inbound::ExchangeEnded { .. }) | None) | Err(_) => return,
                Ok(Some(_)) => {}
            }
        }
    }
}

/// What to do about a message of the child.
#[derive(Debug)]
enum Step {
    HandOver(Addressed, OutboundRole),
    /// Answers the child.
    Write(Bytes),
}

/// A running child, and its callers.
#[derive(Debug)]
struct Running {
    child: Arc<dyn Transport>,
    tap: ConversationTap,
    limits: Limits,
    /// Memory for messages queued for callers.
    room: MemoryBudget,
    callers: Mutex<Callers>,
    drain: Drain,
}

impl Running {
    /// Forwards a request to the child, and the messages for it to the client.
    async fn ask(&self, exchange: &Exchange, line: &Bytes, request: &Message) {
        let Some(id) = &request.id else { return };
        let (inbox, mut deliveries) = Inbox::new(&self.room);
        let begun = self.callers().begin(line, request, id, inbox);
        let Numbered { number, text } = match begun {
            Ok(numbered) => numbered,
            Err(reason) => {
                let answer = failure(Some(id.id.clone()), ErrorCode::InternalError, &reason);
                return exchange.answer(answer, ResponseStatus::Served).await;
            }
        };
        let verdict = self.tap.pass(Side::Client, &text);
        if !verdict.passes() {
            self.callers().end(number);
            if let Some(answer) = Replacement::of(&text, &verdict).to_sender {
                self.tap.stand_in(Side::Server, &answer);
            }
            // The client knows the request by its original id.
            if let Some(answer) = Replacement::of(line, &verdict).to_sender {
                exchange.answer(answer, status_of(&verdict.refusals)).await;
            }
            return;
        }
        if let Err(error) = self.write(text).await {
            self.fail(number, &error.to_string()).await;
        }
        loop {
            tokio::select! {
                biased;
                delivery = deliveries.recv() => {
                    let Some(delivery) = delivery else { break };
                    let is_last = matches!(delivery.role, OutboundRole::Response(_));
                    exchange.send(delivery).await;
                    if is_last {
                        return;
                    }
                }
                () = exchange.is_left() => break,
            }
        }
        self.cancel(number).await;
    }

    async fn notify(&self, line: &Bytes) {
        if self.tap.pass(Side::Client, line).passes() {
            let _ = self.write(line.clone()).await;
        }
    }

    /// Cancels a request.
    async fn cancel(&self, number: i64) {
        let line = cancelled(&number.into());
        {
            // Lock the callers, so that no answer is recorded before the cancellation.
            let mut callers = self.callers();
            if !callers.end(number) {
                return;
            }
            self.tap.stand_in(Side::Client, &line);
        }
        let _ = self.write(line).await;
    }

    async fn read_all(self: Arc<Self>) {
        let reason = loop {
            let received = tokio::select! {
                received = self.child.receive() => received,
                () = self.drain.reached(Phase::Stopping) => break STOPPED.to_owned(),
            };
            match received {
                Ok(Some(Inbound::Message { bytes, .. })) => self.take_from_child(bytes).await,
                Ok(Some(Inbound::TooLong { length, limit, ends, .. })) => {
                    self.tap.skip(Side::Server, length);
                    if let Some(number) = overlong::id_of(&ends).and_then(|id| id.as_i64()) {
                        let reason = format!(
                            "the answer has {length} bytes, more than the limit of {limit}"
                        );
                        self.fail(number, &reason).await;
                    }
                }
                Ok(Some(other)) => tracing::debug!(?other, "an unknown event of the transport"),
                Ok(None) => break "the proxy is stopping".to_owned(),
                Err(error) => break error.to_string(),
            }
        };
        tracing::info!(reason, "the shared server ended");
        let numbers = self.callers().close(&reason);
        for number in numbers {
            self.fail(number, &reason).await;
        }
    }

    /// Handles a line from the child.
    async fn take_from_child(&self, line: Bytes) {
        let steps = self.decide(&line);
        for step in steps {
            self.perform(step).await;
        }
    }

    /// Judges a line from the child, and decides what to do about it.
    fn decide(&self, line: &Bytes) -> Vec<Step> {
        let mut callers = self.callers();
        let verdict = self.tap.pass(Side::Server, line);
        // HTTP cannot carry other text: it is only recorded.
        let Some(outline) = Outline::at(line, self.limits) else { return Vec::new() };
        if verdict.passes() {
            return self.route(&mut callers, line, &outline);
        }
        let Replacement { to_sender, to_receiver, .. } = Replacement::of(line, &verdict);
        let mut steps = Vec::new();
        if let Some(rest) = to_receiver
            && let Some(outline) = Outline::at(&rest, self.limits)
        {
            self.tap.replace(Side::Server, &verdict, &rest);
            steps = self.route(&mut callers, &rest, &outline);
        }
        if let Some(answer) = to_sender {
            self.tap.stand_in(Side::Client, &answer);
            steps.push(Step::Write(answer));
        }
        steps
    }

    /// Finds the callers for the messages in a line.
    fn route(&self, callers: &mut Callers, line: &Bytes, outline: &Outline) -> Vec<Step> {
        if let Some(message) = outline.single() {
            return self.route_one(callers, line, message).into_iter().collect();
        }
        let entries = outline.entries(line);
        let steps = entries.iter().filter_map(|entry| {
            let outline = Outline::at(entry, self.limits)?;
            self.route_one(callers, entry, outline.single()?)
        });
        steps.collect()
    }

    fn route_one(&self, callers: &mut Callers, line: &Bytes, message: &Message) -> Option<Step> {
        match message.kind? {
            MessageKind::Response => {
                let found = callers.answer(line, message)?;
                let status = message.error_code.map_or(ResponseStatus::Served, status_of_code);
                Some(Step::HandOver(found, OutboundRole::Response(status)))
            }
            MessageKind::Notification => {
                let found = callers.address(line, message)?;
                Some(Step::HandOver(found, OutboundRole::Notification))
            }
            MessageKind::Request => {
                let id = message.id.as_ref()?;
                let reason = "clients without a session cannot receive requests";
                let answer = failure(Some(id.id.clone()), ErrorCode::MethodNotFound, reason);
                self.tap.stand_in(Side::Client, &answer);
                Some(Step::Write(answer))
            }
        }
    }

    async fn perform(&self, step: Step) {
        match step {
            Step::HandOver(found, role) => self.hand_over(found, role).await,
            Step::Write(answer) => {
                let _ = self.write(answer).await;
            }
        }
    }

    /// Hands a message to its caller without blocking, so that others are not delayed.
    async fn hand_over(&self, found: Addressed, role: OutboundRole) {
        let Addressed { number, text, deliveries } = found;
        if !deliveries.put(text, role) {
            tracing::warn!("disconnecting a client that does not read its messages");
            // Dropping the last sender ends its exchange.
            drop(deliveries);
            self.cancel(number).await;
        }
    }

    /// Fails the request of a caller.
    async fn fail(&self, number: i64, reason: &str) {
        let answer = failure(Some(number.into()), ErrorCode::InternalError, reason);
        let Some(outline) = Outline::at(&answer, self.limits) else { return };
        let steps = {
            let mut callers = self.callers();
            if !callers.is_open(number) {
                return;
            }
            self.tap.stand_in(Side::Server, &answer);
            self.route(&mut callers, &answer, &outline)
        };
        for step in steps {
            self.perform(step).await;
        }
    }

    async fn write(&self, bytes: Bytes) -> Result<(), mcp_core::TransportError> {
        let role = OutboundRole::Notification;
        let outbound = Outbound { bytes, role, ticket: None, headers: None, parsed: None };
        self.child.send(outbound).await
    }

    fn callers(&self) -> MutexGuard<'_, Callers> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The HTTP status for an error code in 2026-07-28.
fn status_of_code(code: i64) -> ResponseStatus {
    match code {
        -32601 => ResponseStatus::UnknownMethod,
        -32700 | -32600 | -32022..=-32020 => ResponseStatus::BadRequest,
        _ => ResponseStatus::Served,
    }
}

fn status_of(refusals: &[mcp_core::Refusal]) -> ResponseStatus {
    match refusals.first().map(|refusal| refusal.reason) {
        Some(RefusalReason::UnknownMethod) => ResponseStatus::UnknownMethod,
        Some(RefusalReason::Invalid) | None => ResponseStatus::Served,
        Some(_) => ResponseStatus::BadRequest,
    }
}
