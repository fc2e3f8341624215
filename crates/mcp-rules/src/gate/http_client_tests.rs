//! A client's gate follows every message once, whichever era it tries.

use mcp_core::Side;
use mcp_json::{Limits, Parsed};
use mcp_jsonrpc::{Gate, Verdict};
use mcp_schema::Schemas;

use super::*;
use crate::{Carrier, Headers, HttpEvent, Settings, SseEvent};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
    "io.modelcontextprotocol/clientCapabilities":{}}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{
    "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const AGREED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25",
    "capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t"}}"#;
const CALLED: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#;

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];
const STREAM: [(&str, &str); 1] = [("content-type", "text/event-stream")];
const OPENS: [(&str, &str); 2] = [JSON[0], ("mcp-session-id", "abc")];
const SESSION: [(&str, &str); 2] =
    [("mcp-session-id", "abc"), ("mcp-protocol-version", "2025-11-25")];

struct Connected {
    gate: HttpGate,
    found: Arc<std::sync::Mutex<Vec<&'static str>>>,
    exchanges: u64,
}

impl Connected {
    fn new() -> Connected {
        let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
        let found = Arc::<std::sync::Mutex<Vec<&'static str>>>::default();
        let sink = Arc::clone(&found);
        let messages = SessionGate::new(engine, Strictness::Enforce, Carrier::HttpBody)
            .guarding(Side::Client)
            .with_sink(Arc::new(move |finding| sink.lock().unwrap().push(finding.rule.name)));
        Connected { gate: HttpGate::new(messages), found, exchanges: 0 }
    }

    fn in_session() -> Connected {
        let mut connected = Connected::new();
        connected.open_session();
        assert_eq!(connected.found(), [""; 0]);
        connected
    }

    fn open_session(&mut self) {
        self.post(&[], INITIALIZE);
        assert_eq!(self.receive(200, &OPENS, Some(AGREED)).message, Some(Vec::new()));
        self.post(&SESSION, INITIALIZED);
        self.receive(202, &[], None);
    }

    /// Judges a message, and then the request that carries it.
    fn post(&mut self, headers: &[(&str, &str)], message: &str) {
        const POST: [(&str, &str); 2] =
            [JSON[0], ("accept", "application/json, text/event-stream")];
        let message = parsed(message);
        assert_eq!(self.gate.judge(Side::Client, &message), Verdict::PASS);
        self.exchanges += 1;
        let headers: Headers = POST.into_iter().chain(headers.iter().copied()).collect();
        let document = message.document();
        let event = HttpEvent::request(self.exchanges, "POST", "/mcp", &headers);
        self.gate.judge_http(&event.with_message(document.root()));
    }

    fn receive(
        &mut self,
        status: u16,
        headers: &[(&str, &str)],
        message: Option<&str>,
    ) -> HttpVerdict {
        let headers: Headers = headers.iter().copied().collect();
        let message = message.map(parsed);
        let document = message.as_ref().map(Parsed::document);
        let event = HttpEvent::response(self.exchanges, status, &headers);
        self.gate.judge_http(&match &document {
            Some(document) => event.with_message(document.root()),
            None => event,
        })
    }

    fn event(&mut self, exchange: u64, id: &str, message: &str) -> HttpVerdict {
        let message = parsed(message);
        let document = message.document();
        let sse = SseEvent { id: Some(id), ..SseEvent::default() };
        self.gate.judge_http(&HttpEvent::event(exchange, sse).with_message(document.root()))
    }

    fn found(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.found.lock().unwrap())
    }
}

fn parsed(message: &str) -> Parsed {
    Parsed::parse(message.to_owned().into(), Limits::default()).unwrap()
}

#[test]
fn answers_are_judged_with_their_response_and_then_forgotten() {
    let mut connected = Connected::in_session();
    connected.post(&SESSION, CALL);
    assert!(connected.gate.messages.session.exchange(connected.exchanges).is_some());
    let verdict = connected.receive(200, &JSON, Some(CALLED));
    assert_eq!(verdict, HttpVerdict { http: Verdict::PASS, message: Some(Vec::new()) });
    assert!(connected.gate.messages.session.exchange(connected.exchanges).is_none());
    connected.post(&SESSION, &CALL.replace("3,", "4,"));
    let broken = CALLED.replace("3,", "4,").replace("[]", "7");
    assert_eq!(connected.receive(200, &JSON, Some(&broken)).message.unwrap().len(), 1);
    assert_eq!(connected.found(), ["result-invalid"]);
    let again = connected.gate.judge(Side::Client, &parsed(CALL));
    assert_eq!(again.refusals.len(), 1, "the id was used");
}

#[test]
fn a_client_that_probes_for_the_stateless_era_may_fall_back() {
    let mut connected = Connected::new();
    let probe =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{META}}}}}"#);
    let modern = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];
    connected.post(&modern, &probe);
    let unknown = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown"}}"#;
    assert_eq!(connected.receive(400, &JSON, Some(unknown)).message, Some(Vec::new()));
    connected.open_session();
    connected.post(&SESSION, CALL);
    connected.receive(200, &JSON, Some(CALLED));
    assert_eq!(connected.found(), [""; 0]);
}

#[test]
fn stateless_requests_and_their_answers_belong_together() {
    let mut connected = Connected::new();
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    for id in 1..=3 {
        let list =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{{META}}}}}"#);
        connected.post(&headers, &list);
        let listed = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1"}}}}}}}}"#
        );
        assert_eq!(connected.receive(200, &JSON, Some(&listed)).message, Some(Vec::new()));
    }
    assert_eq!(connected.found(), [""; 0]);
}

#[test]
fn what_a_resumed_stream_delivers_again_counts_once() {
    let mut connected = Connected::in_session();
    connected.post(&SESSION, CALL);
    connected.receive(200, &STREAM, None);
    let first = connected.exchanges;
    connected.gate.judge_http(&HttpEvent::event(
        first,
        SseEvent { id: Some("0"), data: Some(b""), ..SseEvent::default() },
    ));
    assert_eq!(connected.event(first, "1", CALLED).message, Some(Vec::new()));
    connected.gate.judge_http(&HttpEvent::end(first, Side::Server));

    connected.exchanges += 1;
    let resumed = connected.exchanges;
    let headers: Headers = SESSION
        .into_iter()
        .chain([("last-event-id", "0"), ("accept", "text/event-stream")])
        .collect();
    connected.gate.judge_http(&HttpEvent::request(resumed, "GET", "/mcp", &headers));
    connected.receive(200, &STREAM, None);
    assert_eq!(connected.event(resumed, "1", CALLED).message, Some(Vec::new()));
    assert_eq!(connected.found(), [""; 0]);
}
