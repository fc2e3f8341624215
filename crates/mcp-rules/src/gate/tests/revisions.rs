//! Messages in an unknown revision do not pass, in either direction, but the two sides may still
//! negotiate another one.

use super::*;

const UNKNOWN: &str = "2099-01-01";

fn gate() -> SessionGate {
    gate_over(Carrier::Stdio)
}

fn initialize(id: u64, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"{version}",
        "capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

fn initialized(id: u64, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":{version},"capabilities":{{
        "tools":{{}},"logging":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    )
}

fn list(id: u64, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"_meta":{{
        "io.modelcontextprotocol/protocolVersion":"{version}",
        "io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1"}},
        "io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

const LISTED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],
    "ttlMs":0,"cacheScope":"private"}}"#;
const UNSUPPORTED: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{
    "supported":["2026-07-28"],"requested":"2099-01-01"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
const LOG: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;

#[track_caller]
fn passes(gate: &mut SessionGate, from: Side, message: &str) {
    assert_eq!(judge(gate, from, message), Verdict::PASS, "{message}");
}

#[track_caller]
fn refusal(gate: &mut SessionGate, from: Side, message: &str) -> mcp_core::Refusal {
    let [refusal] = <[_; 1]>::try_from(judge(gate, from, message).refusals).expect(message);
    assert!(refusal.message.starts_with("it could not be checked"), "{}", refusal.message);
    refusal
}

#[test]
fn an_unknown_revision_may_be_asked_for_and_answered_with_a_known_one() {
    let mut gate = gate();
    passes(&mut gate, Side::Client, &initialize(1, UNKNOWN));
    passes(&mut gate, Side::Server, &initialized(1, "\"2025-11-25\""));
    for (from, message) in [
        (Side::Client, READY),
        (Side::Client, PING),
        (Side::Server, PONG),
        (Side::Server, PING),
        (Side::Client, PONG),
        (Side::Server, LOG),
    ] {
        passes(&mut gate, from, message);
    }
}

#[test]
fn what_the_sides_say_in_an_unknown_revision_does_not_pass() {
    for version in ["\"2099-01-01\"", "7", "\"\""] {
        let mut gate = gate();
        passes(&mut gate, Side::Client, &initialize(1, UNKNOWN));
        let answer = refusal(&mut gate, Side::Server, &initialized(1, version));
        assert_eq!(answer.reason, RefusalReason::Invalid);
        for (from, message) in [
            (Side::Client, READY),
            (Side::Client, PING),
            (Side::Server, PONG),
            (Side::Server, PING),
            (Side::Client, PONG),
            (Side::Server, LOG),
        ] {
            refusal(&mut gate, from, message);
        }
        // They may start over, or continue without a handshake.
        passes(&mut gate, Side::Client, &list(8, "2026-07-28"));
        passes(&mut gate, Side::Server, &LISTED.replace("\"id\":1", "\"id\":8"));
        passes(&mut gate, Side::Client, &initialize(9, "2025-11-25"));
        passes(&mut gate, Side::Server, &initialized(9, "\"2025-11-25\""));
        passes(&mut gate, Side::Client, READY);
    }
}

#[test]
fn a_gate_that_only_observes_lets_an_unknown_revision_pass() {
    let mut gate = gate();
    gate.strictness = Strictness::Observe;
    for (from, message) in [
        (Side::Client, initialize(1, UNKNOWN)),
        (Side::Server, initialized(1, "\"2099-01-01\"")),
        (Side::Client, READY.to_owned()),
        (Side::Client, list(2, UNKNOWN)),
    ] {
        passes(&mut gate, from, &message);
    }
}

#[test]
fn a_request_that_declares_an_unknown_revision_is_told_which_are_known() {
    for version in [UNKNOWN, "2025-11-25", "", &"9".repeat(1 << 20)] {
        let mut gate = gate();
        let refused = refusal(&mut gate, Side::Client, &list(1, version));
        assert_eq!(refused.reason, RefusalReason::UnsupportedRevision);
        let facts = refused.facts.unwrap().to_value().unwrap();
        assert_eq!(facts["supported"], serde_json::json!(["2026-07-28"]));
        let requested = facts["requested"].as_str().unwrap();
        assert!(requested.len() < 100 && requested.starts_with(&version[..version.len().min(9)]));
        // If it has reached the server some other way, only an error is a valid answer.
        let mut results = gate.save();
        refusal(&mut gate, Side::Server, LISTED);
        results = serde_json::from_str(&serde_json::to_string(&results).unwrap()).unwrap();
        let mut gate = self::gate().restored(results);
        passes(&mut gate, Side::Server, UNSUPPORTED);
    }
    passes(&mut gate(), Side::Client, &list(1, "2026-07-28"));
}

#[test]
fn an_engine_behind_the_gate_says_itself_which_revisions_it_has() {
    let mut gate = gate().guarding(Side::Server).with_contracts();
    passes(&mut gate, Side::Client, &list(1, UNKNOWN));
    refusal(&mut gate, Side::Server, LISTED);
    let mut gate = gate_over(Carrier::Stdio).guarding(Side::Client).with_contracts();
    refusal(&mut gate, Side::Client, &list(1, UNKNOWN));
}

#[test]
fn a_request_may_repeat_what_was_agreed_on() {
    let mut gate = gate();
    for (from, message) in HANDSHAKE {
        passes(&mut gate, from, message);
    }
    passes(&mut gate, Side::Client, READY);
    passes(&mut gate, Side::Client, &list(2, "2025-11-25"));
    refusal(&mut gate, Side::Client, &list(3, "2025-06-18"));
}
