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
        glance::{Glance, Message, Reference},
        lane::Lane,
        overlong,
        text::{failure, one_line, refusal},
    },
    respond::Replacement,
    shutdown::{Drain, Phase, STOPPED},
};

/// The child that serves all requests without a session. It is started with the first of them, and
/// again if it has exited.
#[derive(Debug)]
pub(super) struct SharedChild {
    launcher: Arc<Launcher>,
    /// How often it may be started within [`WINDOW`].
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

    /// Serves the only message of an exchange.
    pub(super) async fn serve(
        &self,
        transport: Arc<dyn Transport>,
        ticket: Option<Ticket>,
        text: Bytes,
    ) {
        let line = one_line(text, self.launcher.limits);
        let exchange = Exchange { transport, ticket };
        let glance = Glance::at(&line, self.launcher.limits);
        let single = glance.as_ref().and_then(Glance::single);
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
                // A cancelled request is known by its own exchange; its id says nothing here.
                if !matches!(message.reference, Some(Reference::Cancelled(_))) {
                    running.notify(&line).await;
                }
            }
            // Nobody has asked.
            Some(message) if message.kind == Some(MessageKind::Response) => {}
            _ => {
                let reason = if glance.is_some() {
                    (RefusalReason::NotAMessage, "it must be one request or notification")
                } else {
                    (RefusalReason::NotJson, "the body is not a JSON text")
                };
                let mut verdict = running.lane.pass(Side::Client, &line);
                // All of it: there are no batches without a session.
                verdict.refusals.push(refusal(reason.0, reason.1));
                if let Some(answer) = Replacement::of(&line, &verdict).to_sender {
                    running.lane.stand_in(Side::Server, &answer);
                    exchange.answer(answer, ResponseStatus::BadRequest).await;
                }
            }
        }
    }

    /// The child, started if it is not running.
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
            return Err(format!(
                "the server has exited too often: {starts} starts in {window} seconds"
            ));
        }
        state.starts.push_back(now);
        let started = self.launcher.start("shared").await;
        let (child, lane) = started.map_err(|error| error.to_string())?;
        let (limits, drain) = (self.launcher.limits, self.launcher.drain.clone());
        let (room, callers) = (self.launcher.room.clone(), Mutex::default());
        let running = Arc::new(Running { child, lane, limits, room, callers, drain });
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

/// An HTTP exchange that is a conversation of its own.
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
            tracing::debug!(%error, "a message of the server did not reach the client");
        }
    }

    /// Completes when the client has left, or the exchange should end.
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

/// A child that runs, and those who wait for it.
#[derive(Debug)]
struct Running {
    child: Arc<dyn Transport>,
    lane: Lane,
    limits: Limits,
    /// What may wait for callers.
    room: MemoryBudget,
    callers: Mutex<Callers>,
    drain: Drain,
}

impl Running {
    /// Passes a request to the child, and what comes back to the client.
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
        let verdict = self.lane.pass(Side::Client, &text);
        if !verdict.passes() {
            self.callers().end(number);
            if let Some(answer) = Replacement::of(&text, &verdict).to_sender {
                self.lane.stand_in(Side::Server, &answer);
            }
            // The client knows its request by the id that it gave it.
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
        if self.lane.pass(Side::Client, line).passes() {
            let _ = self.write(line.clone()).await;
        }
    }

    /// Tells the child that nobody waits for a request any more.
    async fn cancel(&self, number: i64) {
        let line = cancelled(&number.into());
        {
            // With the callers locked, so that no answer is seen before it that made it needless.
            let mut callers = self.callers();
            if !callers.end(number) {
                return;
            }
            self.lane.stand_in(Side::Client, &line);
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
                    self.lane.skip(Side::Server, length);
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
        tracing::info!(reason, "the shared server has ended");
        let numbers = self.callers().close(&reason);
        for number in numbers {
            self.fail(number, &reason).await;
        }
    }

    /// Takes a line of the child.
    async fn take_from_child(&self, line: Bytes) {
        let steps = self.decide(&line);
        for step in steps {
            self.perform(step).await;
        }
    }

    /// Shows a line of the child, and decides what to do about it.
    fn decide(&self, line: &Bytes) -> Vec<Step> {
        let mut callers = self.callers();
        let verdict = self.lane.pass(Side::Server, line);
        // Other text has no place in HTTP: it was seen, and that is all.
        let Some(glance) = Glance::at(line, self.limits) else { return Vec::new() };
        if verdict.passes() {
            return self.route(&mut callers, line, &glance);
        }
        let Replacement { to_sender, to_receiver, .. } = Replacement::of(line, &verdict);
        let mut steps = Vec::new();
        if let Some(rest) = to_receiver
            && let Some(glance) = Glance::at(&rest, self.limits)
        {
            self.lane.replace(Side::Server, &verdict, &rest);
            steps = self.route(&mut callers, &rest, &glance);
        }
        if let Some(answer) = to_sender {
            self.lane.stand_in(Side::Client, &answer);
            steps.push(Step::Write(answer));
        }
        steps
    }

    /// Finds out whom the messages in a line are for.
    fn route(&self, callers: &mut Callers, line: &Bytes, glance: &Glance) -> Vec<Step> {
        if let Some(message) = glance.single() {
            return self.route_one(callers, line, message).into_iter().collect();
        }
        let entries = glance.entries(line);
        let steps = entries.iter().filter_map(|entry| {
            let glance = Glance::at(entry, self.limits)?;
            self.route_one(callers, entry, glance.single()?)
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
                let reason = "clients without a session cannot be asked";
                let answer = failure(Some(id.id.clone()), ErrorCode::MethodNotFound, reason);
                self.lane.stand_in(Side::Client, &answer);
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

    /// Hands a message to its caller, without waiting: others must not be held up.
    async fn hand_over(&self, found: Addressed, role: OutboundRole) {
        let Addressed { number, text, deliveries } = found;
        if !deliveries.put(text, role) {
            tracing::warn!("a client does not read its messages and is given up");
            // Its exchange ends when the last sender is gone.
            drop(deliveries);
            self.cancel(number).await;
        }
    }

    /// Tells a caller that it gets no answer.
    async fn fail(&self, number: i64, reason: &str) {
        let answer = failure(Some(number.into()), ErrorCode::InternalError, reason);
        let Some(glance) = Glance::at(&answer, self.limits) else { return };
        let steps = {
            let mut callers = self.callers();
            if !callers.is_open(number) {
                return;
            }
            self.lane.stand_in(Side::Server, &answer);
            self.route(&mut callers, &answer, &glance)
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

/// The status that 2026-07-28 gives an error.
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
