//! The HTTP around messages: headers, URLs, statuses, ids of events.

use mcp_core::Side;
use mcp_jsonrpc::Gate as _;
use mcp_rules::{Carrier, Headers, HttpEvent, HttpGate, SessionGate, SseEvent, Strictness};

use crate::{
    kept, law,
    messages::{engine, parsed},
};

const PING: &str = r#"{"jsonrpc":"2.0","id":NUMBER,"method":"ping"}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
    "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25",
    "capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
const MODERN: &str = r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tools/list","params":{"_meta":{
    "io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
    "io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Headers that rules look at, and one that they do not.
const NAMES: [&str; 16] = [
    "accept",
    "access-control-allow-origin",
    "authorization",
    "cache-control",
    "content-type",
    "host",
    "last-event-id",
    "location",
    "mcp-method",
    "mcp-name",
    "mcp-param-a",
    "mcp-protocol-version",
    "mcp-session-id",
    "origin",
    "www-authenticate",
    "x-other",
];

/// A gate in front of a server, in a session or, without one, in the stateless era.
fn gate(in_session: bool) -> HttpGate {
    let gate = SessionGate::new(engine(), Strictness::Observe, Carrier::HttpBody);
    let mut gate = HttpGate::new(gate.guarding(Side::Server));
    if in_session {
        post(&mut gate, 0, "/mcp", &Headers::default(), INITIALIZE);
        gate.judge(Side::Server, &parsed(INITIALIZED));
        let headers: Headers<'_> =
            [("mcp-session-id", "abc"), ("content-type", "application/json")].into_iter().collect();
        let answer = parsed(INITIALIZED);
        let document = answer.document();
        gate.judge_http(&HttpEvent::response(0, 200, &headers).with_message(document.root()));
    }
    gate
}

fn post(gate: &mut HttpGate, number: u64, url: &str, headers: &Headers<'_>, message: &str) {
    let message = parsed(&message.replace("NUMBER", &number.to_string()));
    let document = message.document();
    let event = HttpEvent::request(number, "POST", url, headers);
    gate.judge_http(&event.with_message(document.root()));
}

#[test]
fn headers() {
    for in_session in [true, false] {
        let message = if in_session { PING } else { MODERN };
        for name in NAMES {
            for unit in ["a/b;q=0.1,", "\"", "=?base64?", "Bearer a=\"b\", "] {
                let long = |n: usize| unit.repeat(n);
                law(name, 3000, long, |value| {
                    let headers: Headers<'_> = [(name, &**value)].into_iter().collect();
                    let mut gate = gate(in_session);
                    post(&mut gate, 1, "/mcp", &headers, message);
                    gate.judge_http(&HttpEvent::response(1, 401, &headers));
                });
            }
            law(
                name,
                3000,
                |n| vec![(name, "x, y"); n],
                |many| {
                    let headers: Headers<'_> = many.iter().copied().collect();
                    let mut gate = gate(in_session);
                    post(&mut gate, 1, "/mcp", &headers, message);
                    gate.judge_http(&HttpEvent::response(1, 401, &headers));
                },
            );
        }
        law(
            "a URL",
            3000,
            |n| format!("/mcp?{}", "a=%41&".repeat(n)),
            |url| {
                post(&mut gate(in_session), 1, url, &Headers::default(), message);
            },
        );
    }
}

/// Bytes that an exchange may take, whatever its headers are.
const FOR_EACH: i64 = 24 * 1024;
const COUNT: i64 = 40;

/// Two exchanges whose requests and responses have this text wherever `name` says.
fn exchange_with(gate: &mut HttpGate, number: u64, name: &str, text: &str, message: &str) {
    let headers: Headers<'_> =
        [("content-type", "text/event-stream"), (name, text)].into_iter().collect();
    let url = if name == "the URL" { text } else { "/mcp" };
    post(gate, number, url, &headers, message);
    let method = if name == "the method" { text } else { "GET" };
    let other = number + 1000;
    gate.judge_http(&HttpEvent::request(other, method, url, &headers));
    for exchange in [number, other] {
        let response = HttpEvent::response(exchange, 200, &headers);
        gate.judge_http(&response.with_body(text.as_bytes()));
        let id = (name == "ids of events").then_some(text);
        let event = SseEvent { id, event: id, data: Some(b""), ..SseEvent::default() };
        gate.judge_http(&HttpEvent::event(exchange, event));
    }
}

#[test]
fn exchanges_do_not_keep_long_texts() {
    let mut broken = Vec::new();
    let huge = |number: u64| format!("{}{number}", "x".repeat(100_000));
    for in_session in [true, false] {
        let message = if in_session { PING } else { MODERN };
        for name in NAMES.into_iter().chain(["the URL", "the method", "ids of events"]) {
            let mut gate = gate(in_session);
            let kept = kept(|| {
                for number in 1..=COUNT.unsigned_abs() {
                    exchange_with(&mut gate, number, name, &huge(number), message);
                }
            });
            if kept > 2 * COUNT * FOR_EACH {
                broken.push(format!("{name} (in a session: {in_session}): {kept} bytes"));
            }
            drop(gate);
        }
    }
    assert_eq!(broken, [""; 0]);
}
