use mcp_core::{Refusal, RefusalReason, Side};
use mcp_json::{Limits, Parsed};
use mcp_jsonrpc::{Gate, Verdict};
use mcp_schema::Schemas;

use super::*;
use crate::{Carrier, Headers, HttpEvent, Settings};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
    "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const AGREED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
    "capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}"#;
const CALLED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#;

const SESSION: [(&str, &str); 2] =
    [("mcp-session-id", "abc"), ("mcp-protocol-version", "2025-11-25")];

/// A server's gate at the beginning of a session.
struct Served {
    gate: HttpGate,
    found: Arc<std::sync::Mutex<Vec<&'static str>>>,
    exchanges: u64,
}

impl Served {
    fn new() -> Served {
        let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
        let found = Arc::<std::sync::Mutex<Vec<&'static str>>>::default();
        let sink = Arc::clone(&found);
        let messages = SessionGate::new(engine, Strictness::Enforce, Carrier::HttpBody)
            .guarding(Side::Server)
            .with_sink(Arc::new(move |finding| sink.lock().unwrap().push(finding.rule.name)));
        Served { gate: HttpGate::new(messages), found, exchanges: 0 }
    }

    fn opened() -> Served {
        let mut served = Served::new();
        served.post(&[], INITIALIZE);
        served.send(AGREED);
        served.respond(200, &[SESSION[0], ("content-type", "application/json")], Some(AGREED));
        served.post(&SESSION, INITIALIZED);
        served.respond(202, &[], None);
        assert_eq!(served.found(), [""; 0]);
        served
    }

    fn post(&mut self, headers: &[(&str, &str)], message: &str) -> HttpVerdict {
        const POST: [(&str, &str); 2] = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        self.exchanges += 1;
        let headers: Headers = POST.into_iter().chain(headers.iter().copied()).collect();
        let message = parsed(message);
        let document = message.document();
        let event = HttpEvent::request(self.exchanges, "POST", "/mcp", &headers);
        self.gate.judge_http(&event.with_message(document.root()))
    }

    /// Judges a message of the server before it is sent.
    fn send(&mut self, message: &str) -> Verdict {
        self.gate.judge(Side::Server, &parsed(message))
    }

    fn respond(&mut self, status: u16, headers: &[(&str, &str)], message: Option<&str>) {
        let headers: Headers = headers.iter().copied().collect();
        let message = message.map(parsed);
        let document = message.as_ref().map(Parsed::document);
        let event = HttpEvent::response(self.exchanges, status, &headers);
        self.gate.judge_http(&match &document {
            Some(document) => event.with_message(document.root()),
            None => event,
        });
    }

    fn found(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.found.lock().unwrap())
    }
}

fn parsed(message: &str) -> Parsed {
    Parsed::parse(message.to_owned().into(), Limits::default()).unwrap()
}

fn reasons(refusals: &[Refusal]) -> Vec<RefusalReason> {
    refusals.iter().map(|refusal| refusal.reason).collect()
}

#[test]
fn what_arrives_is_judged_with_its_message() {
    let mut served = Served::opened();
    let fine = served.post(&SESSION, CALL);
    assert_eq!(fine, HttpVerdict { http: Verdict::PASS, message: Some(Vec::new()) });
    let broken = served.post(&SESSION, &CALL.replace("2,", "3,").replace("\"t\"", "7"));
    assert_eq!(broken.http, Verdict::PASS, "it reaches the conversation, which answers it");
    assert_eq!(reasons(&broken.message.unwrap()), [RefusalReason::InvalidParams]);
    assert_eq!(served.found(), ["params-invalid"]);
    let lost = served.post(&SESSION[..1], &CALL.replace("2,", "4,"));
    assert_eq!(lost.http.refusals.len(), 1);
    assert_eq!(lost.message, Some(Vec::new()));
    assert_eq!(served.found(), ["protocol-version-header-missing"]);
}

#[test]
fn what_is_sent_counts_once_and_says_all_it_has_to_say_when_it_leaves() {
    let mut served = Served::opened();
    // The answer to `initialize` was followed before it was placed on its exchange.
    let other = served.post(&[SESSION[0], ("mcp-protocol-version", "2025-06-18")], CALL);
    assert_eq!(other.http, Verdict::PASS, "it is only a warning");
    assert_eq!(served.found(), ["protocol-version-header-mismatch"]);
    assert_eq!(served.send(CALLED), Verdict::PASS);
    served.respond(200, &[("content-type", "application/json")], Some(CALLED));
    assert_eq!(served.found(), [""; 0]);

    let call = CALL.replace("2,", "3,");
    let called = CALLED.replace("2,", "3,");
    served.post(&SESSION, &call);
    assert_eq!(served.send(&called), Verdict::PASS);
    served.respond(200, &[("content-type", "text/plain")], Some(&called));
    assert_eq!(served.found(), ["http-response-content-type"]);
    assert_eq!(served.send(&called).refusals.len(), 1, "it is answered already");
    assert_eq!(served.found(), ["response-duplicate"]);
}

#[test]
fn the_same_answer_on_two_streams_is_one_too_many() {
    const STREAM: [(&str, &str); 1] = [("content-type", "text/event-stream")];
    let mut served = Served::opened();
    served.post(&SESSION, CALL);
    served.respond(200, &STREAM, None);
    let answer = parsed(CALLED);
    let document = answer.document();
    let event = |exchange| {
        let sse = crate::SseEvent { id: Some("1"), ..crate::SseEvent::default() };
        HttpEvent::event(exchange, sse).with_message(document.root())
    };
    served.send(CALLED);
    served.gate.judge_http(&event(served.exchanges));
    let primed = served.found();
    served.post(&SESSION, &CALL.replace("2,", "3,"));
    served.respond(200, &STREAM, None);
    served.gate.judge_http(&event(served.exchanges));
    assert_eq!(primed, ["sse-priming-missing"]);
    assert_eq!(served.found(), ["http-message-broadcast"]);
}

#[test]
fn exchanges_that_are_over_are_forgotten() {
    let mut served = Served::opened();
    for id in 10..20 {
        let (call, called) = (format!("{id},"), format!("{id},"));
        served.post(&SESSION, &CALL.replace("2,", &call));
        assert!(served.gate.messages.session.exchange(served.exchanges).is_some());
        let called = CALLED.replace("2,", &called);
        served.send(&called);
        served.respond(200, &[("content-type", "application/json")], Some(&called));
        assert!(served.gate.messages.session.exchange(served.exchanges).is_none());
    }
    assert_eq!(served.found(), [""; 0]);
}
