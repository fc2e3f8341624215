//! Messages judged by themselves.

use mcp_core::{Revision, Side};
use mcp_json::{Limits, Tape};
use mcp_rules::{Alone, Engine, Findings, Settings};
use mcp_schema::Schemas;

#[track_caller]
fn check(message: &str, about: Alone, expected: &[&str]) {
    let engine = Engine::new(Schemas::embedded(), Settings::default());
    let mut tape = Tape::new();
    let document = tape.parse(message.as_bytes(), Limits::default()).expect("JSON");
    let mut findings = Findings::new(engine.settings());
    engine.judge_alone(document.root(), about, &mut findings);
    let rules: Vec<&str> = findings.take().iter().map(|finding| finding.rule.name).collect();
    assert_eq!(rules, expected, "{message}");
}

#[test]
fn what_a_conversation_would_tell_is_given() {
    let legacy = Alone { revision: Revision::V2025_11_25, from: None, answers: None };
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#;
    check(call, legacy, &["params-invalid"]);
    check(&call.replace('7', "\"x\""), legacy, &[]);
    check(
        &call.replace("\"id\"", "\"id\":1,\"id\""),
        legacy,
        &["json-duplicate-key", "params-invalid"],
    );

    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":7}}"#;
    let answers = mcp_schema::method(Revision::V2025_11_25, b"tools/list");
    check(answer, legacy, &[]);
    check(answer, Alone { answers, ..legacy }, &["result-invalid"]);
}

#[test]
fn only_clients_ask_and_only_servers_answer_without_a_handshake() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"x/y"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let notification = r#"{"jsonrpc":"2.0","method":"x/y"}"#;
    let by = |revision, from| Alone { revision, from: Some(from), answers: None };
    let modern = |from| by(Revision::V2026_07_28, from);
    check(request, modern(Side::Server), &["server-request-forbidden"]);
    check(answer, modern(Side::Client), &["client-response-forbidden"]);
    check(answer, modern(Side::Server), &[]);
    check(request, by(Revision::V2025_11_25, Side::Server), &[]);
    check(request, modern(Side::Client), &[]);
    check(notification, modern(Side::Server), &[]);
}

#[test]
fn a_bad_tool_does_not_hide_what_is_wrong_with_the_others() {
    let revision = Revision::V2025_11_25;
    let answers = mcp_schema::method(revision, b"tools/list");
    let about = Alone { revision, from: Some(Side::Server), answers };
    let list =
        |tools: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tools}]}}}}"#);
    let good = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
    let nameless = r#"{"inputSchema":{"type":"object","properties":{"x":{"type":"strin"}}}}"#;
    let misspelt =
        r#"{"name":"b","inputSchema":{"type":"object","properties":{"x":{"type":"strin"}}}}"#;
    check(&list(misspelt), about, &["tool-input-schema-invalid"]);
    check(&list(&[good, nameless].join(",")), about, &["result-invalid"]);
    let both = ["result-invalid", "tool-input-schema-invalid"];
    check(&list(&[nameless, good, misspelt].join(",")), about, &both);
}
