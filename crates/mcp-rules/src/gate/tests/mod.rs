mod limits;
mod revisions;
mod unpublished_headers;

use mcp_core::{Refusal, RefusalReason};
use mcp_json::Limits;
use mcp_jsonrpc::{JsonRpcId, MessageKind};
use mcp_schema::Schemas;

use super::*;
use crate::{Settings, Severity};

fn gate() -> SessionGate {
    gate_over(Carrier::HttpBody)
}

fn gate_over(carrier: Carrier) -> SessionGate {
    let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
    SessionGate::new(engine, Strictness::Enforce, carrier)
}

#[track_caller]
fn reasons(gate: &mut SessionGate, from: Side, message: &str) -> Vec<RefusalReason> {
    let verdict = judge(gate, from, message);
    verdict.refusals.into_iter().map(|refusal| refusal.reason).collect()
}

fn parsed(message: &str) -> Result<Parsed, SyntaxError> {
    Parsed::parse(message.to_owned().into(), Limits::default())
}

fn judge(gate: &mut SessionGate, from: Side, message: &str) -> Verdict {
    match parsed(message) {
        Ok(parsed) => gate.judge(from, &parsed),
        Err(error) => gate.judge_unreadable(from, message.as_bytes(), &error),
    }
}

#[test]
fn how_a_gate_treats_a_rule_is_a_property_of_the_rule() {
    let treated = |enforcement| {
        let mut names: Vec<_> = crate::catalogue()
            .filter(|rule| rule.enforcement == enforcement)
            .map(|rule| rule.name)
            .collect();
        names.sort_unstable();
        names
    };
    let contracts =
        ["elicitation-content-invalid", "elicitation-content-missing", "tool-arguments-invalid"];
    assert_eq!(treated(Enforcement::Contract), contracts);
    let tolerated = [
        "http-retry-ignored",
        "result-type-missing",
        "sse-event-id-duplicate",
        "x-mcp-header-duplicate",
        "x-mcp-header-name-invalid",
        "x-mcp-header-type-invalid",
        "x-mcp-header-unreachable",
    ];
    assert_eq!(treated(Enforcement::Tolerated), tolerated);
    let unjudged = ["batch-size-limit", "json-depth-limit", "message-size-limit"];
    assert_eq!(treated(Enforcement::Unjudged), unjudged);
}

#[test]
fn a_judgement_tells_what_was_found_whether_it_passes_or_not() {
    let mut gate = gate_over(Carrier::Stdio);
    for (from, message) in HANDSHAKE {
        let judgement = gate.examine(from, &parsed(message).unwrap());
        assert_eq!(judgement.verdict, Verdict::PASS);
        assert_eq!(judgement.messages[0].method.as_deref(), Some("initialize"));
        assert_eq!(judgement.messages[0].id, Some(JsonRpcId::Integer(1)));
    }
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    gate.examine(Side::Client, &parsed(initialized).unwrap());
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":7}}"#;
    let refused = gate.examine(Side::Client, &parsed(call).unwrap());
    assert_eq!((refused.verdict.refusals.len(), refused.number), (1, 4));
    assert_eq!(refused.findings[0].rule.name, "params-invalid");
    assert_eq!(refused.messages[0].kind, Some(MessageKind::Request));
    gate.strictness = Strictness::Observe;
    let call = call.replace("\"id\":2", "\"id\":3");
    let passed = gate.examine(Side::Client, &parsed(&call).unwrap());
    assert_eq!((passed.verdict, passed.findings.len()), (Verdict::PASS, 1));
}

#[test]
fn a_saved_gate_goes_on_as_if_nothing_had_happened() {
    let conversation = [
        (Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        (Side::Client, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#),
        (Side::Server, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#),
        (Side::Server, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#),
    ];
    let mut gate = gate_over(Carrier::Stdio);
    let mut verdicts = Vec::new();
    for (from, message) in HANDSHAKE.into_iter().chain(conversation) {
        let saved = serde_json::to_string(&gate.save()).unwrap();
        gate = gate_over(Carrier::Stdio).restored(serde_json::from_str(&saved).unwrap());
        verdicts.push(reasons(&mut gate, from, message).len());
    }
    assert_eq!(verdicts, [0, 0, 0, 0, 0, 1], "the second answer answers nothing");
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{
    "io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientCapabilities":{}}}}"#;

#[test]
fn a_settled_revision_decides_which_methods_there_are() {
    let invalid = [RefusalReason::InvalidParams];
    assert_eq!(reasons(&mut gate(), Side::Client, INITIALIZE), invalid);
    let mut settled = gate().settled(Revision::LATEST);
    assert_eq!(reasons(&mut settled, Side::Client, INITIALIZE), [RefusalReason::UnknownMethod]);
}

/// The messages of the two sides until the client is free to work.
const HANDSHAKE: [(Side, &str); 2] = [
    (
        Side::Client,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":
        "2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    ),
    (
        Side::Server,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":
        {"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    ),
];

#[test]
fn a_request_may_overtake_initialized_over_http_alone() {
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for (carrier, refused) in [(Carrier::HttpBody, 0), (Carrier::Stdio, 1), (Carrier::WebSocket, 1)]
    {
        let mut gate = gate_over(carrier).guarding(Side::Server);
        for (from, message) in HANDSHAKE {
            assert_eq!(reasons(&mut gate, from, message), []);
        }
        assert_eq!(reasons(&mut gate, Side::Client, list).len(), refused, "{carrier:?}");
        assert_eq!(reasons(&mut gate, Side::Client, initialized), []);
    }
}

#[test]
fn what_is_sent_over_http_keeps_its_order() {
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t",
        "_meta":{"progressToken":7}}}"#;
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{
        "progressToken":7,"progress":1}}"#;
    for (guarded, refused) in [(Side::Server, 1), (Side::Client, 0)] {
        let mut gate = gate().guarding(guarded);
        for (from, message) in HANDSHAKE.into_iter().chain([
            (Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
            (Side::Client, call),
            (Side::Server, progress),
        ]) {
            assert_eq!(reasons(&mut gate, from, message), [], "{message}");
        }
        let again = reasons(&mut gate, Side::Server, progress);
        assert_eq!(again.len(), refused, "in front of the {guarded}");
    }
}

#[test]
fn a_byte_order_mark_is_named() {
    let ping = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    for (carrier, rule) in [
        (Carrier::Stdio, "stdin-non-json"),
        (Carrier::HttpBody, "http-body-not-json"),
        (Carrier::WebSocket, "message-not-json"),
    ] {
        let verdict = judge(&mut gate_over(carrier), Side::Client, ping);
        let [refusal] = verdict.refusals.as_slice() else { panic!("{verdict:?}") };
        assert_eq!(refusal.reason, RefusalReason::NotJson);
        assert_eq!(refusal.message, "a byte order mark precedes the message");
        let finding = refusal.findings[0].to_value().unwrap();
        assert_eq!(
            (&finding["rule"], &finding["message"]),
            (&rule.into(), &refusal.message.as_str().into())
        );
        assert_eq!(finding["span"], serde_json::json!([0, 3]));
    }
    let banner = "\u{feff}server started";
    let verdict = judge(&mut gate_over(Carrier::Stdio), Side::Server, banner);
    assert_eq!(verdict.refusals[0].message, "not a JSON-RPC message but other text");
}

const LISTED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"t","inputSchema":{
    "type":"object","properties":{"n":{"type":"integer"}}}}]}}"#;

#[test]
fn what_does_not_pass_is_an_error_wherever_it_is_told() {
    for strictness in [Strictness::Enforce, Strictness::Observe] {
        let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
        let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = Arc::clone(&heard);
        let mut gate = SessionGate::new(engine, strictness, Carrier::Stdio)
            .guarding(Side::Client)
            .with_sink(Arc::new(move |finding| sink.lock().unwrap().push(finding.severity)));
        let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
        for (from, message) in HANDSHAKE.into_iter().chain([
            (Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
            (Side::Client, list),
            (Side::Server, LISTED),
        ]) {
            assert_eq!(reasons(&mut gate, from, message), [], "{message}");
        }
        let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t",
            "arguments":{"n":"x"}}}"#;
        let verdict = judge(&mut gate, Side::Client, call);
        if strictness == Strictness::Enforce {
            let finding: serde_json::Value = verdict.refusals[0].findings[0].read().unwrap();
            assert_eq!(finding["rule"], "tool-arguments-invalid");
            assert_eq!(finding["severity"], "error");
            assert_eq!(*heard.lock().unwrap(), [Severity::Error]);
        } else {
            assert_eq!(verdict, Verdict::PASS);
            assert_eq!(*heard.lock().unwrap(), [Severity::Warning]);
        }
    }
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"name":"t","_meta":{
    "io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
    "io.modelcontextprotocol/clientCapabilities":{}}}}"#;

#[test]
fn what_a_receiver_must_put_up_with_arrives_but_is_not_sent() {
    let untyped = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let marked = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,
        "cacheScope":"private","tools":[{"name":"t","inputSchema":{"type":"object",
        "properties":{"a":{"type":"number","x-mcp-header":"A"}}}}]}}"#;
    for (method, result) in [("tools/call", untyped), ("tools/list", marked)] {
        for (guarded, refused) in [(Side::Client, 0), (Side::Server, 1)] {
            let mut gate = gate().guarding(guarded);
            assert_eq!(reasons(&mut gate, Side::Client, &CALL.replace("METHOD", method)), []);
            let reasons = reasons(&mut gate, Side::Server, result);
            assert_eq!(reasons.len(), refused, "{method} {guarded:?}");
        }
    }
}
