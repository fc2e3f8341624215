//! Decisions on which lines may pass while live traffic is recorded.

use mcp_core::RefusalReason;
use mcp_rules::{Engine, LineReader, Observer, RecordingInfo, Ruling, Settings};
use mcp_schema::Schemas;

/// The ruling on each line.
fn rulings(lines: &[String], info: RecordingInfo) -> Vec<Ruling> {
    let engine = Engine::new(Schemas::embedded(), Settings::default());
    let mut observer = Observer::new(&engine, info);
    let mut reader = LineReader::new(&engine.settings().limits);
    let numbered = (1..).zip(lines);
    numbered
        .map(|(number, line)| {
            reader.read(line.as_bytes(), |read| observer.decide(number, read, |_| None))
        })
        .collect()
}

fn request(exchange: u64, method: &str, version: &str, message: &str) -> String {
    let msg = if message.is_empty() { String::new() } else { format!(r#","msg":{message}"#) };
    format!(
        r#"{{"from":"client","http":{{"exchange":{exchange},"method":"{method}","url":"/mcp","headers":{{
        "accept":"application/json, text/event-stream","content-type":"application/json",
        "mcp-session-id":"abc","mcp-protocol-version":"{version}"}}}}{msg}}}"#
    )
    .replace('\n', "")
}

fn response(exchange: u64, message: &str) -> String {
    format!(
        r#"{{"from":"server","http":{{"exchange":{exchange},"status":200,"headers":{{"content-type":"application/json"}}}},"msg":{message}}}"#
    )
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
const LISTED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#;
const REFUSED: &str = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"no"}}"#;

#[test]
fn in_a_session_joined_midway_an_unpublished_version_does_not_pass() {
    let lines = [
        request(1, "POST", "2099-01-01", LIST),
        response(1, LISTED),
        request(2, "POST", "2099-01-01", &LIST.replace(":2,", ":3,")),
        response(2, REFUSED),
        request(3, "GET", "2099-01-01", ""),
    ];
    let rulings = rulings(&lines, RecordingInfo::default());
    let reasons: Vec<Vec<RefusalReason>> = rulings
        .iter()
        .map(|ruling| ruling.refusals.iter().map(|refusal| refusal.reason).collect())
        .collect();
    let unsupported = vec![RefusalReason::UnsupportedRevision];
    let expected = [
        unsupported.clone(),
        vec![RefusalReason::Invalid],
        unsupported.clone(),
        vec![],
        unsupported,
    ];
    assert_eq!(reasons, expected);
    for refusal in rulings.iter().flat_map(|ruling| &ruling.refusals) {
        assert!(refusal.message.contains("`2099-01-01`"), "{}", refusal.message);
    }
    // It is not reported when a recording is judged.
    assert!(rulings.iter().all(|ruling| ruling.findings().next().is_none()), "{rulings:?}");
}

#[test]
fn in_a_session_joined_midway_a_published_version_passes() {
    let lines = [
        request(1, "POST", "2025-11-25", LIST),
        response(1, LISTED),
        request(3, "GET", "2025-11-25", ""),
    ];
    for ruling in rulings(&lines, RecordingInfo::default()) {
        assert_eq!(ruling.refusals, []);
    }
}

#[test]
fn where_the_revision_is_given_the_header_does_not_matter() {
    let mut info = RecordingInfo::default();
    info.revision = Some(mcp_core::Revision::V2025_11_25);
    let lines = [request(1, "POST", "2099-01-01", LIST), response(1, LISTED)];
    for ruling in rulings(&lines, info) {
        assert_eq!(ruling.refusals, []);
    }
}
