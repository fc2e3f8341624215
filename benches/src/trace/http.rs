//! A conversation over HTTP, as a proxy would record it.

use std::collections::{HashMap, VecDeque};

use mcp_core::Side;
use mcp_json::{Limits, Tape};
use mcp_rules::{Headers, HttpEvent, SseEvent};
use serde_json::Value;

use super::session::Session;
use crate::corpus::Message;
use crate::corpus::rng::Rng;

/// The path of the server.
const URL: &str = "/mcp";

/// A session over HTTP, one observation after the other.
#[derive(Debug)]
pub(super) struct HttpSession<'a> {
    session: Session<'a>,
    /// The session id.
    id: String,
    exchanges: u64,
    events: u64,
    /// The exchange of every open request of the client, and whether events were sent on it.
    posted: HashMap<String, (u64, bool)>,
    /// The exchange of the stream for messages that answer no request.
    listening: Option<u64>,
    due: VecDeque<Observed>,
    ended: bool,
}

/// The content of a line.
#[derive(Debug)]
pub(super) struct Observed {
    exchange: u64,
    part: Part,
    body: Option<Vec<u8>>,
}

#[derive(Debug)]
enum Part {
    Request { method: &'static str, headers: Headers<'static> },
    Response { status: u16, headers: Headers<'static> },
    Event { id: String },
    End,
}

impl Observed {
    /// Shows it to `visit`.
    pub(super) fn show<R>(&self, tape: &mut Tape, visit: impl FnOnce(HttpEvent<'_>) -> R) -> R {
        let event = match &self.part {
            Part::Request { method, headers } => {
                HttpEvent::request(self.exchange, method, URL, headers)
            }
            Part::Response { status, headers } => {
                HttpEvent::response(self.exchange, *status, headers)
            }
            Part::Event { id } => {
                let data = if self.body.is_none() { Some(&b""[..]) } else { None };
                let sse = SseEvent { id: Some(id), data, ..SseEvent::default() };
                HttpEvent::event(self.exchange, sse)
            }
            Part::End => HttpEvent::end(self.exchange, Side::Server),
        };
        let Some(body) = &self.body else { return visit(event) };
        let document = tape.parse(body, Limits::default()).expect("messages are JSON");
        visit(event.with_message(document.root()))
    }
}

impl<'a> HttpSession<'a> {
    pub(super) fn new(rng: &mut Rng, session: Session<'a>) -> HttpSession<'a> {
        let (a, b) = (rng.bits(), rng.bits());
        let id = format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xfff,
            b >> 48 & 0xfff,
            b & 0xffff_ffff_ffff,
        );
        HttpSession {
            session,
            id,
            exchanges: 0,
            events: 0,
            posted: HashMap::new(),
            listening: None,
            due: VecDeque::new(),
            ended: false,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.session.name()
    }

    /// The next observation, or `None` at the end of the session.
    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<Observed> {
        while self.due.is_empty() && !self.ended {
            match self.session.next(rng) {
                Some(message) => self.send(rng, message),
                None => self.end(),
            }
        }
        self.due.pop_front()
    }

    fn send(&mut self, rng: &mut Rng, message: Message) {
        let value: Value = serde_json::from_slice(&message.bytes).expect("messages are JSON");
        let id = value.get("id").map(Value::to_string);
        let method = value.get("method").and_then(Value::as_str).unwrap_or_default();
        if message.from == Side::Client {
            self.post(id.filter(|_| !method.is_empty()), method, message.bytes);
            if method == "notifications/cancelled" {
                self.leave(&value["params"]["requestId"].to_string());
            }
            return;
        }
        let answers = id.filter(|_| method.is_empty());
        let concerns = answers
            .clone()
            .or_else(|| Some(value.get("params")?.get("progressToken")?.to_string()));
        let posted = concerns.and_then(|id| Some((self.posted.get(&id)?.0, id)));
        let Some((exchange, id)) = posted else {
            let exchange = self.listening.expect("servers wait for the handshake");
            return self.event(exchange, Some(message.bytes));
        };
        let streams = self.posted[&id].1;
        if answers.is_some() {
            self.posted.remove(&id);
        }
        if !streams && answers.is_some() && rng.chance(50) {
            let headers = self.response_headers("application/json", Some(message.bytes.len()));
            let part = Part::Response { status: 200, headers };
            self.due.push_back(Observed { exchange, part, body: Some(message.bytes) });
            return;
        }
        if !streams {
            self.begin_answer(exchange);
        }
        self.event(exchange, Some(message.bytes));
        if answers.is_some() {
            self.due.push_back(Observed { exchange, part: Part::End, body: None });
        } else {
            self.posted.insert(id, (exchange, true));
        }
    }

    fn post(&mut self, request: Option<String>, method: &str, bytes: Vec<u8>) {
        let begins = method == "initialize";
        let exchange = self.request("POST", begins, Some(bytes));
        if let Some(id) = request {
            self.posted.insert(id, (exchange, false));
            return;
        }
        let headers = self.response_headers("", Some(0));
        let part = Part::Response { status: 202, headers };
        self.due.push_back(Observed { exchange, part, body: None });
        if method == "notifications/initialized" {
            let exchange = self.request("GET", false, None);
            self.begin_stream(exchange);
            self.listening = Some(exchange);
        }
    }

    /// The client has cancelled the request: the server closes its stream.
    fn leave(&mut self, id: &str) {
        let Some((exchange, streams)) = self.posted.remove(id) else { return };
        if !streams {
            self.begin_answer(exchange);
        }
        self.due.push_back(Observed { exchange, part: Part::End, body: None });
    }

    fn end(&mut self) {
        self.ended = true;
        let exchange = self.request("DELETE", false, None);
        let headers = self.response_headers("", Some(0));
        let part = Part::Response { status: 200, headers };
        self.due.push_back(Observed { exchange, part, body: None });
        if let Some(exchange) = self.listening.take() {
            self.due.push_back(Observed { exchange, part: Part::End, body: None });
        }
    }

    fn request(&mut self, method: &'static str, begins: bool, body: Option<Vec<u8>>) -> u64 {
        self.exchanges += 1;
        let headers = self.request_headers(begins, body.as_ref().map(Vec::len));
        let part = Part::Request { method, headers };
        self.due.push_back(Observed { exchange: self.exchanges, part, body });
        self.exchanges
    }

    fn begin_stream(&mut self, exchange: u64) {
        let headers = self.response_headers("text/event-stream", None);
        let part = Part::Response { status: 200, headers };
        self.due.push_back(Observed { exchange, part, body: None });
    }

    /// A stream that answers a request begins with an id to resume from.
    fn begin_answer(&mut self, exchange: u64) {
        self.begin_stream(exchange);
        self.event(exchange, None);
    }

    fn event(&mut self, exchange: u64, body: Option<Vec<u8>>) {
        self.events += 1;
        let id = format!("{exchange}_{:08x}", self.events);
        self.due.push_back(Observed { exchange, part: Part::Event { id }, body });
    }

    /// The headers that `fetch` in Node.js sends.
    fn request_headers(&self, begins: bool, length: Option<usize>) -> Headers<'static> {
        let mut headers = Headers::new();
        headers.push("host", "mcp.example.com:3000");
        headers.push("connection", "keep-alive");
        if !begins {
            headers.push("mcp-session-id", self.id.clone());
            headers.push("mcp-protocol-version", "2025-11-25");
        }
        match length {
            Some(length) => {
                headers.push("content-type", "application/json");
                headers.push("accept", "application/json, text/event-stream");
                headers.push("content-length", length.to_string());
            }
            None => headers.push("accept", "text/event-stream"),
        }
        headers.push("accept-language", "*");
        headers.push("sec-fetch-mode", "cors");
        headers.push("user-agent", "node");
        headers.push("accept-encoding", "gzip, deflate");
        headers
    }

    /// The headers of a server on a common framework.
    fn response_headers(&self, kind: &'static str, length: Option<usize>) -> Headers<'static> {
        let mut headers = Headers::new();
        headers.push("x-powered-by", "Express");
        headers.push("access-control-allow-origin", "*");
        headers.push("access-control-expose-headers", "Mcp-Session-Id");
        if !kind.is_empty() {
            headers.push("content-type", kind);
            headers.push("cache-control", "no-cache, no-transform");
            headers.push("mcp-session-id", self.id.clone());
        }
        headers.push("date", "Sun, 01 Mar 2026 00:00:00 GMT");
        headers.push("connection", "keep-alive");
        headers.push("keep-alive", "timeout=5");
        match length {
            Some(length) => headers.push("content-length", length.to_string()),
            None => headers.push("transfer-encoding", "chunked"),
        }
        headers
    }
}
