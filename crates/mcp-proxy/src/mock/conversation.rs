//! Plays a script to one client.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use mcp_core::{
    Inbound, Outbound, OutboundRole, ResponseStatus, Ticket, Transport, TransportError,
};
use mcp_json::{Limits, Node, Parsed};
use mcp_jsonrpc::{Envelope, ErrorCode, JsonRpcError, JsonRpcId, JsonRpcResponse, MessageKind};
use tokio::{
    sync::{oneshot, watch},
    task::{AbortHandle, Id, JoinSet},
};

use super::{
    client_budget::{self, ClientBudget, Reservation},
    key::progress_token,
    playback::{Playback, TakeRef},
    script::Step,
    template::{Fillings, Template},
};

/// Maximum number of requests of a client answered concurrently.
const MAX_RUNNING: usize = 1024;
/// Maximum number of requests in one batch.
const MAX_BATCH: usize = 1000;
/// Maximum bytes of open requests of a client.
const MAX_ASKED: usize = 16 << 20;
/// Bytes of an id or a progress token, which are kept until the answer is sent.
const MAX_ID: usize = 4 << 10;

/// Plays the script to the client behind `transport` until it disconnects. The client has to answer
/// requests within `patience`.
///
/// # Errors
///
/// If the connection breaks.
pub async fn converse(
    transport: Arc<dyn Transport>,
    playback: Arc<Playback>,
    patience: Duration,
) -> Result<(), TransportError> {
    let (end, ended) = watch::channel(false);
    let stage = Arc::new(Stage {
        transport,
        room: ClientBudget::new(playback.waiting().clone()),
        playback,
        patience,
        asked: Mutex::default(),
        last_id: AtomicI64::new(0),
        ended,
    });
    let mut running = Running::default();
    let outcome = loop {
        tokio::select! {
            received = stage.transport.receive() => match received {
                Ok(Some(inbound)) => stage.take_in(inbound, &mut running).await,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            },
            Some(done) = running.tasks.join_next_with_id() => running.forget(&done),
        }
    };
    // The client answers no more requests; messages that do not depend on it are still sent.
    let _ = end.send(true);
    while running.tasks.join_next().await.is_some() {}
    stage.transport.close().await;
    outcome
}

/// The answers that are being played.
#[derive(Default)]
struct Running {
    tasks: JoinSet<()>,
    requests: HashMap<Id, BeingAnswered>,
    /// Bytes that they take.
    memory: usize,
}

struct BeingAnswered {
    ids: Vec<Bytes>,
    ticket: Option<Ticket>,
    memory: usize,
    task: AbortHandle,
}

impl Running {
    fn forget(&mut self, done: &Result<(Id, ()), tokio::task::JoinError>) {
        let id = match done {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        self.memory -= self.requests.remove(&id).map_or(0, |request| request.memory);
    }

    /// Whether there is room for one more, which takes `memory`.
    fn has_room(&self, memory: usize) -> bool {
        self.tasks.len() < MAX_RUNNING && (self.memory == 0 || self.memory + memory <= MAX_ASKED)
    }

    /// Cancels those that match, and returns their exchanges.
    fn cancel(&self, matches: impl Fn(&[Bytes], Option<Ticket>) -> bool) -> Vec<Ticket> {
        let found = self.requests.values().filter(|request| matches(&request.ids, request.ticket));
        found
            .filter_map(|request| {
                request.task.abort();
                request.ticket
            })
            .collect()
    }
}

/// A request that is answered.
#[derive(Debug)]
struct Asked {
    id: Bytes,
    token: Option<Bytes>,
    /// The take to play, or the error to send instead.
    take: Result<TakeRef, Bytes>,
}

impl Asked {
    /// Bytes that it takes.
    fn memory(&self) -> usize {
        let error = self.take.as_ref().map_or_else(Bytes::len, |_| 0);
        let token = self.token.as_ref().map_or(0, Bytes::len);
        size_of::<Asked>() + self.id.len() + token + error
    }

    fn id(&self) -> Option<JsonRpcId> {
        let id = Parsed::parse(self.id.clone(), Limits::default()).ok()?;
        JsonRpcId::read(id.document().root())
    }
}

/// The answer to a request, to be written once there is room.
#[derive(Debug)]
enum Due<'a> {
    Recorded { answer: &'a Template, fillings: Fillings<'a>, status: ResponseStatus },
    Refusal(Bytes),
}

impl Due<'_> {
    fn length(&self) -> usize {
        match self {
            Due::Recorded { answer, fillings, .. } => answer.length(fillings) + 1,
            Due::Refusal(text) => text.len() + 1,
        }
    }

    fn write(&self) -> Option<Bytes> {
        match self {
            Due::Recorded { answer, fillings, .. } => answer.fill(fillings),
            Due::Refusal(text) => Some(text.clone()),
        }
    }
}

#[derive(Debug)]
struct Stage {
    transport: Arc<dyn Transport>,
    room: ClientBudget,
    playback: Arc<Playback>,
    patience: Duration,
    /// Expected answers of the client, by our ids.
    asked: Mutex<HashMap<i64, oneshot::Sender<()>>>,
    last_id: AtomicI64,
    /// Whether the client has left.
    ended: watch::Receiver<bool>,
}

impl Stage {
    async fn take_in(self: &Arc<Self>, inbound: Inbound, running: &mut Running) {
        match inbound {
            Inbound::Message { ticket, bytes } => match Parsed::parse(bytes, Limits::default()) {
                Ok(message) => self.read(&message, ticket, running).await,
                Err(error) => {
                    let error = failure(ErrorCode::ParseError, format!("not JSON: {error}"));
                    self.refuse(None, error, ticket).await;
                }
            },
            Inbound::Parsed { ticket, message, .. } => self.read(&message, ticket, running).await,
            Inbound::TooLong { ticket, length, limit, .. } => {
                let text = format!("a message of {length} bytes exceeds the limit of {limit}");
                self.refuse(None, failure(ErrorCode::InvalidRequest, text), ticket).await;
            }
            Inbound::ExchangeEnded { ticket, .. } => {
                running.cancel(|_, of| of == Some(ticket));
            }
            _ => {}
        }
    }

    async fn read(
        self: &Arc<Self>,
        message: &Parsed,
        ticket: Option<Ticket>,
        running: &mut Running,
    ) {
        let (asked, is_batch, is_odd) = {
            let document = message.document();
            let root = document.root();
            let mut asked = Vec::new();
            let mut is_odd = root.is_array() && root.is_empty();
            let mut look = |entry: Node<'_>| {
                let envelope = Envelope::of(entry);
                match envelope.kind() {
                    Some(MessageKind::Request) => asked.extend(self.find(&envelope)),
                    Some(MessageKind::Notification) => self.notice(&envelope, running),
                    Some(MessageKind::Response) => self.settle(&envelope),
                    None => is_odd = true,
                }
            };
            if !root.is_array() {
                look(root);
            } else if root.len() <= MAX_BATCH {
                root.elements().for_each(&mut look);
            } else {
                is_odd = true;
            }
            (asked, root.is_array(), is_odd)
        };
        if asked.is_empty() {
            if is_odd {
                let text = format!("neither a message nor a batch of at most {MAX_BATCH}");
                let error = failure(ErrorCode::InvalidRequest, text);
                self.refuse(None, error, ticket).await;
            } else if let Some(ticket) = ticket {
                self.transport.finish_exchange(ticket);
            }
            return;
        }
        let memory = asked.iter().map(Asked::memory).sum();
        let share = self.playback.waiting().take(memory).filter(|_| running.has_room(memory));
        let Some(share) = share else {
            let error = failure(ErrorCode::InternalError, "too many requests at once".to_owned());
            let id = message.document().root().get("id").and_then(JsonRpcId::read);
            return self.refuse(id, error, ticket).await;
        };
        let ids = asked.iter().map(|asked| asked.id.clone()).collect();
        let stage = Arc::clone(self);
        let task = running.tasks.spawn(async move {
            stage.play_all(asked, is_batch, ticket).await;
            drop(share);
        });
        running.memory += memory;
        running.requests.insert(task.id(), BeingAnswered { ids, ticket, memory, task });
    }

    /// Finds the answer to a request. Must be called in the order of requests, which decides
    /// between recorded answers.
    fn find(&self, request: &Envelope<'_>) -> Option<Asked> {
        let id = request.id?.raw();
        let token = progress_token(request).map(Node::raw);
        if id.len() > MAX_ID || token.is_some_and(|token| token.len() > MAX_ID) {
            let text = format!("the id or the progress token exceeds {MAX_ID} bytes");
            let error = refusal(None, failure(ErrorCode::InvalidRequest, text));
            return Some(Asked { id: Bytes::from_static(b"null"), token: None, take: Err(error) });
        }
        let take = self.playback.next(request).map_err(|reason| {
            let error = failure(ErrorCode::InternalError, reason);
            refusal(request.readable_id(), error)
        });
        let token = token.map(Bytes::copy_from_slice);
        Some(Asked { id: Bytes::copy_from_slice(id), token, take })
    }

    fn notice(&self, notification: &Envelope<'_>, running: &Running) {
        let is_cancel =
            notification.method.is_some_and(|method| method.str_eq("notifications/cancelled"));
        let id = notification.params.and_then(|params| params.get("requestId"));
        if let Some(id) = id.filter(|_| is_cancel) {
            for ticket in running.cancel(|ids, _| ids.iter().any(|one| one == id.raw())) {
                self.transport.finish_exchange(ticket);
            }
        }
    }

    /// Handles an answer of the client to one of our requests.
    fn settle(&self, response: &Envelope<'_>) {
        if let Some(id) = response.id.and_then(Node::as_i64)
            && let Some(waiting) = self.asked().remove(&id)
        {
            let _ = waiting.send(());
        }
    }

    async fn play_all(&self, asked: Vec<Asked>, is_batch: bool, ticket: Option<Ticket>) {
        let mut due = Vec::new();
        for asked in &asked {
            due.extend(self.lead_up(asked, ticket).await);
        }
        let length = due.iter().map(Due::length).sum();
        if is_batch && length > client_budget::PER_CLIENT {
            let text = "the answers to the batch are too long".to_owned();
            due = vec![Due::Refusal(refusal(None, failure(ErrorCode::InternalError, text)))];
        }
        // Do not write it before there is room for it.
        let place = self.room.place(length).await;
        if place.is_none() {
            due = asked.iter().map(|asked| Due::Refusal(busy(asked))).collect();
        }
        let status = match &due[..] {
            [Due::Recorded { status, .. }] if !is_batch => *status,
            _ => ResponseStatus::Served,
        };
        let mut answers = due.iter().filter_map(Due::write);
        let bytes = if is_batch {
            let mut batch = BytesMut::with_capacity(length);
            for answer in answers {
                batch.extend_from_slice(if batch.is_empty() { b"[" } else { b"," });
                batch.extend_from_slice(&answer);
            }
            (!batch.is_empty()).then(|| {
                batch.extend_from_slice(b"]");
                batch.freeze()
            })
        } else {
            answers.next()
        };
        match (bytes, ticket) {
            (Some(bytes), _) => self.send(bytes, OutboundRole::Response(status), ticket).await,
            (None, Some(ticket)) => self.transport.finish_exchange(ticket),
            (None, None) => {}
        }
    }

    /// Plays the messages before the answer, and returns the answer.
    async fn lead_up<'a>(&self, asked: &'a Asked, ticket: Option<Ticket>) -> Option<Due<'a>> {
        let take = match &asked.take {
            Ok(take) => take.get(),
            Err(error) => return Some(Due::Refusal(error.clone())),
        };
        let mut fillings =
            Fillings { request_id: &asked.id, progress_token: asked.token.as_deref(), own_id: 0 };
        for step in &take.steps {
            let (Step::Notification(message) | Step::Request { message, .. }) = step;
            let Some(place) = self.room.place(message.length(&fillings)).await else {
                return Some(Due::Refusal(busy(asked)));
            };
            match step {
                Step::Notification(message) => {
                    if let Some(bytes) = message.fill(&fillings) {
                        self.send(bytes, OutboundRole::Notification, ticket).await;
                    }
                }
                Step::Request { method, message } => {
                    fillings.own_id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
                    if !self.ask(message, &fillings, place, ticket).await {
                        let text = format!("the client has not answered `{method}`");
                        let error = failure(ErrorCode::InternalError, text);
                        return Some(Due::Refusal(refusal(asked.id(), error)));
                    }
                }
            }
        }
        if let Some(revision) = take.revision {
            self.transport.established(revision);
        }
        let Some(answer) = &take.answer else {
            // A subscription that was never answered stays open.
            let _ = self.ended.clone().wait_for(|ended| *ended).await;
            return None;
        };
        Some(Due::Recorded { answer, fillings, status: take.status })
    }

    /// Sends a request of the server, which has a `place` until it is sent; whether the client has
    /// answered.
    async fn ask(
        &self,
        message: &Template,
        fillings: &Fillings<'_>,
        place: Reservation<'_>,
        ticket: Option<Ticket>,
    ) -> bool {
        let Some(bytes) = message.fill(fillings) else { return false };
        let (sender, answered) = oneshot::channel();
        self.asked().insert(fillings.own_id, sender);
        // Even if this future is dropped.
        let _forget = Forget { stage: self, id: fillings.own_id };
        self.send(bytes, OutboundRole::Request, ticket).await;
        drop(place);
        let mut ended = self.ended.clone();
        tokio::select! {
            biased;
            answered = answered => answered.is_ok(),
            _ = ended.wait_for(|ended| *ended) => false,
            () = tokio::time::sleep(self.patience) => false,
        }
    }

    async fn refuse(&self, id: Option<JsonRpcId>, error: JsonRpcError, ticket: Option<Ticket>) {
        let role = OutboundRole::Response(ResponseStatus::BadRequest);
        self.send(refusal(id, error), role, ticket).await;
    }

    /// Sends a message. If that fails, receiving reports the error.
    async fn send(&self, bytes: Bytes, role: OutboundRole, ticket: Option<Ticket>) {
        let outbound = Outbound { bytes, role, ticket, headers: None, parsed: None };
        if let Err(error) = self.transport.send(outbound).await {
            tracing::debug!(%error, "a message could not be sent");
        }
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<()>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets a request of ours.
struct Forget<'s> {
    stage: &'s Stage,
    id: i64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.stage.asked().remove(&self.id);
    }
}

fn failure(code: ErrorCode, message: String) -> JsonRpcError {
    JsonRpcError { code: code.code(), message, data: None }
}

/// The error for a request whose answer finds no room.
fn busy(asked: &Asked) -> Bytes {
    let text = "too many answers wait for clients that do not read them".to_owned();
    refusal(asked.id(), failure(ErrorCode::InternalError, text))
}

fn refusal(id: Option<JsonRpcId>, error: JsonRpcError) -> Bytes {
    JsonRpcResponse { id, outcome: Err(error) }.to_bytes()
}
