//! Plays a script to one client.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_core::{
    Inbound, Outbound, OutboundRole, ResponseStatus, Ticket, Transport, TransportError,
};
use mcp_json::{Limits, Node, Parsed};
use mcp_jsonrpc::{Envelope, ErrorCode, JsonRpcError, JsonRpcId, JsonRpcResponse, MessageKind};
use tokio::{
    sync::{oneshot, watch},
    task::{Id, JoinSet},
};

use super::{
    key::progress_token,
    playback::{Playback, TakeRef},
    script::Step,
    template::{Fillings, Template},
};

/// Requests of a client that are answered at the same time.
const MAX_RUNNING: usize = 1024;
/// Bytes of the answers to one batch. A short request may have a long answer, again and again.
const MAX_BATCH: usize = 32 << 20;

/// Plays to the client behind `transport` until it leaves. A client that is asked something has to
/// answer within `patience`.
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
    // Nobody answers any more; what does not depend on it is still sent.
    let _ = end.send(true);
    while running.tasks.join_next().await.is_some() {}
    stage.transport.close().await;
    outcome
}

/// The answers that are being played.
#[derive(Default)]
struct Running {
    tasks: JoinSet<()>,
    requests: HashMap<Id, (Vec<Bytes>, Option<Ticket>, tokio::task::AbortHandle)>,
}

impl Running {
    fn forget(&mut self, done: &Result<(Id, ()), tokio::task::JoinError>) {
        let id = match done {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        self.requests.remove(&id);
    }

    /// Ends those that match, and returns their exchanges.
    fn cancel(&self, matches: impl Fn(&[Bytes], Option<Ticket>) -> bool) -> Vec<Ticket> {
        let found = self.requests.values().filter(|(ids, ticket, _)| matches(ids, *ticket));
        found
            .filter_map(|(_, ticket, task)| {
                task.abort();
                *ticket
            })
            .collect()
    }
}

/// A request that is answered.
#[derive(Debug)]
struct Asked {
    id: Bytes,
    token: Option<Bytes>,
    /// What to play, or the error to send instead.
    take: Result<TakeRef, Bytes>,
}

#[derive(Debug)]
struct Stage {
    transport: Arc<dyn Transport>,
    playback: Arc<Playback>,
    patience: Duration,
    /// The client's answers that are awaited, by our ids.
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
            if root.is_array() {
                root.elements().for_each(&mut look);
            } else {
                look(root);
            }
            (asked, root.is_array(), is_odd)
        };
        if asked.is_empty() {
            if is_odd {
                let error = failure(ErrorCode::InvalidRequest, "not a JSON-RPC message".to_owned());
                self.refuse(None, error, ticket).await;
            } else if let Some(ticket) = ticket {
                self.transport.finish_exchange(ticket);
            }
            return;
        }
        if running.tasks.len() >= MAX_RUNNING {
            let error = failure(ErrorCode::InternalError, "too many requests at once".to_owned());
            let id = message.document().root().get("id").and_then(JsonRpcId::read);
            return self.refuse(id, error, ticket).await;
        }
        let ids = asked.iter().map(|asked| asked.id.clone()).collect();
        let stage = Arc::clone(self);
        let task =
            running.tasks.spawn(async move { stage.play_all(asked, is_batch, ticket).await });
        running.requests.insert(task.id(), (ids, ticket, task));
    }

    /// Finds the answer to a request. In the order of the requests, so that answers are too.
    fn find(&self, request: &Envelope<'_>) -> Option<Asked> {
        let id = request.id?;
        let take = self.playback.next(request).map_err(|reason| {
            let error = failure(ErrorCode::InternalError, reason);
            refusal(request.readable_id(), error)
        });
        let token = progress_token(request).map(|token| Bytes::copy_from_slice(token.raw()));
        Some(Asked { id: Bytes::copy_from_slice(id.raw()), token, take })
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

    /// Takes an answer of the client to one of our requests.
    fn settle(&self, response: &Envelope<'_>) {
        if let Some(id) = response.id.and_then(Node::as_i64)
            && let Some(waiting) = self.asked().remove(&id)
        {
            let _ = waiting.send(());
        }
    }

    async fn play_all(&self, asked: Vec<Asked>, is_batch: bool, ticket: Option<Ticket>) {
        let mut answers = Vec::new();
        let mut status = ResponseStatus::Served;
        let mut length = 0;
        for asked in asked {
            if length > MAX_BATCH {
                let text = "the answers to the batch are too long".to_owned();
                answers = vec![refusal(None, failure(ErrorCode::InternalError, text))];
                break;
            }
            if let Some((answer, of)) = self.play(&asked, ticket).await {
                length += answer.len();
                answers.push(answer);
                status = of;
            }
        }
        let bytes = match &mut answers[..] {
            [] => {
                if let Some(ticket) = ticket {
                    self.transport.finish_exchange(ticket);
                }
                return;
            }
            [one] if !is_batch => std::mem::take(one),
            answers => [b"[", &answers.join(&b","[..])[..], b"]"].concat().into(),
        };
        let status = if is_batch { ResponseStatus::Served } else { status };
        self.send(bytes, OutboundRole::Response(status), ticket).await;
    }

    /// Plays what came before the answer, and returns the answer.
    async fn play(&self, asked: &Asked, ticket: Option<Ticket>) -> Option<(Bytes, ResponseStatus)> {
        let take = match &asked.take {
            Ok(take) => take.get(),
            Err(error) => return Some((error.clone(), ResponseStatus::Served)),
        };
        let mut fillings =
            Fillings { request_id: &asked.id, progress_token: asked.token.as_deref(), own_id: 0 };
        for step in &take.steps {
            match step {
                Step::Notification(message) => {
                    if let Some(bytes) = message.fill(&fillings) {
                        self.send(bytes, OutboundRole::Notification, ticket).await;
                    }
                }
                Step::Request { method, message } => {
                    fillings.own_id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
                    if !self.ask(message, &fillings, ticket).await {
                        let text = format!("the client has not answered `{method}`");
                        let error = failure(ErrorCode::InternalError, text);
                        let id = Parsed::parse(asked.id.clone(), Limits::default()).ok();
                        let id = id.and_then(|id| JsonRpcId::read(id.document().root()));
                        return Some((refusal(id, error), ResponseStatus::Served));
                    }
                }
            }
        }
        if let Some(revision) = take.revision {
            self.transport.established(revision);
        }
        let Some(answer) = &take.answer else {
            // A subscription that stayed open.
            let _ = self.ended.clone().wait_for(|ended| *ended).await;
            return None;
        };
        Some((answer.fill(&fillings)?, take.status))
    }

    /// Sends a request of the server; whether the client has answered.
    async fn ask(
        &self,
        message: &Template,
        fillings: &Fillings<'_>,
        ticket: Option<Ticket>,
    ) -> bool {
        let Some(bytes) = message.fill(fillings) else { return false };
        let (sender, answered) = oneshot::channel();
        self.asked().insert(fillings.own_id, sender);
        // Also if this is aborted.
        let _forget = Forget { stage: self, id: fillings.own_id };
        self.send(bytes, OutboundRole::Request, ticket).await;
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

    /// Sends a message. If that fails, receiving says why.
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

fn refusal(id: Option<JsonRpcId>, error: JsonRpcError) -> Bytes {
    JsonRpcResponse { id, outcome: Err(error) }.to_bytes()
}
