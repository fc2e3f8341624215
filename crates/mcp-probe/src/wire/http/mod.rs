//! The HTTP transport, for requests of any kind.

mod resume;

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header::CONTENT_LENGTH};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::body::Incoming as Body;
use mcp_core::{Era, Revision, Side};
use mcp_rules::{Headers, HttpEvent, HttpPart, SseEvent, TraceEntry, encode_header_value};
use mcp_transport::http::sse::{Decoded, Decoder};
use serde_json::Value;
use tokio::{sync::watch, task::JoinSet};

use super::connections::{Connections, innermost};
use crate::{
    ConversationError, Limits, Recording,
    conversation::{Inbox, Kind, Opening, answering},
};

/// An HTTP request of any kind.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "probes change single members")]
pub struct HttpRequest {
    /// The method.
    pub method: &'static str,
    /// The headers, including `Host` to override the default.
    pub headers: Vec<(String, String)>,
    /// The body; only `Content-Length` is added for it.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Sets a header, replacing those of that name.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> HttpRequest {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes headers of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> HttpRequest {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }
}

/// A response to an HTTP request.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "probes look at everything")]
pub struct HttpReply {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; empty for an event stream, whose messages arrive in the conversation.
    pub body: Bytes,
    /// The line of the request.
    pub asked: u64,
    /// The line of the response.
    pub line: u64,
    /// The number of the exchange.
    pub exchange: u64,
}

impl HttpReply {
    /// A header; `None` if absent or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether it is an event stream.
    pub fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

#[derive(Debug)]
pub(crate) struct Http {
    shared: Arc<Shared>,
    tasks: Mutex<JoinSet<()>>,
}

#[derive(Debug)]
struct Shared {
    connections: Connections,
    url: Uri,
    own_headers: HeaderMap,
    recording: Arc<Recording>,
    inbox: Arc<Inbox>,
    limits: Limits,
    answers: bool,
    revision: Revision,
    session: Mutex<Option<String>>,
    exchanges: AtomicU64,
    departures: watch::Sender<Departures>,
    /// Event ids: exchange, whether the event had a message, id.
    event_ids: Mutex<Vec<(u64, bool, String)>>,
}

/// The states of requests, by line.
#[derive(Debug, Default)]
struct Departures {
    /// Requests that were written.
    sent: BTreeSet<u64>,
    /// Requests whose connection should be closed.
    hung_up: BTreeSet<u64>,
}

const STREAM_ENDED: &str = "the event stream has ended";

/// Maximum number of event ids to keep per conversation.
const MOST_EVENT_IDS: usize = 10_000;

impl Http {
    pub(super) fn new(
        url: &Uri,
        headers: &HeaderMap,
        recording: &Arc<Recording>,
        inbox: &Arc<Inbox>,
        opening: &Opening,
        limits: &Limits,
    ) -> Result<Http, ConversationError> {
        let shared = Shared {
            connections: Connections::to(url)?,
            url: url.clone(),
            own_headers: headers.clone(),
            recording: Arc::clone(recording),
            inbox: Arc::clone(inbox),
            limits: *limits,
            answers: opening.answers,
            revision: opening.revision,
            session: Mutex::default(),
            exchanges: AtomicU64::new(0),
            departures: watch::Sender::default(),
            event_ids: Mutex::default(),
        };
        Ok(Http { shared: Arc::new(shared), tasks: Mutex::default() })
    }

    /// Posts a message and returns the line of the request. The answer arrives in the inbox.
    pub(super) fn send(&self, text: &[u8]) -> u64 {
        let request = self.post(text);
        let exchange = self.shared.next_exchange();
        let line = self.shared.record_request(exchange, &request);
        let shared = Arc::clone(&self.shared);
        self.spawn(async move {
            shared.run(exchange, line, request).await;
        });
        line
    }

    /// The POST request for a message, with the headers that the revision requires.
    pub(crate) fn post(&self, text: &[u8]) -> HttpRequest {
        let shared = &self.shared;
        let mut request = HttpRequest { method: "POST", headers: Vec::new(), body: text.to_vec() };
        request = request
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream");
        let message: Value = serde_json::from_slice(text).unwrap_or_default();
        let method = message["method"].as_str();
        match shared.revision.era() {
            Era::Modern => {
                request = request.with("MCP-Protocol-Version", shared.revision.as_str());
                if let Some(method) = method {
                    request = request.with("Mcp-Method", &encode_header_value(method));
                    let name = match method {
                        "tools/call" | "prompts/get" => message.pointer("/params/name"),
                        "resources/read" => message.pointer("/params/uri"),
                        _ => None,
                    };
                    if let Some(name) = name.and_then(Value::as_str) {
                        request = request.with("Mcp-Name", &encode_header_value(name));
                    }
                }
                request
            }
            Era::Legacy if method == Some("initialize") => request,
            Era::Legacy => self.in_session(request),
        }
    }

    /// The GET request that opens the stream for messages of the server.
    pub(crate) fn get(&self) -> HttpRequest {
        let get = HttpRequest { method: "GET", headers: Vec::new(), body: Vec::new() };
        self.in_session(get.with("Accept", "text/event-stream"))
    }

    /// Adds the headers that every request of a session carries.
    pub(crate) fn in_session(&self, mut request: HttpRequest) -> HttpRequest {
        if self.shared.revision >= Revision::V2025_06_18 {
            request = request.with("MCP-Protocol-Version", self.shared.revision.as_str());
        }
        match self.session() {
            Some(session) => request.with("Mcp-Session-Id", &session),
            None => request,
        }
    }

    /// The session id, if the server assigned one.
    pub(crate) fn session(&self) -> Option<String> {
        self.shared.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The ids of events with messages received in an exchange, in order.
    pub(crate) fn event_ids(&self, exchange: u64) -> Vec<String> {
        let seen = self.shared.event_ids.lock().unwrap_or_else(PoisonError::into_inner);
        let messages = seen.iter().filter(|(other, says, _)| *other == exchange && *says);
        messages.map(|(.., id)| id.clone()).collect()
    }

    /// Sends a request and waits for the response, or for its head if it is a stream.
    pub(super) async fn exchange(
        &self,
        request: HttpRequest,
    ) -> Result<HttpReply, ConversationError> {
        let shared = Arc::clone(&self.shared);
        let exchange = shared.next_exchange();
        let line = shared.record_request(exchange, &request);
        let what = format!("{} {}", request.method, shared.url.path());
        let begun = shared.begin(exchange, line, &request);
        let within = self.shared.limits.answer;
        let (reply, stream) = tokio::time::timeout(within, begun)
            .await
            .map_err(|_| ConversationError::Unanswered { what: what.clone(), within, line })?
            .map_err(|how| ConversationError::Exchange { what, how, line })?;
        if let Some(body) = stream {
            let (shared, at) = (Arc::clone(&self.shared), reply.line);
            self.spawn(async move {
                let taken = async {
                    let _ = Arc::clone(&shared).stream(exchange, body).await;
                    (at, STREAM_ENDED.to_owned())
                };
                shared.until_hung_up(exchange, line, taken).await;
            });
        }
        Ok(reply)
    }

    /// Closes the connection of the request on this line, if it is still open.
    pub(crate) fn hang_up(&self, line: u64) {
        self.shared.departures.send_modify(|departures| {
            departures.hung_up.insert(line);
        });
    }

    /// Ends the session.
    pub(super) async fn close(&self) {
        if self.session().is_some() {
            let request = HttpRequest { method: "DELETE", headers: Vec::new(), body: Vec::new() };
            // Servers need not support DELETE.
            let _ = self.exchange(self.in_session(request)).await;
        }
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

impl Shared {
    fn next_exchange(&self) -> u64 {
        self.exchanges.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Sends a request and reads its response to the end.
    async fn run(self: Arc<Self>, exchange: u64, line: u64, request: HttpRequest) {
        let taken = async {
            match self.begin(exchange, line, &request).await {
                Ok((reply, None)) => (reply.line, format!("status {}", reply.status)),
                Ok((reply, Some(body))) => {
                    let retry = Arc::clone(&self).stream(exchange, body).await;
                    self.resume(exchange, &request, retry).await;
                    (reply.line, STREAM_ENDED.to_owned())
                }
                Err(reason) => (line, reason),
            }
        };
        self.until_hung_up(exchange, line, taken).await;
    }

    /// Notes how an exchange ends: with its response, or because the test closes the connection
    /// once the request was written, by dropping the reader of the response.
    async fn until_hung_up(
        &self,
        exchange: u64,
        line: u64,
        taken: impl Future<Output = (u64, String)>,
    ) {
        let mut departures = self.departures.subscribe();
        let is_left = |departures: &Departures| {
            departures.sent.contains(&line) && departures.hung_up.contains(&line)
        };
        let (at, how) = tokio::select! {
            end = taken => end,
            _ = departures.wait_for(is_left) => {
                let end = HttpEvent::end(exchange, Side::Client);
                (self.recording.add(&TraceEntry::http(end)), "the test closed it".to_owned())
            }
        };
        self.inbox.close_exchange(at, line, &how);
    }

    async fn begin(
        self: &Arc<Self>,
        exchange: u64,
        line: u64,
        request: &HttpRequest,
    ) -> Result<(HttpReply, Option<Body>), String> {
        let response = self.connections.send(|| self.built(line, request)).await?;
        self.note_sent(line);
        let (head, body) = response.into_parts();
        let mut reply = HttpReply {
            status: head.status.as_u16(),
            headers: head.headers,
            body: Bytes::new(),
            asked: line,
            line,
            exchange,
        };
        if let Some(session) = reply.header("mcp-session-id")
            && reply.status == 200
        {
            let mut kept = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get_or_insert_with(|| session.to_owned());
        }
        if reply.is_stream() {
            reply.line = self.record_response(exchange, &reply);
            return Ok((reply, Some(body)));
        }
        reply.body = self.collect(body).await?;
        reply.line = self.record_response(exchange, &reply);
        if !reply.body.is_empty() && is_json(reply.header("content-type")) {
            self.take(reply.line, &reply.body.clone(), exchange);
        }
        Ok((reply, None))
    }

    fn built(
        self: &Arc<Self>,
        line: u64,
        request: &HttpRequest,
    ) -> Result<Request<UnsyncBoxBody<Bytes, Infallible>>, String> {
        let shared = Arc::clone(self);
        let body = Full::new(Bytes::from(request.body.clone())).map_frame(move |frame| {
            shared.note_sent(line);
            frame
        });
        let mut built = Request::new(body.boxed_unsync());
        *built.method_mut() = request.method.parse::<Method>().map_err(|e| e.to_string())?;
        *built.uri_mut() = self.url.clone();
        for (name, value) in &request.headers {
            let name: HeaderName = name.parse().map_err(|_| "no header".to_owned())?;
            let value = HeaderValue::from_str(value).map_err(|e| e.to_string())?;
            built.headers_mut().append(name, value);
        }
        // Many small servers read no body that comes in chunks, which would be sent without it.
        if !request.body.is_empty() || request.method == "POST" {
            built.headers_mut().entry(CONTENT_LENGTH).or_insert_with(|| request.body.len().into());
        }
        for (name, value) in &self.own_headers {
            built.headers_mut().insert(name.clone(), value.clone());
        }
        Ok(built)
    }

    fn note_sent(&self, line: u64) {
        self.departures.send_modify(|departures| {
            departures.sent.insert(line);
        });
    }

    async fn collect(&self, mut body: Body) -> Result<Bytes, String> {
        let mut collected = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| innermost(&error))?;
            if let Some(data) = frame.data_ref() {
                collected.extend_from_slice(data);
            }
            if collected.len() > self.limits.message_bytes {
                return Err("its response is too long".to_owned());
            }
        }
        Ok(collected.into())
    }

    /// Takes the events of a stream to its end. Returns how long to wait before it is resumed, if
    /// the server has said that.
    async fn stream(self: Arc<Self>, exchange: u64, mut body: Body) -> Option<Duration> {
        let mut decoder = Decoder::new(self.limits.message_bytes);
        let mut retry = None;
        while let Some(Ok(frame)) = body.frame().await {
            let Ok(data) = frame.into_data() else { continue };
            decoder.push(data);
            while let Some(decoded) = decoder.next_event() {
                if let Decoded::Event(event) = decoded {
                    retry = event.retry.or(retry);
                    self.note_event_id(exchange, &event);
                    let line = self.record_event(exchange, &event);
                    if !event.data.is_empty() {
                        self.take(line, &event.data, exchange);
                    }
                }
            }
            if self.recording.bytes() > self.limits.recording_bytes {
                return retry;
            }
        }
        let end = HttpEvent::end(exchange, Side::Server);
        self.recording.add(&TraceEntry::http(end));
        retry
    }

    fn note_event_id(&self, exchange: u64, event: &mcp_transport::http::sse::Event) {
        let Some(id) = &event.id else { return };
        let mut seen = self.event_ids.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MOST_EVENT_IDS {
            seen.push((exchange, !event.data.is_empty(), String::from_utf8_lossy(id).into_owned()));
        }
    }

    fn take(self: &Arc<Self>, line: u64, text: &[u8], exchange: u64) {
        for message in self.inbox.add(line, text, Some(exchange)) {
            if self.answers && message.kind == Kind::Request {
                let answer = answering::answer(&message.value).to_string();
                let http = Http { shared: Arc::clone(self), tasks: Mutex::default() };
                let request = http.post(answer.as_bytes());
                let exchange = self.next_exchange();
                let line = self.record_request(exchange, &request);
                tokio::spawn(Arc::clone(self).run(exchange, line, request));
            }
        }
    }

    fn record_request(&self, exchange: u64, request: &HttpRequest) -> u64 {
        let mut headers = Headers::new();
        if let Some(host) = self.url.authority() {
            let is_own = !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
            if is_own {
                headers.push("Host", host.as_str().to_owned());
            }
        }
        for (name, value) in &request.headers {
            headers.push(name.as_str(), value.as_str());
        }
        let url = self.url.to_string();
        let event = HttpEvent::request(exchange, request.method, &url, &headers);
        let is_json = is_json(request.headers.iter().find_map(|(name, value)| {
            name.eq_ignore_ascii_case("content-type").then_some(value.as_str())
        }));
        self.recording.add_http(event, &request.body, is_json)
    }

    fn record_response(&self, exchange: u64, reply: &HttpReply) -> u64 {
        let mut headers = Headers::new();
        for (name, value) in &reply.headers {
            headers.push(name.as_str(), String::from_utf8_lossy(value.as_bytes()).into_owned());
        }
        let part = HttpPart::Response { status: reply.status, headers: &headers };
        let event = HttpEvent::new(exchange, Side::Server, part);
        self.recording.add_http(event, &reply.body, is_json(reply.header("content-type")))
    }

    fn record_event(&self, exchange: u64, event: &mcp_transport::http::sse::Event) -> u64 {
        let text = |bytes: &Option<Bytes>| {
            bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let (id, name) = (text(&event.id), text(&event.event));
        let sse = SseEvent {
            id: id.as_deref(),
            event: name.as_deref(),
            data: None,
            retry: event.retry.and_then(|retry| u64::try_from(retry.as_millis()).ok()),
        };
        let recorded = HttpEvent::new(exchange, Side::Server, HttpPart::Event(sse));
        self.recording.add_http(recorded, &event.data, !event.data.is_empty())
    }
}

fn is_json(content_type: Option<&str>) -> bool {
    content_type.is_some_and(|kind| {
        kind.split(';')
            .next()
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    })
}
