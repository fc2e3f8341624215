//! What is remembered is bounded in bytes, whatever the names are that peers choose.

use std::sync::Arc;

use mcp_core::{Revision, Side};
use mcp_jsonrpc::Gate as _;
use mcp_rules::{
    Carrier, Engine, LineReader, Observer, RecordingInfo, SessionGate, Settings, Strictness,
};
use mcp_schema::Schemas;

use crate::{
    kept,
    messages::{engine, opening, parsed},
};

/// Bytes that a gate may take for one name, of any length, and for what belongs to it.
const FOR_EACH: i64 = 12 * 1024;
const COUNT: i64 = 40;
/// The length of each name.
const LENGTH: usize = 100_000;

/// Has these lines said again and again, with another HUGE name each time, and asks how much memory
/// the gate has taken.
#[track_caller]
fn retained(what: &str, lines: &[(Side, &str)]) {
    let engine = engine();
    let mut gate = SessionGate::new(Arc::clone(&engine), Strictness::Observe, Carrier::Stdio);
    for (from, line) in opening(Revision::V2025_11_25) {
        gate.judge(from, &parsed(&line));
    }
    let kept = kept(|| {
        for number in 1..=COUNT {
            let name = format!("{}{number}", "x".repeat(LENGTH));
            for (from, line) in lines {
                let line = line.replace("NUMBER", &number.to_string()).replace("HUGE", &name);
                gate.judge(*from, &parsed(&line));
            }
        }
    });
    assert!(kept <= COUNT * FOR_EACH, "{what}: {kept} bytes");
    drop(gate);
}

const CLIENT: Side = Side::Client;
const SERVER: Side = Side::Server;

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn long_names_are_not_kept_at_length() {
    let cases: &[(&str, &[(Side, &str)])] = &[
        ("ids", &[(CLIENT, r#"{"jsonrpc":"2.0","id":"HUGE","method":"ping"}"#)]),
        ("ids of the server", &[(SERVER, r#"{"jsonrpc":"2.0","id":"HUGE","method":"ping"}"#)]),
        ("void ids", &[(CLIENT, r#"{"jsonrpc":"2.0","id":"HUGE","method":"ping","result":{}}"#)]),
        (
            "answered ids",
            &[
                (CLIENT, r#"{"jsonrpc":"2.0","id":"HUGE","method":"ping"}"#),
                (SERVER, r#"{"jsonrpc":"2.0","id":"HUGE","result":{}}"#),
            ],
        ),
        ("methods", &[(CLIENT, r#"{"jsonrpc":"2.0","id":NUMBER,"method":"HUGE"}"#)]),
        (
            "tokens",
            &[(
                CLIENT,
                r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"HUGE"}}}"#,
            )],
        ),
        (
            "called tools",
            &[(
                CLIENT,
                r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tools/call","params":{"name":"HUGE","arguments":{"HUGE":"HUGE"}}}"#,
            )],
        ),
        (
            "listed tools",
            &[
                (
                    CLIENT,
                    r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tools/list","params":{"cursor":"HUGE"}}"#,
                ),
                (
                    SERVER,
                    r#"{"jsonrpc":"2.0","id":NUMBER,"result":{"tools":[{"name":"HUGE","description":"HUGE","inputSchema":{"type":"object"}}],"nextCursor":"HUGE1"}}"#,
                ),
            ],
        ),
        (
            "listed prompts",
            &[
                (CLIENT, r#"{"jsonrpc":"2.0","id":NUMBER,"method":"prompts/list"}"#),
                (
                    SERVER,
                    r#"{"jsonrpc":"2.0","id":NUMBER,"result":{"prompts":[{"name":"HUGE","arguments":[{"name":"HUGE","required":true}]}]}}"#,
                ),
            ],
        ),
        (
            "prompts",
            &[(
                CLIENT,
                r#"{"jsonrpc":"2.0","id":NUMBER,"method":"prompts/get","params":{"name":"HUGE","arguments":{"HUGE":"HUGE"}}}"#,
            )],
        ),
        (
            "listed templates",
            &[
                (CLIENT, r#"{"jsonrpc":"2.0","id":NUMBER,"method":"resources/templates/list"}"#),
                (
                    SERVER,
                    r#"{"jsonrpc":"2.0","id":NUMBER,"result":{"resourceTemplates":[{"name":"a","uriTemplate":"file:///HUGE"}]}}"#,
                ),
            ],
        ),
        (
            "subscriptions",
            &[(
                CLIENT,
                r#"{"jsonrpc":"2.0","id":NUMBER,"method":"resources/subscribe","params":{"uri":"file:///HUGE"}}"#,
            )],
        ),
        (
            "resources",
            &[(
                CLIENT,
                r#"{"jsonrpc":"2.0","id":NUMBER,"method":"resources/read","params":{"uri":"file:///HUGE"}}"#,
            )],
        ),
        (
            "tasks",
            &[
                (
                    CLIENT,
                    r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tools/call","params":{"name":"t","task":{},"_meta":{"progressToken":"HUGE"}}}"#,
                ),
                (
                    SERVER,
                    r#"{"jsonrpc":"2.0","id":NUMBER,"result":{"task":{"taskId":"HUGE","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}}}"#,
                ),
            ],
        ),
        (
            "asked tasks",
            &[(
                CLIENT,
                r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tasks/get","params":{"taskId":"HUGE"}}"#,
            )],
        ),
        (
            "links",
            &[(
                SERVER,
                r#"{"jsonrpc":"2.0","id":NUMBER,"method":"elicitation/create","params":{"mode":"url","message":"HUGE","url":"https://a.example/HUGE","elicitationId":"HUGE"}}"#,
            )],
        ),
        (
            "completions",
            &[(
                CLIENT,
                r#"{"jsonrpc":"2.0","id":NUMBER,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"HUGE"},"argument":{"name":"HUGE","value":"HUGE"}}}"#,
            )],
        ),
        (
            "cancellations",
            &[(
                CLIENT,
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"HUGE","reason":"HUGE"}}"#,
            )],
        ),
        (
            "openings",
            &[
                (
                    CLIENT,
                    r#"{"jsonrpc":"2.0","id":NUMBER,"method":"initialize","params":{"protocolVersion":"HUGE","capabilities":{"experimental":{"HUGE":{}},"extensions":{"HUGE":{}}},"clientInfo":{"name":"HUGE","version":"HUGE"}}}"#,
                ),
                (
                    SERVER,
                    r#"{"jsonrpc":"2.0","id":NUMBER,"result":{"protocolVersion":"HUGE","capabilities":{"experimental":{"HUGE":{}},"extensions":{"HUGE":{}}},"serverInfo":{"name":"HUGE","version":"HUGE"}}}"#,
                ),
            ],
        ),
        (
            "stateless requests",
            &[(
                CLIENT,
                r#"{"jsonrpc":"2.0","id":"HUGE","method":"tools/call","params":{"name":"HUGE","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"HUGE","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"HUGE":{}}}},"requestState":"HUGE"}}"#,
            )],
        ),
        (
            "subscriptions of the stateless era",
            &[(
                CLIENT,
                r#"{"jsonrpc":"2.0","id":NUMBER,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["file:///HUGE"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
            )],
        ),
    ];
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|(what, lines)| {
            let outcome = std::panic::catch_unwind(|| retained(what, lines));
            outcome.err().map(|panic| match panic.downcast_ref::<String>() {
                Some(text) => text.clone(),
                None => (*what).to_owned(),
            })
        })
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

/// A session over HTTP that the client ends, and one over stdio; `number` names both.
fn ended_sessions(number: usize) -> String {
    let headers = format!(
        r#""mcp-session-id":"session-{number}","content-type":"application/json","accept":"application/json, text/event-stream","mcp-protocol-version":"2025-11-25""#
    );
    let http = |from: &str, part: &str, rest: &str| {
        format!(
            "{{\"session\":\"http {number}\",\"from\":\"{from}\",\"http\":{{{part},\"headers\":{{{headers}}}}}{rest}}}\n"
        )
    };
    let mut file = String::new();
    let mut exchange = 0;
    let mut said = opening(Revision::V2025_11_25);
    for id in 1..=10 {
        said.push((CLIENT, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)));
        said.push((SERVER, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)));
    }
    for (from, message) in said {
        let rest = format!(r#","msg":{message}"#);
        let stdio = format!(r#"{{"session":"stdio {number}","from":"{from}"{rest}}}"#);
        file += &stdio;
        file.push('\n');
        if from == CLIENT {
            exchange += 1;
            let part = format!(r#""exchange":{exchange},"method":"POST","url":"/mcp""#);
            file += &http("client", &part, &rest);
        } else {
            file += &http("server", &format!(r#""exchange":{exchange},"status":200"#), &rest);
        }
    }
    exchange += 1;
    let part = format!(r#""exchange":{exchange},"method":"DELETE","url":"/mcp""#);
    file += &http("client", &part, "");
    file += &http("server", &format!(r#""exchange":{exchange},"status":200"#), "");
    file
}

#[test]
fn conversations_that_are_over_do_not_add_up() {
    let mut settings = Settings::default();
    settings.limits.session_bytes = 256 * 1024;
    let engine = Engine::new(Schemas::embedded(), settings);
    let mut observer = Observer::new(&engine, RecordingInfo::default());
    let mut reader = LineReader::new(&engine.settings().limits);
    let mut judged = Vec::new();
    let mut sessions = 0;
    let mut follow = |count: usize| {
        for _ in 0..count {
            sessions += 1;
            for line in ended_sessions(sessions).lines() {
                reader.read(line.as_bytes(), |line| observer.follow(1, line, &mut judged));
            }
        }
    };
    let mut total = 0;
    let mut retained = [50, 50, 100].map(|count| {
        total += kept(|| follow(count));
        total
    });
    assert!(judged.is_empty(), "{judged:?}");
    // How much is released at once varies.
    retained.sort_unstable();
    assert!(retained[2] < retained[0] + 256 * 1024, "{retained:?}");
    assert!(retained[2] < 1024 * 1024, "{retained:?}");
}
