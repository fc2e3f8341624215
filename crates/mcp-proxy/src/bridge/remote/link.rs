use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use mcp_core::{
    Era, Inbound, Json, MessageHeaders, Outbound, OutboundRole, RefusalReason, ResponseStatus,
    Side, Ticket, Transport, TransportError,
};
use mcp_json::{Limits, Node};
use mcp_jsonrpc::{ErrorCode, JsonRpcError, JsonRpcId, JsonRpcResponse, MessageKind};
use tokio::sync::{Notify, mpsc};

use super::{Remote, console::ClientLine, headers::MarkedTools};
use crate::{
    Verdict,
    bridge::{
        glance::{Glance, Reference, read},
        lane::Lane,
        text::{failure, one_line, refusal},
        waiting::{Exchange, Waiting},
    },
    respond::Replacement,
};

/// One client's conversation with a remote server.
pub(super) struct Link {
    remote: Remote,
    lane: Lane,
    limits: Limits,
    max_waiting: usize,
    to_client: mpsc::Sender<Bytes>,
    state: Mutex<State>,
    next_ticket: AtomicU64,
    /// Whenever something has come from the server.
    pub(super) heard: Notify,
}

struct State {
    transport: Arc<dyn Transport>,
    /// Whether a handshake was completed over the transport, so that another needs a new one.
    is_used: bool,
    waiting: Waiting,
    marked: MarkedTools,
}

impl Link {
    pub(super) fn new(
        remote: Remote,
        lane: Lane,
        (max_message, max_waiting): (usize, usize),
        to_client: mpsc::Sender<Bytes>,
    ) -> Arc<Link> {
        let transport = remote.connect();
        let state = State {
            transport: Arc::clone(&transport),
            is_used: false,
            waiting: Waiting::default(),
            marked: MarkedTools::default(),
        };
        let limits = Limits { max_bytes: max_message, ..Limits::default() };
        let link = Arc::new(Link {
            remote,
            lane,
            limits,
            max_waiting,
            to_client,
            state: Mutex::new(state),
            next_ticket: AtomicU64::new(0),
            heard: Notify::new(),
        });
        tokio::spawn(Arc::clone(&link).receive_all(transport));
        link
    }

    /// Whether the client waits for answers.
    pub(super) fn is_waiting(&self) -> bool {
        self.lock().waiting.len() > 0
    }

    /// Completes when the client does not read any more.
    pub(super) async fn client_left(&self) {
        self.to_client.closed().await;
    }

    /// Ends the conversation: whoever still waits is told why.
    pub(super) async fn close(&self, reason: &str) {
        self.fail_all(reason).await;
        self.leave().await;
    }

    /// Ends the conversation without a word to whoever still waits.
    pub(super) async fn leave(&self) {
        self.lock().waiting.end_all();
        let transport = Arc::clone(&self.lock().transport);
        transport.close().await;
    }

    /// Takes a line of the client.
    pub(super) async fn take_from_client(self: &Arc<Self>, line: ClientLine) {
        let (text, ends) = match line {
            ClientLine::Whole { text, ends } => (text, ends),
            ClientLine::TooLong { length } => {
                self.lane.skip(Side::Client, length);
                let message = format!("a line of {length} bytes is too long");
                let reason = refusal(RefusalReason::NotAMessage, message);
                return self.refuse(b"", &Verdict::refusing(reason)).await;
            }
        };
        let verdict = if ends {
            self.lane.pass(Side::Client, &text)
        } else {
            self.lane.pass_unterminated(Side::Client, &text)
        };
        if !verdict.passes() {
            return self.refuse(&text, &verdict).await;
        }
        self.forward(text).await;
    }

    /// Sends a line of the client on.
    async fn forward(self: &Arc<Self>, text: Bytes) {
        if text.trim_ascii().is_empty() {
            return;
        }
        let message = text.strip_suffix(b"\r").map_or(text.clone(), |text| text.to_vec().into());
        let looked = read(&message, self.limits, |root| {
            let glance = Glance::of(root);
            let headers = glance.single().map(|single| self.lock().marked.headers(single, root));
            (glance, headers.map(Box::new))
        });
        let Some((glance, headers)) = looked else {
            let reason = refusal(RefusalReason::NotJson, "the line is not a JSON text");
            let answer = Replacement::of(&text, &Verdict::refusing(reason)).to_sender;
            if let Some(answer) = answer {
                self.answer_for_server(answer).await;
            }
            return;
        };
        self.send(message, &glance, headers).await;
    }

    /// Sends on what may pass of a line of the client, and answers the rest.
    async fn refuse(self: &Arc<Self>, text: &[u8], verdict: &Verdict) {
        let Replacement { to_sender, to_receiver, .. } = Replacement::of(text, verdict);
        if let Some(answer) = to_sender {
            self.answer_for_server(answer).await;
        }
        if let Some(rest) = to_receiver {
            self.lane.replace(Side::Client, verdict, &rest);
            self.forward(rest).await;
        }
    }

    async fn send(
        self: &Arc<Self>,
        text: Bytes,
        glance: &Glance,
        headers: Option<Box<MessageHeaders>>,
    ) {
        if glance.expects_response() {
            return self.ask(text, glance, headers).await;
        }
        let single = glance.single();
        if let Some(Reference::Cancelled(id)) = single.and_then(|single| single.reference.as_ref())
        {
            return self.cancel(text, &id.id, headers).await;
        }
        let role = match glance.messages.first().and_then(|message| message.kind) {
            Some(MessageKind::Response) => OutboundRole::Response(ResponseStatus::Served),
            _ => OutboundRole::Notification,
        };
        self.deliver(role, text, headers).await;
    }

    async fn ask(
        self: &Arc<Self>,
        bytes: Bytes,
        glance: &Glance,
        headers: Option<Box<MessageHeaders>>,
    ) {
        let single = glance.single();
        if single.is_some_and(|single| single.is(MessageKind::Request, "initialize")) {
            self.begin_anew().await;
        }
        let revision = headers.as_ref().and_then(|headers| headers.revision);
        let is_modern = revision.is_some_and(|revision| revision.era() == Era::Modern);
        let ticket = Ticket(self.next_ticket.fetch_add(1, Ordering::Relaxed));
        let (transport, has_room) = {
            let mut state = self.lock();
            state.waiting.begin(ticket, glance, is_modern);
            (Arc::clone(&state.transport), state.waiting.len() <= self.max_waiting)
        };
        if !has_room {
            let limit = self.max_waiting;
            return self.fail(ticket, &format!("more than {limit} requests are waiting")).await;
        }
        let (ticket, parsed) = (Some(ticket), None);
        let role = OutboundRole::Request;
        let sent = transport.send(Outbound { bytes, role, ticket, headers, parsed }).await;
        if let (Err(error), Some(ticket)) = (sent, ticket) {
            self.fail(ticket, &shown(&error)).await;
        }
    }

    /// Without a session, ending the exchange is what cancels a request; otherwise the message is.
    /// Whatever comes too late is not for anyone.
    async fn cancel(&self, text: Bytes, id: &JsonRpcId, headers: Option<Box<MessageHeaders>>) {
        let (ticket, cancelled) = {
            let mut state = self.lock();
            let ticket = state.waiting.exchange_of(id);
            (ticket, ticket.and_then(|ticket| state.waiting.end(ticket)))
        };
        if !cancelled.is_some_and(|exchange| exchange.is_modern) {
            self.deliver(OutboundRole::Notification, text, headers).await;
        }
        if let Some(ticket) = ticket {
            let transport = Arc::clone(&self.lock().transport);
            transport.finish_exchange(ticket);
        }
    }

    /// Sends what gets no answer.
    async fn deliver(
        &self,
        role: OutboundRole,
        bytes: Bytes,
        headers: Option<Box<MessageHeaders>>,
    ) {
        let transport = Arc::clone(&self.lock().transport);
        let outbound = Outbound { bytes, role, ticket: None, headers, parsed: None };
        if let Err(error) = transport.send(outbound).await {
            tracing::warn!(%error, "a message of the client did not reach the server");
        }
    }

    /// A client that opens its conversation again gets a new one with the server.
    async fn begin_anew(self: &Arc<Self>) {
        let old = {
            let mut state = self.lock();
            if !std::mem::take(&mut state.is_used) {
                return;
            }
            std::mem::replace(&mut state.transport, self.remote.connect())
        };
        self.fail_all("the client has opened a new conversation").await;
        old.close().await;
        let transport = Arc::clone(&self.lock().transport);
        tokio::spawn(Arc::clone(self).receive_all(transport));
    }

    async fn receive_all(self: Arc<Self>, transport: Arc<dyn Transport>) {
        loop {
            match transport.receive().await {
                Ok(Some(inbound)) => self.take_from_server(&*transport, inbound).await,
                Ok(None) => return,
                Err(error) => {
                    self.lock().is_used = true;
                    return self.fail_all(&shown(&error)).await;
                }
            }
            self.heard.notify_one();
        }
    }

    async fn take_from_server(&self, transport: &dyn Transport, inbound: Inbound) {
        match inbound {
            Inbound::Message { ticket, bytes } => self.pass_back(transport, ticket, bytes).await,
            Inbound::Parsed { ticket, message, .. } => {
                self.pass_back(transport, ticket, message.text()).await;
            }
            Inbound::ErrorBody { ticket, bytes, .. } => {
                self.explain(transport, ticket, bytes).await;
            }
            Inbound::TooLong { length, .. } => self.lane.skip(Side::Server, length),
            Inbound::ExchangeEnded { ticket, error } => {
                let reason = match error {
                    Some(error) => shown(&error),
                    None => "the server ended the exchange without an answer".to_owned(),
                };
                self.fail(ticket, &reason).await;
            }
            Inbound::NotificationsLost { error } => {
                tracing::warn!(%error, "messages of the server may be lost");
            }
            other => tracing::debug!(?other, "an unknown event of the transport"),
        }
        self.heard.notify_one();
    }

    /// Passes a message of the server to the client.
    async fn pass_back(&self, transport: &dyn Transport, ticket: Option<Ticket>, text: Bytes) {
        let line = one_line(text);
        let glance = read(&line, self.limits, |root| {
            self.lock().marked.learn(root);
            Glance::of(root)
        });
        if let Some(glance) = &glance {
            self.note_answers(transport, ticket, glance);
        }
        let verdict = self.lane.pass(Side::Server, &line);
        if verdict.passes() {
            // What is not JSON has no place among lines; who waits for it is told when its
            // exchange ends.
            if glance.is_some() {
                self.write(line).await;
            }
            return;
        }
        let Replacement { to_sender, to_receiver, .. } = Replacement::of(&line, &verdict);
        if let Some(rest) = to_receiver {
            self.lane.replace(Side::Server, &verdict, &rest);
            self.write(rest).await;
        }
        if let Some(answer) = to_sender.filter(|_| glance.is_some()) {
            self.lane.stand_in(Side::Client, &answer);
            self.deliver(OutboundRole::Response(ResponseStatus::Served), answer, None).await;
        }
    }

    fn note_answers(&self, transport: &dyn Transport, ticket: Option<Ticket>, glance: &Glance) {
        for response in glance.responses() {
            let Some(id) = &response.id else { continue };
            let answered = self.lock().waiting.answer(ticket, &id.id);
            let Some(answered) = answered else { continue };
            if let (true, Some(revision)) = (answered.opens, response.agreed) {
                self.lock().is_used = true;
                transport.established(revision);
            }
            if answered.is_last {
                transport.finish_exchange(answered.ticket);
            }
        }
    }

    /// The body of an HTTP error says more than its status, if it is a protocol error.
    async fn explain(&self, transport: &dyn Transport, ticket: Ticket, body: Bytes) {
        let found = read(&body, self.limits, |root| {
            let has_id = root.get("id").is_some_and(|id| !id.is_null());
            error_of(root).map(|error| (has_id, error))
        });
        let Some((has_id, error)) = found.flatten() else { return };
        let exchange = if has_id { None } else { self.lock().waiting.end(ticket) };
        let Some(exchange) = exchange.filter(|exchange| exchange.ids().next().is_some()) else {
            return self.pass_back(transport, Some(ticket), body).await;
        };
        transport.finish_exchange(ticket);
        // The server could not name the request, but its exchange does.
        for id in exchange.ids() {
            let answer = JsonRpcResponse::failure(id.clone(), error.clone()).to_bytes();
            self.answer_for_server(answer).await;
        }
    }

    /// Tells those who wait in an exchange that they get no answer.
    async fn fail(&self, ticket: Ticket, reason: &str) {
        let exchange = self.lock().waiting.end(ticket);
        if let Some(exchange) = exchange {
            self.fail_exchange(&exchange, reason).await;
        }
    }

    pub(super) async fn fail_all(&self, reason: &str) {
        let ended = self.lock().waiting.end_all();
        for (_, exchange) in ended {
            self.fail_exchange(&exchange, reason).await;
        }
    }

    async fn fail_exchange(&self, exchange: &Exchange, reason: &str) {
        for id in exchange.ids() {
            self.answer_for_server(failure(Some(id.clone()), ErrorCode::InternalError, reason))
                .await;
        }
    }

    async fn answer_for_server(&self, answer: Bytes) {
        self.lane.stand_in(Side::Server, &answer);
        self.write(answer).await;
    }

    async fn write(&self, line: Bytes) {
        // A client that does not read any more ends the conversation.
        let _ = self.to_client.send(line).await;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error in a message.
fn error_of(root: Node<'_>) -> Option<JsonRpcError> {
    let error = root.get("error")?;
    Some(JsonRpcError {
        code: error.get("code")?.as_i64()?,
        message: error.get("message")?.as_str()?.into_owned(),
        data: error.get("data").and_then(|data| Json::parse(data.raw().to_vec()).ok()),
    })
}

fn shown(error: &TransportError) -> String {
    match error {
        TransportError::Connect(reason) => format!("the server cannot be reached: {reason}"),
        TransportError::SessionExpired => {
            "the server no longer knows this session: begin a new one with `initialize`".into()
        }
        error => error.to_string(),
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("remote", &self.remote).finish_non_exhaustive()
    }
}
