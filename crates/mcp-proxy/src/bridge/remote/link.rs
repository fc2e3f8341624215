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
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

use super::{Remote, console::ClientLine, headers::MarkedTools, redial::Redial, server::Renewal};
use crate::{
    Verdict,
    bridge::{
        client_queue::ClientQueue,
        conversation_tap::ConversationTap,
        outline::{Outline, Reference, read},
        overlong,
        text::{failure, refusal},
        waiting::{Exchange, Waiting},
    },
    respond::Replacement,
};

/// The conversation of one client with a remote server.
pub(super) struct Link {
    remote: Remote,
    tap: ConversationTap,
    limits: Limits,
    max_waiting: usize,
    to_client: ClientQueue,
    state: Mutex<State>,
    next_ticket: AtomicU64,
    /// Notified whenever something arrives from the server.
    pub(super) heard: Notify,
    has_ended: watch::Sender<bool>,
}

struct State {
    /// `None` until it is needed, and after the connection was lost.
    transport: Option<Arc<dyn Transport>>,
    redial: Redial,
    /// Why the connection was lost on which the client had opened its conversation.
    lost: Option<String>,
    /// Whether the transport has completed a handshake, so that another one needs a new transport.
    is_used: bool,
    waiting: Waiting,
    marked: MarkedTools,
}

impl Link {
    pub(super) fn new(
        remote: Remote,
        tap: ConversationTap,
        (max_message, max_waiting): (usize, usize),
        to_client: ClientQueue,
    ) -> Arc<Link> {
        let state = State {
            transport: None,
            redial: Redial::default(),
            lost: None,
            is_used: false,
            waiting: Waiting::default(),
            marked: MarkedTools::default(),
        };
        let limits = Limits { max_bytes: max_message, ..Limits::default() };
        Arc::new(Link {
            remote,
            tap,
            limits,
            max_waiting,
            to_client,
            state: Mutex::new(state),
            next_ticket: AtomicU64::new(0),
            heard: Notify::new(),
            has_ended: watch::channel(false).0,
        })
    }

    /// Whether the client waits for answers.
    pub(super) fn is_waiting(&self) -> bool {
        self.lock().waiting.len() > 0
    }

    /// Completes when the client stops reading.
    pub(super) async fn client_left(&self) {
        self.to_client.closed().await;
    }

    /// Completes when the server has ended for good.
    pub(super) async fn ended(&self) {
        let _ = self.has_ended.subscribe().wait_for(|ended| *ended).await;
    }

    /// Ends the conversation, and fails open requests with `reason`.
    pub(super) async fn close(&self, reason: &str) {
        self.fail_all(reason).await;
        self.leave().await;
    }

    /// Ends the conversation without answering open requests.
    pub(super) async fn leave(&self) {
        self.lock().waiting.end_all();
        let transport = self.lock().transport.take();
        if let Some(transport) = transport {
            transport.close().await;
        }
    }

    /// The connection to the server, opened if necessary.
    async fn transport(self: &Arc<Self>) -> Result<Arc<dyn Transport>, TransportError> {
        {
            let state = self.lock();
            if let Some(transport) = &state.transport {
                return Ok(Arc::clone(transport));
            }
            state.redial.pause(Instant::now())?;
        }
        let connected = self.remote.connect().await;
        let mut state = self.lock();
        match connected {
            Ok(transport) => {
                state.redial.reached();
                state.transport = Some(Arc::clone(&transport));
                drop(state);
                tokio::spawn(Arc::clone(self).receive_all(Arc::clone(&transport)));
                Ok(transport)
            }
            Err(error) => {
                state.redial.failed(Instant::now(), error.clone());
                Err(error)
            }
        }
    }

    /// Handles a line from the client.
    pub(super) async fn take_from_client(self: &Arc<Self>, line: ClientLine) {
        let (text, ends, _room) = match line {
            ClientLine::Whole { text, ends, room } => (text, ends, room),
            ClientLine::TooLong { length, ends } => {
                self.tap.skip(Side::Client, length);
                let message = format!("a line of {length} bytes is too long");
                let reason = refusal(RefusalReason::NotAMessage, message);
                let Replacement { to_sender, to_receiver, .. } =
                    Replacement::of_overlong(&ends, &reason);
                if let Some(answer) = to_sender {
                    self.answer_for_server(answer).await;
                }
                if let Some(answer) = to_receiver {
                    self.tap.stand_in(Side::Client, &answer);
                    self.forward(answer).await;
                }
                return;
            }
        };
        let verdict = if ends {
            self.tap.pass(Side::Client, &text)
        } else {
            self.tap.pass_unterminated(Side::Client, &text)
        };
        if !verdict.passes() {
            return self.refuse(&text, &verdict).await;
        }
        self.forward(text).await;
    }

    /// Forwards a line of the client.
    async fn forward(self: &Arc<Self>, text: Bytes) {
        if text.trim_ascii().is_empty() {
            return;
        }
        let message = text.strip_suffix(b"\r").map_or(text.clone(), |text| text.to_vec().into());
        let looked = read(&message, self.limits, |root| {
            let outline = Outline::of(root);
            let headers = outline.single().map(|single| self.lock().marked.headers(single, root));
            (outline, headers.map(Box::new))
        });
        match looked {
            Some((outline, headers)) => self.send(message, &outline, headers).await,
            None => self.forward_unreadable(message).await,
        }
    }

    /// Forwards text that is not JSON if the transport can carry it; otherwise answers it.
    async fn forward_unreadable(self: &Arc<Self>, text: Bytes) {
        if !self.remote.can_carry(&text) {
            let reason = refusal(RefusalReason::NotJson, "the line is not a JSON text");
            let answer = Replacement::of(&text, &Verdict::refusing(reason)).to_sender;
            if let Some(answer) = answer {
                self.answer_for_server(answer).await;
            }
            return;
        }
        match self.remote.renewal() {
            // It gets its own exchange, in which the server can refuse it.
            Renewal::Always => self.ask(text, &Outline::EMPTY, None).await,
            Renewal::WhenLost | Renewal::Never => {
                self.deliver(OutboundRole::Notification, text, None).await;
            }
        }
    }

    /// Forwards the parts of a client's line that may pass, and answers the rest.
    async fn refuse(self: &Arc<Self>, text: &[u8], verdict: &Verdict) {
        let Replacement { to_sender, to_receiver, .. } = Replacement::of(text, verdict);
        if let Some(answer) = to_sender {
            self.answer_for_server(answer).await;
        }
        if let Some(rest) = to_receiver {
            self.tap.replace(Side::Client, verdict, &rest);
            self.forward(rest).await;
        }
    }

    async fn send(
        self: &Arc<Self>,
        text: Bytes,
        outline: &Outline,
        headers: Option<Box<MessageHeaders>>,
    ) {
        if outline.expects_response() {
            return self.ask(text, outline, headers).await;
        }
        let single = outline.single();
        if let Some(Reference::Cancelled(id)) = single.and_then(|single| single.reference.as_ref())
        {
            return self.cancel(text, &id.id, headers).await;
        }
        let role = match outline.messages.first().and_then(|message| message.kind) {
            Some(MessageKind::Response) => OutboundRole::Response(ResponseStatus::Served),
            _ => OutboundRole::Notification,
        };
        self.deliver(role, text, headers).await;
    }

    async fn ask(
        self: &Arc<Self>,
        bytes: Bytes,
        outline: &Outline,
        headers: Option<Box<MessageHeaders>>,
    ) {
        let single = outline.single();
        if single.is_some_and(|single| single.is(MessageKind::Request, "initialize")) {
            self.begin_anew().await;
        }
        let revision = headers.as_ref().and_then(|headers| headers.revision);
        let is_modern = revision.is_some_and(|revision| revision.era() == Era::Modern);
        let ticket = Ticket(self.next_ticket.fetch_add(1, Ordering::Relaxed));
        let (room, lost) = {
            let mut state = self.lock();
            state.waiting.begin(ticket, outline, is_modern);
            (state.waiting.room_in(self.max_waiting), state.lost.clone())
        };
        if let Err(full) = room {
            return self.fail(ticket, &full.to_string()).await;
        }
        if let Some(lost) = lost.filter(|_| !is_modern) {
            let reason = format!("{lost}; start a new conversation with `initialize`");
            return self.fail(ticket, &reason).await;
        }
        let sent = async {
            let (role, ticket) = (OutboundRole::Request, Some(ticket));
            let outbound = Outbound { bytes, role, ticket, headers, parsed: None };
            self.transport().await?.send(outbound).await
        };
        if let Err(error) = sent.await {
            self.fail(ticket, &shown(&error)).await;
        }
    }

    /// Cancels a request: without a session by ending its exchange, otherwise with the message.
    /// Late answers are dropped.
    async fn cancel(
        self: &Arc<Self>,
        text: Bytes,
        id: &JsonRpcId,
        headers: Option<Box<MessageHeaders>>,
    ) {
        let (ticket, cancelled, transport) = {
            let mut state = self.lock();
            let ticket = state.waiting.exchange_of(id);
            let cancelled = ticket.and_then(|ticket| state.waiting.end(ticket));
            (ticket, cancelled, state.transport.clone())
        };
        let ends_exchange = transport.as_ref().is_some_and(Transport::finishing_cancels);
        if !(ends_exchange && cancelled.is_some_and(|exchange| exchange.is_modern)) {
            self.deliver(OutboundRole::Notification, text, headers).await;
        }
        if let (Some(ticket), Some(transport)) = (ticket, transport) {
            transport.finish_exchange(ticket);
        }
    }

    /// Sends messages that get no answer.
    async fn deliver(
        self: &Arc<Self>,
        role: OutboundRole,
        bytes: Bytes,
        headers: Option<Box<MessageHeaders>>,
    ) {
        let sent = async {
            let outbound = Outbound { bytes, role, ticket: None, headers, parsed: None };
            self.transport().await?.send(outbound).await
        };
        if let Err(error) = sent.await {
            tracing::warn!(%error, "could not deliver a message of the client to the server");
        }
    }

    /// Starts a new conversation with the server, since the client has sent `initialize` again.
    async fn begin_anew(self: &Arc<Self>) {
        let old = {
            let mut state = self.lock();
            state.lost = None;
            if self.remote.renewal() != Renewal::Always || !std::mem::take(&mut state.is_used) {
                return;
            }
            state.transport.take()
        };
        self.fail_all("the client opened a new conversation").await;
        if let Some(old) = old {
            old.close().await;
        }
    }

    async fn receive_all(self: Arc<Self>, transport: Arc<dyn Transport>) {
        let reason = loop {
            match transport.receive().await {
                Ok(Some(inbound)) => self.take_from_server(&transport, inbound).await,
                // Over HTTP, only the proxy ends a conversation.
                Ok(None) if self.remote.renewal() == Renewal::Always => return,
                Ok(None) => break "the server closed the connection".to_owned(),
                Err(error) => break shown(&error),
            }
            self.heard.notify_one();
        };
        {
            let mut state = self.lock();
            let is_current =
                state.transport.as_ref().is_some_and(|current| Arc::ptr_eq(current, &transport));
            if !is_current {
                return;
            }
            match self.remote.renewal() {
                // Using the transport again gives the best error.
                Renewal::Always => state.is_used = true,
                Renewal::WhenLost => {
                    state.transport = None;
                    if std::mem::take(&mut state.is_used) {
                        state.lost = Some(reason.clone());
                    }
                }
                Renewal::Never => {}
            }
        }
        self.fail_all(&reason).await;
        if self.remote.renewal() == Renewal::Never {
            self.has_ended.send_replace(true);
        }
    }

    async fn take_from_server(&self, transport: &Arc<dyn Transport>, inbound: Inbound) {
        match inbound {
            Inbound::Message { ticket, bytes } => self.pass_back(transport, ticket, bytes).await,
            Inbound::Parsed { ticket, message, .. } => {
                self.pass_back(transport, ticket, message.text()).await;
            }
            Inbound::ErrorBody { ticket, bytes, .. } => {
                self.explain(transport, ticket, bytes).await;
            }
            Inbound::TooLong { ticket, length, limit, ends } => {
                self.tap.skip(Side::Server, length);
                // With exchanges, the end of the exchange reports it.
                if let Some(id) = overlong::id_of(&ends).filter(|_| ticket.is_none()) {
                    let reason =
                        format!("the answer has {length} bytes, more than the limit of {limit}");
                    let waits = self.lock().waiting.answer(None, &id).is_some();
                    if waits {
                        let answer = failure(Some(id), ErrorCode::InternalError, &reason);
                        self.answer_for_server(answer).await;
                    }
                }
            }
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

    /// Forwards a message of the server to the client.
    async fn pass_back(&self, transport: &Arc<dyn Transport>, ticket: Option<Ticket>, text: Bytes) {
        let line = self.tap.carried(text, self.limits);
        let outline = read(&line, self.limits, |root| {
            self.lock().marked.learn(root);
            Outline::of(root)
        });
        if let Some(outline) = &outline {
            self.note_answers(transport, ticket, outline);
        }
        let verdict = self.tap.pass(Side::Server, &line);
        if verdict.passes() {
            // Text that is not JSON is not forwarded as a line; the caller gets an error when the
            // exchange ends.
            if outline.is_some() {
                self.write(line).await;
            }
            return;
        }
        let Replacement { to_sender, to_receiver, .. } = Replacement::of(&line, &verdict);
        if let Some(rest) = to_receiver {
            self.tap.replace(Side::Server, &verdict, &rest);
            self.write(rest).await;
        }
        if let Some(answer) = to_sender.filter(|_| outline.is_some()) {
            self.tap.stand_in(Side::Client, &answer);
            let role = OutboundRole::Response(ResponseStatus::Served);
            let (ticket, headers, parsed) = (None, None, None);
            let outbound = Outbound { bytes: answer, role, ticket, headers, parsed };
            if let Err(error) = transport.send(outbound).await {
                tracing::warn!(%error, "could not deliver an answer of the proxy to the server");
            }
        }
    }

    fn note_answers(
        &self,
        transport: &Arc<dyn Transport>,
        ticket: Option<Ticket>,
        outline: &Outline,
    ) {
        for response in outline.responses() {
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

    /// Uses the body of an HTTP error if it is a protocol error, which says more than the status.
    async fn explain(&self, transport: &Arc<dyn Transport>, ticket: Ticket, body: Bytes) {
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
        // The server could not name the request, but its exchange identifies it.
        for id in exchange.ids() {
            let answer = JsonRpcResponse::failure(id.clone(), error.clone()).to_bytes();
            self.answer_for_server(answer).await;
        }
    }

    /// Fails the open requests of an exchange.
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
        self.tap.stand_in(Side::Server, &answer);
        self.write(answer).await;
    }

    async fn write(&self, line: Bytes) {
        // A client that stops reading ends the conversation.
        let _ = self.to_client.post(line).await;
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
            "the server no longer knows this session: start a new one with `initialize`".into()
        }
        error => error.to_string(),
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("remote", &self.remote).finish_non_exhaustive()
    }
}
