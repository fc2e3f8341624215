use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header::HOST, request, uri::Scheme};
use mcp_core::{MemoryBudget, Side};
use mcp_json::{Limits, Tape};
use ring::digest::{SHA256, digest};

use super::{
    body::Collected,
    encoding::Encoding,
    tee::{End, Watch},
};
use crate::{
    Observation, Tap, Verdict,
    tap::{Event, Judgement, Part, SentHeaders, is_initialize},
};

/// Records and judges a request and its response.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    tap: Tap,
    number: u64,
    session: Option<Arc<str>>,
    /// The session it belongs to, if replicas share session state.
    kept_in: Option<Arc<str>>,
    /// Whether it may open a session.
    opens: bool,
    /// Maximum size of a body to keep.
    limit: usize,
    /// Memory budget of all bodies that are kept.
    room: MemoryBudget,
}

impl Exchange {
    pub(super) fn new(
        tap: Tap,
        number: u64,
        session: Option<Arc<str>>,
        (limit, room): (usize, MemoryBudget),
    ) -> Exchange {
        Exchange { tap, number, session, kept_in: None, opens: false, limit, room }
    }

    /// Notes the session named by a request, or by the response that opens one.
    pub(super) fn named_by(mut self, headers: &HeaderMap) -> Exchange {
        if self.tap.is_shared() && self.kept_in.is_none() {
            self.kept_in = session_id(self.session.as_deref(), headers);
        }
        self
    }

    /// Notes whether a request may open a session.
    pub(super) fn opened_by(mut self, body: &[u8]) -> Exchange {
        if self.tap.is_shared() && self.kept_in.is_none() {
            let limits = Limits { max_bytes: self.limit, ..Limits::default() };
            self.opens = is_initialize(body, &mut Tape::new(), limits);
        }
        self
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Memory budget of all bodies that are kept.
    pub(super) fn room(&self) -> &MemoryBudget {
        &self.room
    }

    fn seen(&self, from: Side, part: Part, body: Option<Bytes>) -> Observation {
        Observation::http(from, self.number, part, body)
            .in_session(self.session.clone())
            .kept_in(self.kept_in.clone())
            .opening(self.opens)
    }

    /// Judges a request before it is forwarded.
    pub(super) async fn judge_request(&self, head: &request::Parts, body: Bytes) -> Judgement {
        self.tap.judge_shared(self.seen(Side::Client, request_part(head), Some(body))).await
    }

    /// Records the part of a request that is forwarded.
    pub(super) fn observe_rest(&self, head: &request::Parts, verdict: &Verdict, rest: Bytes) {
        let seen = self.seen(Side::Client, request_part(head), Some(rest));
        self.tap.observe(seen.replacing(verdict.line));
    }

    /// Records a request whose body was not read to the end.
    pub(super) fn observe_overlong(&self, head: &request::Parts, length: u64) {
        let seen = self.seen(Side::Client, request_part(head), None);
        self.tap.observe(seen.skipping(length));
    }

    /// Counts a message that was not kept, whether or not it passed.
    pub(super) fn lose(&self, from: Side, part: Part) {
        self.tap.lose(&self.seen(from, part, None));
    }

    /// Counts a request for which there is no memory.
    pub(super) fn lose_request(&self, head: &request::Parts) {
        self.lose(Side::Client, request_part(head));
    }

    /// Whether messages of `from` have to wait for a verdict.
    pub(super) fn enforces_on(&self, from: Side) -> bool {
        self.tap.enforces_on(from)
    }

    /// Judges a complete response before it is forwarded.
    pub(super) async fn judge_response(
        &self,
        status: StatusCode,
        headers: SentHeaders,
        body: Option<Bytes>,
    ) -> Judgement {
        let seen = self.seen(Side::Server, response_part(status, headers), body);
        self.tap.judge_shared(seen).await
    }

    pub(super) fn observe_response(
        &self,
        status: StatusCode,
        headers: SentHeaders,
        body: Option<Bytes>,
    ) {
        self.tap.observe(self.seen(Side::Server, response_part(status, headers), body));
    }

    /// Records a response that replaces one that was held back.
    pub(super) fn observe_replaced(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        verdict: &Verdict,
        body: Bytes,
    ) {
        let headers = SentHeaders::of(headers);
        let seen = self.seen(Side::Server, response_part(status, headers), Some(body));
        self.tap.observe(seen.replacing(verdict.line));
    }

    /// Records a response that the proxy gives on behalf of the server.
    pub(super) fn observe_answer(&self, status: StatusCode, headers: &HeaderMap, body: Bytes) {
        let headers = SentHeaders::of(headers);
        let seen = self.seen(Side::Server, response_part(status, headers), Some(body));
        self.tap.observe(seen.by_proxy());
    }

    /// Records such a response while no verdict is possible.
    pub(super) fn record_answer(&self, status: StatusCode, headers: &HeaderMap, body: Bytes) {
        let headers = SentHeaders::of(headers);
        let seen = self.seen(Side::Server, response_part(status, headers), Some(body));
        self.tap.record(seen.by_proxy());
    }

    pub(super) async fn judge_event(&self, event: Event, data: Bytes) -> Judgement {
        self.tap.judge_shared(self.seen(Side::Server, Part::Event(event), Some(data))).await
    }

    /// Records an event that replaces one that was held back.
    pub(super) fn observe_replaced_event(&self, event: Event, verdict: &Verdict, data: Bytes) {
        let seen = self.seen(Side::Server, Part::Event(event), Some(data));
        self.tap.observe(seen.replacing(verdict.line));
    }

    /// Records an event that the proxy sends on behalf of the server.
    pub(super) fn observe_own_event(&self, data: Bytes) {
        let seen = self.seen(Side::Server, Part::Event(Event::default()), Some(data));
        self.tap.observe(seen.by_proxy());
    }

    pub(super) fn observe_event(&self, event: Event, data: Bytes) {
        self.tap.observe(self.seen(Side::Server, Part::Event(event), Some(data)));
    }

    pub(super) fn observe_overlong_event(&self, length: u64) {
        let seen = self.seen(Side::Server, Part::Event(Event::default()), None);
        self.tap.observe(seen.skipping(length));
    }

    /// Records the end of an event stream.
    pub(super) fn observe_end(&self, end: End) {
        let by = match end {
            End::Complete | End::Broken => Side::Server,
            End::Unread => Side::Client,
        };
        self.tap.observe(self.seen(by, Part::End, None));
    }
}

/// Request extension: the request came over TLS.
#[derive(Debug, Clone, Copy)]
pub(super) struct OverTls;

/// Request extension: record the request as addressed to this server, not to the proxy.
#[derive(Debug, Clone)]
pub(super) struct ServerShown {
    pub(super) scheme: Scheme,
    pub(super) host: HeaderValue,
}

/// The header that names a session.
const SESSION_ID: &str = "mcp-session-id";

/// Longer ids are replaced by their digest.
const LONG_ID: usize = 256;

/// The session named in headers, prefixed with the server's name, since servers may choose the same
/// ids.
fn session_id(server: Option<&str>, headers: &HeaderMap) -> Option<Arc<str>> {
    let id = headers.get(SESSION_ID)?.as_bytes().trim_ascii();
    let id: Cow<'_, str> = match std::str::from_utf8(id) {
        Ok("") => return None,
        Ok(id) if id.len() <= LONG_ID => id.into(),
        _ => URL_SAFE_NO_PAD.encode(digest(&SHA256, id)).into(),
    };
    Some(match server {
        Some(server) => format!("{server}\n{id}").into(),
        None => id.into(),
    })
}

fn request_part(head: &request::Parts) -> Part {
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    if let Some(ServerShown { scheme, host }) = head.extensions.get() {
        let mut headers = head.headers.clone();
        headers.insert(HOST, host.clone());
        let url = format!("{scheme}://{}{path}", host.to_str().unwrap_or_default());
        let headers = SentHeaders::of(&headers);
        return Part::Request { method: head.method.to_string(), url, headers };
    }
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    let scheme = if head.extensions.get::<OverTls>().is_some() { "https" } else { "http" };
    let url = match host {
        Some(host) => format!("{scheme}://{host}{path}"),
        None => path.to_owned(),
    };
    let headers = SentHeaders::of(&head.headers);
    Part::Request { method: head.method.to_string(), url, headers }
}

pub(super) fn response_part(status: StatusCode, headers: SentHeaders) -> Part {
    Part::Response { status: status.as_u16(), headers }
}

/// A request that is being forwarded. It is recorded when its body has passed or the response
/// arrives, whichever is first.
#[derive(Debug, Clone)]
pub(super) struct PassingRequest(Arc<Mutex<Passing>>);

#[derive(Debug)]
struct Passing {
    exchange: Exchange,
    /// `None` once it is recorded.
    part: Option<Part>,
    body: Collected,
    /// Whether the body is complete.
    is_complete: bool,
    encoding: Option<Encoding>,
    /// The part of the body that may be needed to answer on behalf of the server.
    text: Bytes,
}

impl PassingRequest {
    pub(super) fn new(exchange: Exchange, head: &request::Parts) -> PassingRequest {
        let body = Collected::new(exchange.limit, exchange.room.share());
        let part = Some(request_part(head));
        let (encoding, text) = (Encoding::of(&head.headers), Bytes::new());
        PassingRequest(Arc::new(Mutex::new(Passing {
            exchange,
            part,
            body,
            is_complete: false,
            encoding,
            text,
        })))
    }

    /// The text of the body received so far. Called when the server has answered or failed, so the
    /// rest does not matter.
    pub(super) fn text(&self) -> Bytes {
        let mut passing = self.lock();
        passing.observe();
        let text = passing.text.clone();
        let limit = passing.exchange.limit;
        passing.encoding.and_then(|encoding| encoding.decode(&text, limit).ok()).unwrap_or(text)
    }

    fn lock(&self) -> MutexGuard<'_, Passing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Passing {
    fn observe(&mut self) {
        let Some(part) = self.part.take() else { return };
        if self.body.is_crowded_out() {
            return self.exchange.lose(Side::Client, part);
        }
        self.text = self.body.take();
        // An incomplete body cannot be judged.
        let is_cut = !self.is_complete && self.body.length() > 0;
        let body = (!is_cut).then(|| self.text.clone());
        let mut seen = self
            .exchange
            .seen(Side::Client, part, body)
            .encoded(self.encoding, self.exchange.limit);
        if self.body.is_too_long() {
            seen = seen.skipping(self.body.length());
        }
        self.exchange.tap.observe(seen);
    }
}

impl Watch for PassingRequest {
    fn data(&mut self, data: &Bytes) {
        self.lock().body.push(data);
    }

    fn end(&mut self, end: End) {
        let mut passing = self.lock();
        passing.is_complete = end == End::Complete;
        passing.observe();
    }
}

/// Observes a response with an ordinary body that is being forwarded.
#[derive(Debug)]
pub(super) struct PassingResponse {
    exchange: Exchange,
    head: Option<(StatusCode, SentHeaders)>,
    encoding: Option<Encoding>,
    body: Collected,
}

impl PassingResponse {
    pub(super) fn new(
        exchange: Exchange,
        status: StatusCode,
        headers: SentHeaders,
        encoding: Option<Encoding>,
    ) -> PassingResponse {
        let body = Collected::new(exchange.limit, exchange.room.share());
        PassingResponse { exchange, head: Some((status, headers)), encoding, body }
    }
}

impl Watch for PassingResponse {
    fn data(&mut self, data: &Bytes) {
        self.body.push(data);
    }

    fn end(&mut self, end: End) {
        let Some((status, headers)) = self.head.take() else { return };
        if self.body.is_crowded_out() {
            return self.exchange.lose(Side::Server, response_part(status, headers));
        }
        // An incomplete body cannot be judged.
        let body = (end == End::Complete).then(|| self.body.take());
        let seen = self.exchange.seen(Side::Server, response_part(status, headers), body);
        let mut seen = seen.encoded(self.encoding, self.exchange.limit);
        if self.body.is_too_long() {
            seen = seen.skipping(self.body.length());
        }
        self.exchange.tap.observe(seen);
    }
}
