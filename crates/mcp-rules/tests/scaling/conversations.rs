//! Many messages: remembering earlier ones does not make later ones more expensive.

use mcp_core::{Revision, Side};
use mcp_json::Parsed;
use mcp_rules::{Cut, Framed, Framer, LineReader, Observer, RecordingInfo, Routed, Strictness};

use crate::{
    law,
    messages::{engine, judge, opening, parsed},
};

/// Checks that a conversation scales linearly that repeats these lines, with a new NUMBER each
/// time.
#[track_caller]
fn repeated(what: &str, size: usize, lines: &[(Side, &str)]) {
    let make = |n: usize| -> Vec<(Side, Parsed)> {
        let said = (1..=n).flat_map(|number| {
            lines
                .iter()
                .map(move |(from, line)| (*from, line.replace("NUMBER", &number.to_string())))
        });
        let all = opening(Revision::V2025_11_25).into_iter().chain(said);
        all.map(|(from, text)| (from, parsed(&text))).collect()
    };
    for strictness in [Strictness::Observe, Strictness::Enforce] {
        let engine = engine();
        law(&format!("{what} ({strictness:?})"), size, make, |lines| {
            judge(&engine, strictness, lines);
        });
    }
}

const CLIENT: Side = Side::Client;
const SERVER: Side = Side::Server;

#[test]
fn requests() {
    let ping = (CLIENT, r#"{"jsonrpc":"2.0","id":NUMBER,"method":"ping"}"#);
    let named = (CLIENT, r#"{"jsonrpc":"2.0","id":"a NUMBER","method":"ping"}"#);
    let answer = (SERVER, r#"{"jsonrpc":"2.0","id":NUMBER,"result":{}}"#);
    repeated("pings", 400, &[ping, answer]);
    repeated("open requests", 400, &[ping]);
    repeated("open requests with names", 400, &[named]);
    repeated("answers to nothing", 400, &[answer]);
    repeated("one id", 400, &[(CLIENT, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)]);
    let odd = (CLIENT, r#"{"jsonrpc":"2.0","id":NUMBER7,"method":"ping","result":{}}"#);
    repeated("void messages", 400, &[odd]);
    let scattered = (CLIENT, r#"{"jsonrpc":"2.0","id":NUMBER0,"method":"ping"}"#);
    repeated("scattered ids", 400, &[scattered]);
    let unknown = (CLIENT, r#"{"jsonrpc":"2.0","method":"notifications/nonsense/NUMBER"}"#);
    repeated("unknown notifications", 400, &[unknown]);
    let near = (CLIENT, r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tools/lost"}"#);
    repeated("methods that are nearly right", 400, &[near]);
}

#[test]
fn what_features_remember() {
    let call = (
        CLIENT,
        r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p NUMBER"}}}"#,
    );
    let progress = (
        SERVER,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p NUMBER","progress":1}}"#,
    );
    let strange = (
        SERVER,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"q NUMBER","progress":1}}"#,
    );
    repeated("progress", 400, &[call, progress]);
    repeated("progress of nothing", 400, &[strange]);
    let cancel = (
        CLIENT,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":NUMBER}}"#,
    );
    repeated("cancelled", 400, &[call, cancel]);
    repeated("cancelling nothing", 400, &[cancel]);
    let subscribe = (
        CLIENT,
        r#"{"jsonrpc":"2.0","id":NUMBER,"method":"resources/subscribe","params":{"uri":"file:///NUMBER"}}"#,
    );
    let updated = (
        SERVER,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///NUMBER"}}"#,
    );
    repeated("subscriptions", 400, &[subscribe, updated]);
    let page = (
        CLIENT,
        r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tools/list","params":{"cursor":"c NUMBER"}}"#,
    );
    let next = (
        SERVER,
        r#"{"jsonrpc":"2.0","id":NUMBER,"result":{"tools":[{"name":"t NUMBER","inputSchema":{"type":"object"}}],"nextCursor":"c NUMBER1"}}"#,
    );
    repeated("pages", 400, &[page, next]);
    let task = (
        CLIENT,
        r#"{"jsonrpc":"2.0","id":NUMBER,"method":"tools/call","params":{"name":"t","task":{}}}"#,
    );
    let created = (
        SERVER,
        r#"{"jsonrpc":"2.0","id":NUMBER,"result":{"task":{"taskId":"t NUMBER","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}}}"#,
    );
    repeated("tasks", 400, &[task, created]);
    let question = (
        SERVER,
        r#"{"jsonrpc":"2.0","id":NUMBER,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}"#,
    );
    repeated("questions", 400, &[question]);
    let log = (
        SERVER,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"NUMBER"}}"#,
    );
    repeated("logs", 400, &[log]);
    let again = (
        CLIENT,
        r#"{"jsonrpc":"2.0","id":NUMBER,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    );
    repeated("openings", 400, &[again]);
}

#[test]
fn calls_of_tools_that_are_not_listed() {
    let engine = engine();
    let make = |n: usize| -> Vec<(Side, Parsed)> {
        let tools: Vec<String> = (0..900)
            .map(|i| {
                format!(
                    r#"{{"name":"{}{i:03}","inputSchema":{{"type":"object"}}}}"#,
                    "ab".repeat(50)
                )
            })
            .collect();
        let mut lines = opening(Revision::V2025_11_25);
        lines.push((CLIENT, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned()));
        lines.push((
            SERVER,
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#, tools.join(",")),
        ));
        lines.extend((0..n).map(|i| {
            let name = "ba".repeat(50);
            let id = i + 2;
            let call = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}{i}"}}}}"#
            );
            (CLIENT, call)
        }));
        lines.into_iter().map(|(from, text)| (from, parsed(&text))).collect()
    };
    law("unlisted tools", 300, make, |lines| judge(&engine, Strictness::Observe, lines));
}

fn observe(file: &[u8], info: RecordingInfo) -> usize {
    let engine = engine();
    let mut observer = Observer::new(&engine, info);
    let mut reader = LineReader::new(&engine.settings().limits);
    let mut findings = mcp_rules::Findings::new(engine.settings());
    let mut count = 0;
    let mut judged = Vec::new();
    for (line, number) in file.split(|byte| *byte == b'\n').zip(1..) {
        reader.read(line, |line| {
            if let Routed::Judge(followed) = observer.follow(number, line, &mut judged) {
                line.judge(&engine, &followed, &mut findings);
            }
        });
        count +=
            findings.take().len() + judged.drain(..).map(|it| it.findings.len()).sum::<usize>();
    }
    observer.finish(&mut judged);
    count + judged.len()
}

#[test]
fn files() {
    let mut server = RecordingInfo::default();
    server.from = Some(SERVER);
    for (what, line) in [
        ("braces", "{\n"),
        ("brackets", "[\n"),
        ("elements", "1,\n"),
        ("words", "hello\n"),
        ("cut off", "{\"a\":\n"),
        ("strings", "\"a\n"),
        ("blank", "\n"),
        ("messages", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"),
    ] {
        law(
            what,
            1000,
            |n| format!("[\n{}", line.repeat(n)),
            |file| observe(file.as_bytes(), server),
        );
    }
    let sessions = |n: usize| -> String {
        let line = |i| format!("{{\"from\":\"client\",\"session\":\"{i}\",\"raw\":\"[\"}}\n");
        (0..n).map(line).collect()
    };
    law("sessions", 500, sessions, |file| observe(file.as_bytes(), RecordingInfo::default()));
}

#[test]
fn frames() {
    let frame = |text: &String| {
        let mut framer = Framer::new();
        let mut messages = 0;
        let mut count = |framed| {
            messages +=
                usize::from(matches!(framed, Framed::Message { cut: Cut::SeveralLines, .. }));
        };
        let limits = mcp_json::Limits { max_bytes: usize::MAX, ..Default::default() };
        framer.push(1, text.as_bytes(), limits, &mut count);
        framer.finish(limits, &mut count);
        messages
    };
    law("values on a line", 5000, |n| "{}".repeat(n), frame);
    law("values and a word", 5000, |n| format!("{}x", "{}".repeat(n)), frame);
    law("a long line", 100_000, |n| "x".repeat(n), frame);
    law("one message", 5000, |n| format!("[\n{}1]", "1,\n".repeat(n)), frame);
    law("in vain", 5000, |n| "{\n".repeat(n), frame);
}
