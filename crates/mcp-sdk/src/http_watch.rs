//! Judges live HTTP traffic by the same rules as recordings of it.

use std::{
    any::Any,
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use http::{HeaderMap, StatusCode, Uri, request::Parts};
use mcp_core::{Dispatch, Error, Refusal, Response, Revision, Side};
use mcp_json::{Limits, Node, Parsed, SyntaxError, TapePool};
use mcp_jsonrpc::{Envelope, Gate, JsonRpcId, ToJsonRpc as _, Verdict};
use mcp_rules::{Headers, HttpEvent, HttpGate, HttpVerdict, SseEvent};
use mcp_transport::http::watch::{
    Blocked, HttpWatch, Passed, WatchFactory, WatchedBody, WatchedEvent,
};

use crate::{
    Validation,
    stray::{StrayGate, StrayLines},
    validation::HttpBeginning,
};

/// A watch that shows everything to a gate.
#[derive(Debug)]
pub(crate) struct GateWatch {
    gate: Mutex<HttpGate>,
    tapes: TapePool,
    limits: Limits,
    stray_lines: StrayLines,
}

impl GateWatch {
    /// Creates a watch that parses texts within `limits`.
    pub(crate) fn new(gate: HttpGate, tapes: TapePool, limits: Limits) -> GateWatch {
        GateWatch { gate: Mutex::new(gate), tapes, limits, stray_lines: StrayLines::default() }
    }

    /// Makes a watch for each conversation of a client, if its HTTP side is judged at all. Messages
    /// have at most `max_bytes`.
    pub(crate) fn factory(validation: &Validation, max_bytes: usize) -> Option<WatchFactory> {
        let gate = |validation: &Validation, stray_lines: &StrayLines| {
            let sink = stray_lines.throttled(validation.sink());
            validation.http_gate(Side::Client, None, HttpBeginning::Session, sink)
        };
        let validation = validation.clone().for_messages_of(max_bytes);
        gate(&validation, &StrayLines::default())?;
        let tapes = TapePool::new();
        let limits = validation.limits(max_bytes);
        Some(WatchFactory::new(move || {
            let stray_lines = StrayLines::default();
            let gate = gate(&validation, &stray_lines).expect("it is judged, as seen above");
            let watch = GateWatch::new(gate, tapes.clone(), limits);
            Arc::new(GateWatch { stray_lines, ..watch })
        }))
    }

    /// The gate of a client's conversation that `watch`, made here, sees as well.
    pub(crate) fn client_gate(watch: Arc<dyn HttpWatch>) -> Option<Box<dyn Gate>> {
        let watch = GateWatch::from_watch(watch)?;
        let stray_lines = watch.stray_lines.clone();
        Some(Box::new(StrayGate::new(Box::new(WatchGate(watch)), stray_lines)))
    }

    /// Downcasts a watch that was created here.
    pub(crate) fn from_watch(watch: Arc<dyn HttpWatch>) -> Option<Arc<GateWatch>> {
        let watch: Arc<dyn Any + Send + Sync> = watch;
        watch.downcast().ok()
    }

    fn judge(&self, event: HttpEvent<'_>, body: WatchedBody<'_>) -> Result<Passed, Blocked> {
        match body {
            WatchedBody::Nothing => passes(self.gate().judge_http(&event), None),
            WatchedBody::Parsed(message) => self.judge_message(event, message),
            WatchedBody::Text(text) => match self.tapes.parse(text.clone(), self.limits) {
                Ok(message) => self.judge_message(event, &message),
                Err(error) => {
                    passes(self.gate().judge_http(&event.with_unreadable(text, error)), None)
                }
            },
        }
    }

    fn judge_message(&self, event: HttpEvent<'_>, message: &Parsed) -> Result<Passed, Blocked> {
        let document = message.document();
        let root = document.root();
        passes(self.gate().judge_http(&event.with_message(root)), Some(root))
    }

    fn gate(&self) -> MutexGuard<'_, HttpGate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The gate of a watch, for the messages of its conversation.
#[derive(Debug)]
pub(crate) struct WatchGate(pub(crate) Arc<GateWatch>);

impl Gate for WatchGate {
    fn is_open(&self) -> bool {
        self.0.gate().is_open()
    }

    fn judge(&mut self, from: Side, message: &Parsed) -> Verdict {
        self.0.gate().judge(from, message)
    }

    fn judge_unreadable(&mut self, from: Side, text: &[u8], error: &SyntaxError) -> Verdict {
        self.0.gate().judge_unreadable(from, text, error)
    }

    fn skipped(&mut self, from: Side, length: u64) {
        self.0.gate().skipped(from, length);
    }
}

impl HttpWatch for GateWatch {
    fn parse(&self, text: &Bytes) -> Option<Parsed> {
        self.tapes.parse(text.clone(), self.limits).ok()
    }

    fn request(
        &self,
        exchange: u64,
        head: &Parts,
        body: WatchedBody<'_>,
    ) -> Result<Passed, Blocked> {
        let headers = headers(&head.headers);
        let url = url(&head.uri);
        self.judge(HttpEvent::request(exchange, head.method.as_str(), &url, &headers), body)
    }

    fn response(
        &self,
        exchange: u64,
        status: StatusCode,
        sent: &HeaderMap,
        body: WatchedBody<'_>,
    ) -> Result<Passed, Blocked> {
        self.judge(HttpEvent::response(exchange, status.as_u16(), &headers(sent)), body)
    }

    fn event(&self, exchange: u64, event: WatchedEvent<'_>) -> Result<Passed, Blocked> {
        let WatchedEvent { id, name, retry, data } = event;
        let text = match data {
            WatchedBody::Text(text) => Some(&**text),
            WatchedBody::Nothing | WatchedBody::Parsed(_) => None,
        };
        let event = HttpEvent::event(exchange, SseEvent { id, event: name, data: text, retry });
        self.judge(event, data)
    }

    fn end(&self, exchange: u64, by: Side) {
        // There is nothing left to block.
        self.gate().judge_http(&HttpEvent::end(exchange, by));
    }
}

/// The target of a request. Servers mostly get path and query alone, which need not be copied.
fn url(uri: &Uri) -> Cow<'_, str> {
    match uri.path_and_query() {
        Some(path) if uri.authority().is_none() => Cow::Borrowed(path.as_str()),
        _ => Cow::Owned(uri.to_string()),
    }
}

/// Headers as the rules read them.
pub(crate) fn headers(sent: &HeaderMap) -> Headers<'_> {
    sent.iter().map(|(name, value)| (name.as_str(), text(value.as_bytes()))).collect()
}

/// The text of a header. Nearly all are valid UTF-8, which is the fast path.
fn text(value: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(value) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(value),
    }
}

fn passes(verdict: HttpVerdict, message: Option<Node<'_>>) -> Result<Passed, Blocked> {
    match verdict.http.refusals.into_iter().next() {
        None => Ok(Passed { refusals: verdict.message }),
        Some(refusal) => Err(blocked(refusal, message)),
    }
}

fn blocked(refusal: Refusal, message: Option<Node<'_>>) -> Blocked {
    let id = message.and_then(|message| Envelope::of(message).readable_id());
    let sentence = refusal.message.clone();
    let response = Response {
        id: id.as_ref().and_then(JsonRpcId::to_request_id).unwrap_or_else(|| 0.into()),
        revision: Revision::LATEST,
        outcome: Err(Error::Refused(refusal)),
    };
    let mut response = response.to_json_rpc(JsonRpcId::Null, Dispatch::Mcp);
    response.id = id;
    Blocked { message: sentence, body: response.to_bytes() }
}
