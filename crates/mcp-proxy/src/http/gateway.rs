use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderMap, Request, Response, StatusCode, Version,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE},
    request, response,
};
use hyper::body::Incoming;
use mcp_core::{BoxFuture, MemoryBudget, Side};
use mcp_jsonrpc::ErrorCode;
use mcp_transport::{Allowed, check_source};
use ring::rand::{SecureRandom as _, SystemRandom};
use tower_service::Service;

use super::{
    answer::{Answer, request_id},
    batch,
    body::{
        ProxyBody, ReadError, Whole, boxed, events_until, full, held_until_sent, read_short,
        read_whole,
    },
    connections::ResponseBody,
    encoding::{DecodeError, Encoding},
    events::{JudgedEvents, PassingEvents, event_with},
    exchange::{Exchange, OverTls, PassingRequest, PassingResponse, response_part},
    headers::remove_hop_by_hop,
    patience::Patience,
    tee::Tee,
    upstream::{Failure, Upstream},
};
use crate::{
    Tap,
    respond::Replacement,
    shutdown::{Drain, Phase},
    tap::{SentHeaders, StoreUnavailable},
};

/// The clients that a [`Gateway`] accepts, and its limits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GatewaySettings {
    /// The `Host` values to accept. Default: loopback.
    pub hosts: Allowed,
    /// The web origins to accept. Default: loopback.
    pub origins: Allowed,
    /// Whether clients connect over TLS, for the URLs in recordings. Default: no.
    pub secure: bool,
    /// Whether recordings show requests as addressed to the server, not to the proxy. Default: no.
    pub shows_server: bool,
    /// Maximum size of a body that is judged and recorded, in bytes. Larger bodies pass, unless
    /// messages of their sender are held back. Default: 16 MiB.
    pub max_body: usize,
    /// Memory for bodies and events in bytes: those that are incomplete or, under enforcement, not
    /// sent yet. Beyond it, they pass unjudged or are refused. Default: 256 MiB.
    pub room: MemoryBudget,
    /// How long the server may take to begin its answer. Default: 10 min.
    pub answer_timeout: Duration,
    /// How long a client may pause within a body. Default: 60 s.
    pub body_stall: Duration,
    /// The name of the server in recordings, if there are several.
    pub name: Option<Arc<str>>,
    /// When to stop. Default: never.
    pub drain: Drain,
}

impl Default for GatewaySettings {
    fn default() -> Self {
        GatewaySettings {
            hosts: Allowed::loopback(),
            origins: Allowed::loopback(),
            secure: false,
            shows_server: false,
            max_body: 16 << 20,
            room: MemoryBudget::new(256 << 20),
            answer_timeout: Duration::from_secs(600),
            body_stall: Duration::from_secs(60),
            name: None,
            drain: Drain::default(),
        }
    }
}

/// Forwards the requests of HTTP clients to a server, as a `tower` service.
#[derive(Debug, Clone)]
pub struct Gateway(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    upstream: Upstream,
    tap: Tap,
    settings: GatewaySettings,
    /// The number of the next exchange.
    exchanges: Arc<AtomicU64>,
}

impl Gateway {
    /// Forwards requests to `upstream`.
    pub fn new(upstream: Upstream, tap: Tap, settings: GatewaySettings) -> Gateway {
        let exchanges = AtomicU64::new(if tap.is_shared() { first_exchange() } else { 1 });
        Gateway(Arc::new(Inner { upstream, tap, settings, exchanges: Arc::new(exchanges) }))
    }

    /// The same gateway, with its own connections to the server.
    pub(crate) fn with_own_connections(&self) -> Gateway {
        let Inner { upstream, tap, settings, exchanges } = &*self.0;
        Gateway(Arc::new(Inner {
            upstream: upstream.with_own_connections(),
            tap: tap.clone(),
            settings: settings.clone(),
            exchanges: Arc::clone(exchanges),
        }))
    }
}

impl Service<Request<Incoming>> for Gateway {
    type Response = Response<ProxyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<ProxyBody>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { Ok(inner.answer(request).await) })
    }
}

impl Inner {
    async fn answer(&self, mut request: Request<Incoming>) -> Response<ProxyBody> {
        if let Err(answer) = self.admit(&request) {
            return answer.into_response();
        }
        let is_judged = self.tap.enforces_on(Side::Client);
        if is_judged {
            // Headers that do not reach the server must not make a request valid.
            remove_hop_by_hop(request.headers_mut());
        }
        let number = self.exchanges.fetch_add(1, Ordering::Relaxed);
        tracing::trace!(exchange = number, "received a request");
        let settings = &self.settings;
        if settings.secure {
            request.extensions_mut().insert(OverTls);
        }
        if settings.shows_server {
            request.extensions_mut().insert(self.upstream.shown());
        }
        let name = settings.name.clone();
        let limits = (settings.max_body, settings.room.clone());
        let exchange =
            Exchange::new(self.tap.clone(), number, name, limits).named_by(request.headers());
        if is_judged {
            self.judge_and_pass(exchange, request).await
        } else {
            self.pass(exchange, request).await
        }
    }

    /// Ends an event stream when the proxy stops; the request in `text`, if any, gets an error
    /// then.
    fn ending(
        &self,
        exchange: Exchange,
        text: Bytes,
        response: Response<ProxyBody>,
    ) -> Response<ProxyBody> {
        if !is_event_stream(response.headers()) {
            return response;
        }
        // A client that only listens does not wait for an answer, so it can be disconnected early.
        let phase = if text.is_empty() { Phase::Draining } else { Phase::Stopping };
        // Do not keep a long request for as long as its answer takes.
        let error = (text.len() > MemoryBudget::SMALL)
            .then(|| Answer::failed(&Failure::Stopped, &text).body);
        let text = if error.is_some() { Bytes::new() } else { text };
        let drain = self.settings.drain.clone();
        let ended = async move { drain.reached(phase).await };
        response.map(|body| {
            events_until(body, ended, move || {
                let is_answer = error.is_some() || !text.is_empty();
                let error = error.unwrap_or_else(|| Answer::failed(&Failure::Stopped, &text).body);
                is_answer.then(|| {
                    exchange.observe_own_event(error.clone());
                    event_with(error)
                })
            })
        })
    }

    /// Refuses requests for a foreign host, or from a foreign origin.
    fn admit(&self, request: &Request<Incoming>) -> Result<(), Box<Answer>> {
        let GatewaySettings { hosts, origins, .. } = &self.settings;
        check_source(hosts, origins, request.uri(), request.headers())
            .map_err(|foreign| Box::new(Answer::foreign(&foreign)))
    }

    /// Forwards a request as it arrives.
    async fn pass(&self, exchange: Exchange, request: Request<Incoming>) -> Response<ProxyBody> {
        let (head, body) = request.into_parts();
        let passing = PassingRequest::new(exchange.clone(), &head);
        let body = Patience::new(body, self.settings.body_stall);
        let mut body = Tee::new(body, passing.clone());
        // Read a short body first: a server cannot use half a message, and the error needs the id
        // even if there is no server.
        let body = match content_length(&head.headers) {
            Some(length) if length <= SHORT_BODY => match read_short(&mut body).await {
                Some(body) => full(body),
                None => boxed(body),
            },
            _ => boxed(body),
        };
        match self.send(head, body).await {
            Ok(response) => {
                let text = passing.text();
                let response = pass_back(exchange.clone(), response, &text).await;
                self.ending(exchange, text, response)
            }
            Err(failure) => {
                let answer = Answer::failed(&failure, &passing.text());
                warn_of(&failure);
                give(&exchange, answer)
            }
        }
    }

    /// Reads and judges a request before it is forwarded.
    async fn judge_and_pass(
        &self,
        exchange: Exchange,
        request: Request<Incoming>,
    ) -> Response<ProxyBody> {
        let (head, body) = request.into_parts();
        let body = Patience::new(body, self.settings.body_stall);
        let limit = exchange.limit();
        let Whole { text: body, held } = match read_whole(body, limit, exchange.room()).await {
            Ok(whole) => whole,
            Err(ReadError::NoRoom) => {
                exchange.lose_request(&head);
                return give_unjudged(&exchange, Answer::crowded_out());
            }
            Err(ReadError::TooLong) => {
                exchange.observe_overlong(&head, content_length(&head.headers).unwrap_or_default());
                let message = "the body is too long to be judged";
                let status = StatusCode::PAYLOAD_TOO_LARGE;
                let answer = Answer::error(status, ErrorCode::InvalidRequest, message);
                return give(&exchange, answer);
            }
            // The client is gone, so nothing can be answered.
            Err(ReadError::Broken) => {
                return Answer::failed(&Failure::Unfinished, b"").into_response();
            }
        };
        let mut text = match text_of(Encoding::of(&head.headers), &body, exchange.limit()) {
            Ok(text) => text,
            Err(message) => {
                exchange.observe_overlong(&head, exchange.limit() as u64 + 1);
                let status = StatusCode::PAYLOAD_TOO_LARGE;
                return give(&exchange, Answer::error(status, ErrorCode::InvalidRequest, message));
            }
        };
        let exchange = exchange.opened_by(&text);
        let Ok(verdict) = exchange.judge_request(&head, text.clone()).await else {
            return give_unjudged(&exchange, Answer::unavailable(Side::Client, &text));
        };
        let (mut head, mut body, mut errors) = (head, body, None);
        if !verdict.passes() {
            let Replacement { to_sender, to_receiver, passes_in_part } =
                Replacement::of(&text, &verdict);
            let Some(rest) = to_receiver.filter(|_| passes_in_part) else {
                let answer = Answer::refused(&head.headers, &verdict.refusals, to_sender);
                return give(&exchange, answer);
            };
            exchange.observe_rest(&head, &verdict, rest.clone());
            describe(&mut head.headers, &rest);
            (text, body, errors) = (rest.clone(), rest, to_sender);
        }
        match self.send(head, held_until_sent(body, held)).await {
            Ok(response) => {
                let response = match errors {
                    Some(errors) => batch::pass_back(exchange.clone(), response, errors).await,
                    None => pass_back(exchange.clone(), response, &text).await,
                };
                self.ending(exchange, text, response)
            }
            Err(failure) => {
                warn_of(&failure);
                give(&exchange, Answer::failed(&failure, &text))
            }
        }
    }

    async fn send(
        &self,
        head: request::Parts,
        body: ProxyBody,
    ) -> Result<Response<ResponseBody>, Failure> {
        let mut request = Request::from_parts(head, body);
        remove_hop_by_hop(request.headers_mut());
        if self.tap.enforces_on(Side::Server) {
            // Events of a compressed stream could not be judged one by one.
            request.headers_mut().remove(ACCEPT_ENCODING);
        }
        self.upstream.address(&mut request);
        let mut response = tokio::select! {
            response = self.upstream.send(request, self.settings.answer_timeout) => response?,
            () = self.settings.drain.reached(Phase::Stopping) => return Err(Failure::Stopped),
        };
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            let reason = "it switches to another protocol, and nobody has asked for that";
            return Err(Failure::Broken(reason.into()));
        }
        // The version belongs to the connection, which is our own.
        *response.version_mut() = Version::HTTP_11;
        Ok(response)
    }
}

/// Logs why a request was not answered, unless its client is at fault.
fn warn_of(failure: &Failure) {
    if matches!(failure, Failure::Unfinished) {
        tracing::debug!(%failure, "a request was not answered");
    } else {
        tracing::warn!(%failure, "a request was not answered");
    }
}

/// Forwards the response to the request in `asked`.
pub(super) async fn pass_back(
    exchange: Exchange,
    response: Response<ResponseBody>,
    asked: &Bytes,
) -> Response<ProxyBody> {
    let (mut head, body) = response.into_parts();
    let exchange = exchange.named_by(&head.headers);
    let (shown, encoding) = (SentHeaders::of(&head.headers), Encoding::of(&head.headers));
    remove_hop_by_hop(&mut head.headers);
    let enforced = exchange.enforces_on(Side::Server);
    match (is_event_stream(&head.headers), enforced) {
        (true, _) => pass_events_back(exchange, (head, shown), body, asked).await,
        (false, false) => {
            let passing = PassingResponse::new(exchange, head.status, shown, encoding);
            Response::from_parts(head, boxed(Tee::new(body, passing)))
        }
        (false, true) => {
            match judge_and_pass_back(&exchange, head, (shown, encoding), body).await {
                Ok(response) => response,
                Err(failure) => give(&exchange, Answer::failed(&failure, asked)),
            }
        }
    }
}

pub(super) async fn pass_events_back(
    exchange: Exchange,
    (head, shown): (response::Parts, SentHeaders),
    body: ResponseBody,
    asked: &Bytes,
) -> Response<ProxyBody> {
    let encoding = Encoding::of(&head.headers);
    if !exchange.enforces_on(Side::Server) {
        exchange.observe_response(head.status, shown, None);
        let body = boxed(Tee::new(body, PassingEvents::new(exchange, encoding)));
        return Response::from_parts(head, body);
    }
    if head.headers.contains_key(CONTENT_ENCODING) {
        let reason = "the server's event stream is compressed and cannot be judged";
        return give(&exchange, Answer::failed(&Failure::Unjudged(reason), asked));
    }
    match exchange.judge_response(head.status, shown, None).await {
        Ok(verdict) if verdict.passes() => {
            let asked = request_id(asked, exchange.limit());
            Response::from_parts(head, boxed(JudgedEvents::new(body, exchange, asked)))
        }
        Ok(verdict) => Answer::instead(&verdict.refusals, None).into_response(),
        Err(StoreUnavailable) => give_unjudged(&exchange, Answer::unavailable(Side::Server, b"")),
    }
}

/// Reads and judges a complete response before it is forwarded.
async fn judge_and_pass_back(
    exchange: &Exchange,
    mut head: response::Parts,
    (shown, encoding): (SentHeaders, Option<Encoding>),
    body: ResponseBody,
) -> Result<Response<ProxyBody>, Failure> {
    let whole = match read_whole(body, exchange.limit(), exchange.room()).await {
        Ok(whole) => whole,
        Err(ReadError::NoRoom) => {
            exchange.lose(Side::Server, response_part(head.status, shown));
            return Err(Failure::CrowdedOut);
        }
        Err(ReadError::TooLong) => {
            return Err(Failure::Unjudged("the server's response is too long to be judged"));
        }
        Err(ReadError::Broken) => return Err(Failure::Broken("its response is incomplete".into())),
    };
    let text = text_of(encoding, &whole.text, exchange.limit()).map_err(Failure::Unjudged)?;
    let Ok(verdict) = exchange.judge_response(head.status, shown, Some(text.clone())).await else {
        return Ok(give_unjudged(exchange, Answer::unavailable(Side::Server, &text)));
    };
    if verdict.passes() {
        return Ok(Response::from_parts(head, whole.into_body()));
    }
    let replacement = Replacement::of(&text, &verdict);
    let mut answer = Answer::instead(&verdict.refusals, replacement.to_receiver);
    if replacement.passes_in_part {
        describe(&mut head.headers, &answer.body);
        (answer.status, answer.headers) = (head.status, head.headers);
    }
    let Answer { status, headers, body } = &answer;
    exchange.observe_replaced(*status, headers, &verdict, body.clone());
    Ok(answer.into_response())
}

/// The first exchange number of a replica. It is random, since replicas must not use the same
/// numbers in a session, and small enough to be exact in JSON.
fn first_exchange() -> u64 {
    let mut bytes = [0; 4];
    // Without random bytes, two exchanges may get the same number and be taken for one.
    let _ = SystemRandom::new().fill(&mut bytes);
    (u64::from(u32::from_be_bytes(bytes) >> 8) << 28) + 1
}

/// Gives a response on behalf of the server.
pub(super) fn give(exchange: &Exchange, answer: Answer) -> Response<ProxyBody> {
    exchange.observe_answer(answer.status, &answer.headers, answer.body.clone());
    answer.into_response()
}

/// Gives a response on behalf of the server while no verdict is possible.
pub(super) fn give_unjudged(exchange: &Exchange, answer: Answer) -> Response<ProxyBody> {
    exchange.record_answer(answer.status, &answer.headers, answer.body.clone());
    answer.into_response()
}

/// The text of a body, or why it cannot be judged. A body that cannot be decoded is judged as it
/// is.
pub(super) fn text_of(
    encoding: Option<Encoding>,
    body: &Bytes,
    limit: usize,
) -> Result<Bytes, &'static str> {
    let Some(encoding) = encoding else { return Ok(body.clone()) };
    match encoding.decode(body, limit) {
        Ok(text) => Ok(text),
        Err(DecodeError::Broken) => Ok(body.clone()),
        Err(DecodeError::TooLong) => Err("the decoded body is too long to be judged"),
    }
}

pub(super) fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("text/event-stream")
}

/// Requests up to this length are read before they are forwarded.
const SHORT_BODY: u64 = 64 << 10;

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Sets the headers for a replaced body: its length, and no encoding.
pub(super) fn describe(headers: &mut HeaderMap, body: &Bytes) {
    headers.insert(CONTENT_LENGTH, body.len().into());
    headers.remove(CONTENT_ENCODING);
}
