//! A gate that joins an HTTP session knows its revision only from a header. If that names an
//! unpublished one, nothing in the exchange passes except an error.

use super::*;
use crate::{Headers, HttpEvent, SseEvent};

const UNPUBLISHED: &str = "2099-01-01";
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
const LISTED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#;
const REFUSED: &str = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"no"}}"#;
const LOG: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
    "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const MODERN: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{
    "io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
    "io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// A gate in front of `side`, in the middle of a session.
fn joining(side: Side, strictness: Strictness) -> HttpGate {
    let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
    let messages = SessionGate::new(engine, strictness, Carrier::HttpBody);
    HttpGate::new(messages.joining().guarding(side))
}

/// The reasons why a request does not get through.
fn request(
    gate: &mut HttpGate,
    number: u64,
    method: &str,
    version: &str,
    body: &str,
) -> Vec<Refusal> {
    let headers: Headers = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-session-id", "abc"),
        ("mcp-protocol-version", version),
    ]
    .into_iter()
    .collect();
    through(gate, &HttpEvent::request(number, method, "/mcp", &headers), body)
}

fn through(gate: &mut HttpGate, event: &HttpEvent<'_>, body: &str) -> Vec<Refusal> {
    let message = parsed(body).ok();
    let document = message.as_ref().map(Parsed::document);
    let verdict = gate.judge_http(&match &document {
        Some(document) => event.with_message(document.root()),
        None => *event,
    });
    verdict.http.refusals.into_iter().chain(verdict.message.unwrap_or_default()).collect()
}

/// The reasons why an answer, or an event, does not get through.
fn answer(gate: &mut HttpGate, number: u64, body: &str) -> Vec<Refusal> {
    let headers: Headers = [("content-type", "application/json")].into_iter().collect();
    through(gate, &HttpEvent::response(number, 200, &headers), body)
}

fn event(gate: &mut HttpGate, number: u64, body: &str) -> Vec<Refusal> {
    through(gate, &HttpEvent::event(number, SseEvent::default()), body)
}

#[test]
fn a_request_under_an_unpublished_version_is_told_which_are_known() {
    for version in [UNPUBLISHED, "", "DRAFT-2026-v1", "2025-11-25, 2099-01-01", &"9".repeat(99_999)]
    {
        let mut gate = joining(Side::Server, Strictness::Enforce);
        let refusals = request(&mut gate, 1, "POST", version, LIST);
        let [refusal] = &refusals[..] else { panic!("{version}: {refusals:?}") };
        assert_eq!(refusal.reason, RefusalReason::UnsupportedRevision);
        assert!(refusal.message.starts_with("it could not be checked"), "{}", refusal.message);
        let facts = refusal.facts.as_ref().unwrap().to_value().unwrap();
        assert_eq!(facts["supported"].as_array().unwrap().len(), Revision::ALL.len());
        assert!(facts["requested"].as_str().unwrap().len() < 100, "{facts}");
    }
}

#[test]
fn no_message_of_the_client_and_no_stream_passes_under_an_unpublished_version() {
    let mut gate = joining(Side::Server, Strictness::Enforce);
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    let answered = r#"{"jsonrpc":"2.0","id":9,"result":{}}"#;
    let bodies = [("POST", cancelled), ("POST", answered), ("GET", ""), ("DELETE", "")];
    for (number, (method, body)) in (1..).zip(bodies) {
        let refusals = request(&mut gate, number, method, UNPUBLISHED, body);
        assert_eq!(refusals.len(), 1, "{method} {body}");
    }
}

#[test]
fn a_published_version_and_none_at_all_pass() {
    for version in ["2025-11-25", "2025-06-18", " 2025-03-26\t"] {
        let mut gate = joining(Side::Server, Strictness::Enforce);
        assert_eq!(request(&mut gate, 1, "POST", version, LIST), [], "{version}");
    }
    let mut gate = joining(Side::Server, Strictness::Enforce);
    let headers: Headers = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-session-id", "abc"),
    ]
    .into_iter()
    .collect();
    let event = HttpEvent::request(1, "POST", "/mcp", &headers);
    assert_eq!(through(&mut gate, &event, LIST), []);
}

#[test]
fn one_request_under_an_unpublished_version_does_not_hold_back_others() {
    let mut gate = joining(Side::Server, Strictness::Enforce);
    assert_eq!(request(&mut gate, 1, "POST", UNPUBLISHED, LIST).len(), 1);
    let other = LIST.replace('2', "3").replace("3.0", "2.0");
    assert_eq!(request(&mut gate, 2, "POST", "2025-11-25", &other), []);
    // That does not make an unpublished version known.
    let third = LIST.replace(":2,", ":4,");
    assert_eq!(request(&mut gate, 3, "POST", UNPUBLISHED, &third).len(), 1);
}

#[test]
fn of_what_a_server_answers_only_errors_pass() {
    for (body, passes) in [(LISTED, false), (REFUSED, true)] {
        let mut gate = joining(Side::Client, Strictness::Enforce);
        request(&mut gate, 1, "POST", UNPUBLISHED, LIST);
        let refusals = answer(&mut gate, 1, body);
        assert_eq!(refusals.is_empty(), passes, "{refusals:?}");
        assert!(refusals.iter().all(|refusal| refusal.reason == RefusalReason::Invalid));
    }
    let mut gate = joining(Side::Client, Strictness::Enforce);
    request(&mut gate, 1, "GET", UNPUBLISHED, "");
    let headers: Headers = [("content-type", "text/event-stream")].into_iter().collect();
    assert_eq!(through(&mut gate, &HttpEvent::response(1, 200, &headers), ""), []);
    assert_eq!(event(&mut gate, 1, LOG).len(), 1);
    let mut gate = joining(Side::Client, Strictness::Enforce);
    request(&mut gate, 1, "POST", "2025-11-25", LIST);
    assert_eq!(answer(&mut gate, 1, LISTED), []);
}

#[test]
fn the_header_does_not_matter_where_the_message_or_the_operator_says_the_revision() {
    let mut gate = joining(Side::Server, Strictness::Enforce);
    assert_eq!(request(&mut gate, 1, "POST", UNPUBLISHED, INITIALIZE), []);
    let mut gate = joining(Side::Server, Strictness::Enforce);
    let [refusal] = &request(&mut gate, 1, "POST", UNPUBLISHED, MODERN)[..] else { panic!() };
    assert_eq!(refusal.message, "the header says 2099-01-01, but the body says 2026-07-28");
    let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
    let messages = SessionGate::new(engine, Strictness::Enforce, Carrier::HttpBody);
    let settled = messages.settled(Revision::V2025_11_25).guarding(Side::Server);
    let mut gate = HttpGate::new(settled);
    assert_eq!(request(&mut gate, 1, "POST", UNPUBLISHED, LIST), []);
}

#[test]
fn a_gate_that_only_observes_lets_an_unpublished_version_pass() {
    let mut gate = joining(Side::Server, Strictness::Observe);
    assert_eq!(request(&mut gate, 1, "POST", UNPUBLISHED, LIST), []);
    assert_eq!(request(&mut gate, 2, "GET", UNPUBLISHED, ""), []);
}
