//! Every limit on state and findings holds, and forgotten state causes no false findings.

use mcp_rules::{Engine, Findings, LineReader, Observer, RecordingInfo, Routed, Settings};
use mcp_schema::Schemas;

use crate::observe::observe;

fn lines(file: &str, settings: Settings) -> Vec<u64> {
    let found = observe(file.as_bytes(), settings, RecordingInfo::default());
    found.iter().filter_map(|finding| finding.line).collect()
}

/// Three list requests, each then answered wrongly.
const THREE: &str = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}
{"from":"client","msg":{"jsonrpc":"2.0","id":3,"method":"tools/list"}}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":3,"result":{}}}
"#;

#[test]
fn the_oldest_open_request_is_forgotten_first() {
    let mut settings = Settings::default();
    assert_eq!(lines(THREE, settings.clone()), [4, 5, 6]);
    settings.limits.pending = 2;
    assert_eq!(lines(THREE, settings), [5, 6], "the answer to a forgotten request passes");
}

#[test]
fn the_oldest_conversation_is_forgotten_first() {
    let file = r#"{"from":"client","session":"a","msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
{"from":"client","session":"b","msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
{"from":"server","session":"b","msg":{"jsonrpc":"2.0","id":1,"result":{}}}
{"from":"server","session":"a","msg":{"jsonrpc":"2.0","id":1,"result":{}}}
"#;
    let mut settings = Settings::default();
    assert_eq!(lines(file, settings.clone()), [3, 4]);
    settings.limits.sessions = 1;
    assert_eq!(lines(file, settings), [3]);
}

/// A session over HTTP with one request that is never answered, and a later one that is. It ends
/// with a DELETE if `is_deleted`.
fn session_over_http(name: &str, is_deleted: bool) -> String {
    let headers = format!(
        r#""headers":{{"Mcp-Session-Id":"{name}","MCP-Protocol-Version":"2025-06-18","Accept":"application/json, text/event-stream","Content-Type":"application/json"}}"#
    );
    let line = |from: &str, part: &str, rest: &str| {
        let start = format!(r#"{{"session":"{name}","from":"{from}""#);
        format!("{start},\"http\":{{{part},{headers}}}{rest}}}\n")
    };
    let post = |exchange: usize, message: &str| {
        let part = format!(r#""exchange":{exchange},"method":"POST","url":"/mcp""#);
        line("client", &part, &format!(r#","msg":{message}"#))
    };
    let answer = |exchange: usize, rest: &str| {
        line("server", &format!(r#""exchange":{exchange},"status":200"#), rest)
    };
    let mut file = post(
        1,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    );
    file += &answer(
        1,
        r#","msg":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    );
    file += &post(2, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    file += &line("server", r#""exchange":2,"status":202"#, "");
    file += &post(3, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    file += &line("server", r#""exchange":3,"status":200"#, "");
    file += &post(4, r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
    file += &answer(4, r#","msg":{"jsonrpc":"2.0","id":3,"result":{}}"#);
    if is_deleted {
        file += &line("client", r#""exchange":5,"method":"DELETE","url":"/mcp""#, "");
        file += &answer(5, "");
    }
    file
}

/// The next request of the session, whose id was used before.
fn request_with_used_id(name: &str) -> String {
    let post = r#""exchange":9,"method":"POST","url":"/mcp""#;
    let headers = format!(
        r#""headers":{{"Mcp-Session-Id":"{name}","MCP-Protocol-Version":"2025-06-18","Accept":"application/json, text/event-stream","Content-Type":"application/json"}}"#
    );
    let message = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#;
    let start = format!(r#"{{"session":"{name}","from":"client""#);
    format!("{start},\"http\":{{{post},{headers}}},\"msg\":{message}}}\n")
}

/// Lines and rules of the findings if the conversations of a file may take this many bytes.
fn within(session_bytes: usize, file: &str) -> Vec<(u64, &'static str)> {
    let mut settings = Settings::default();
    settings.limits.session_bytes = session_bytes;
    let mut info = RecordingInfo::default();
    info.from_start = true;
    let found = observe(file.as_bytes(), settings, info);
    let mut found: Vec<_> =
        found.iter().map(|finding| (finding.line.unwrap_or(0), finding.rule.name)).collect();
    found.sort_unstable();
    found
}

#[test]
fn conversations_that_are_over_give_way_first() {
    let over = |number| session_over_http(&format!("over-{number}"), true);
    let mut file = session_over_http("alive", false);
    file.extend((0..40).map(over));
    file += &request_with_used_id("alive");
    let unbounded = within(usize::MAX, &file);
    assert!(unbounded.contains(&(409, "request-id-reused")), "{unbounded:?}");
    assert!(unbounded.iter().filter(|found| found.1 == "request-unanswered").count() >= 40);
    assert_eq!(within(100_000, &file), unbounded, "what only the end shows is reported too");
}

#[test]
fn nothing_is_held_against_a_conversation_that_was_forgotten() {
    let mut file: String =
        (0..40).map(|number| session_over_http(&format!("alive-{number}"), false)).collect();
    file += &request_with_used_id("alive-0");
    let late = |found: Vec<(u64, &'static str)>| -> Vec<&'static str> {
        let last = found.into_iter().filter(|(line, _)| *line == 321);
        last.map(|(_, rule)| rule).collect()
    };
    assert_eq!(late(within(usize::MAX, &file)), ["request-id-reused"]);
    assert_eq!(late(within(20_000, &file)), [""; 0]);
}

#[test]
fn findings_beyond_the_limit_of_a_message_are_counted() {
    let line =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,"arguments":8}}"#;
    let mut settings = Settings::default();
    settings.limits.findings = 1;
    let engine = Engine::new(Schemas::embedded(), settings);
    let mut observer = Observer::new(&engine, RecordingInfo::default());
    let mut findings = Findings::new(engine.settings());
    LineReader::new(&engine.settings().limits).read(line, |line| {
        let Routed::Judge(followed) = observer.follow(1, line, &mut Vec::new()) else {
            panic!("a message");
        };
        line.judge(&engine, &followed, &mut findings);
    });
    assert_eq!((findings.as_slice().len(), findings.take_dropped()), (1, 1));
    assert_eq!(findings.take_dropped(), 0);
}

#[test]
fn findings_of_texts_beyond_the_limit_are_counted() {
    // One text that is split in two, and judged while being read.
    let text =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,"arguments":8}}{}"#;
    let line = format!(r#"{{"from":"client","raw":{text:?}}}"#);
    let mut settings = Settings::default();
    settings.limits.findings = 1;
    let engine = Engine::new(Schemas::embedded(), settings);
    let mut observer = Observer::new(&engine, RecordingInfo::default());
    let mut reader = LineReader::new(&engine.settings().limits);
    for number in 1..=3 {
        reader.read(line.as_bytes(), |line| observer.follow(number, line, &mut Vec::new()));
    }
    assert_eq!(observer.dropped(), 9, "of four errors of a line one is kept");
}

#[test]
fn messages_beyond_the_limit_are_passed_over() {
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    let lines = [
        message.to_owned(),
        format!(r#"{{"from":"client","msg":{message}}}"#),
        format!(
            r#"{{"from":"client","http":{{"exchange":1,"method":"POST","url":"/mcp"}},"msg":{message}}}"#
        ),
    ];
    for line in lines {
        let rules = |limit| -> Vec<&str> {
            let mut settings = Settings::default();
            settings.limits.message_bytes = limit;
            let found = observe(line.as_bytes(), settings, RecordingInfo::default());
            found.iter().map(|finding| finding.rule.name).collect()
        };
        assert_eq!(rules(message.len()), ["params-invalid"], "{line}");
        assert_eq!(rules(message.len() - 1), ["message-size-limit"], "{line}");
        assert_eq!(rules(1), ["message-size-limit"], "{line}");
    }
}

#[test]
fn texts_beyond_a_limit_are_not_parsed() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#;
    for carrier in ["", r#","http":{"exchange":1,"method":"POST","url":"/mcp"}"#] {
        let line = format!(r#"{{"from":"client"{carrier},"raw":{text:?}}}"#);
        let rules = |bytes, depth| -> Vec<&str> {
            let mut settings = Settings::default();
            settings.limits.message_bytes = bytes;
            settings.limits.depth = depth;
            let found = observe(line.as_bytes(), settings, RecordingInfo::default());
            found.iter().map(|finding| finding.rule.name).collect()
        };
        assert_eq!(rules(text.len(), 2), ["params-invalid"], "{line}");
        assert_eq!(rules(text.len() - 1, 2), ["message-size-limit"], "{line}");
        assert_eq!(rules(text.len(), 1), ["json-depth-limit"], "{line}");
    }
}

#[test]
fn files_have_faults_of_their_own() {
    let engine = Engine::new(Schemas::embedded(), Settings::default());
    let rules = |info: RecordingInfo, is_trace: bool| -> Vec<&str> {
        let mut observer = Observer::new(&engine, info);
        let mut judged = Vec::new();
        if is_trace {
            let record = br#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#;
            LineReader::new(&engine.settings().limits)
                .read(record, |line| observer.follow(1, line, &mut judged));
        }
        observer.follow_byte_order_mark(2, b"", &mut judged);
        observer.follow_too_long(3, 7, &mut judged);
        observer.follow_unterminated(4, b"", &mut judged);
        judged.iter().flat_map(|judged| &judged.findings).map(|found| found.rule.name).collect()
    };
    let mut written = RecordingInfo::default();
    written.from = Some(mcp_core::Side::Server);
    assert_eq!(rules(written, true), ["message-size-limit"]);
    assert_eq!(rules(RecordingInfo::default(), true), ["message-size-limit"]);
    assert_eq!(rules(RecordingInfo::default(), false), ["byte-order-mark", "message-size-limit"]);
    assert_eq!(
        rules(written, false),
        ["byte-order-mark", "message-size-limit", "stdio-unterminated-line"]
    );
}

/// Two of everything that can be referred to again, each then referred to.
const TWO: &str = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"s","version":"1"}}}}
{"from":"client","msg":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","task":{},"_meta":{"progressToken":"a"}}}}
{"from":"client","msg":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","task":{},"_meta":{"progressToken":"b"}}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{"task":{"taskId":"ta","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":3,"result":{"task":{"taskId":"tb","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}}}}
{"from":"server","msg":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1}}}
{"from":"server","msg":{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"ta","status":"completed","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}}}
{"from":"server","msg":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"c","progress":1}}}
{"from":"server","msg":{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"tc","status":"completed","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}}}
"#;

#[test]
fn forgotten_tokens_and_tasks_accuse_nobody() {
    let mut settings = Settings::default();
    assert_eq!(lines(TWO, settings.clone()), [10, 11], "nobody ever heard of `c`");
    settings.limits.remembered = 1;
    assert_eq!(lines(TWO, settings), [] as [u64; 0]);
}

#[test]
fn a_batch_may_be_as_long_as_the_limit() {
    let entry = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let batch = |length| {
        format!("{{\"from\":\"client\",\"msg\":[{}]}}\n", [entry].repeat(length).join(","))
    };
    let mut settings = Settings::default();
    settings.limits.batch = 3;
    assert_eq!(lines(&[2, 3, 4].map(batch).concat(), settings), [3]);
}

/// A request without a session, `count` sessions, and then a fault in each.
fn many_sessions(count: usize) -> String {
    let headers = r#""headers":{"Accept":"application/json, text/event-stream","Content-Type":"application/json""#;
    let post = |number: usize, more: &str, message: &str| {
        format!(
            r#"{{"from":"client","http":{{"exchange":{number},"method":"POST","url":"/mcp",{headers}{more}}}}},"msg":{message}}}
"#
        )
    };
    let answer = |number: usize, more: &str, message: &str| {
        format!(
            r#"{{"from":"server","http":{{"exchange":{number},"status":200,"headers":{{"Content-Type":"application/json"{more}}}}},"msg":{message}}}
"#
        )
    };
    let modern = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let version = r#","MCP-Protocol-Version":"2026-07-28","Mcp-Method":"tools/list""#;
    let mut file = post(1, version, modern);
    let name = |session: usize| format!(r#","Mcp-Session-Id":"session-{session}""#);
    let named = |session| format!(r#"{},"MCP-Protocol-Version":"2025-06-18""#, name(session));
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    for session in 0..count {
        let number = 10 + 3 * session;
        file += &post(
            number,
            "",
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        );
        file += &answer(
            number,
            &name(session),
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
        );
        file += &post(number + 1, &named(session), list);
    }
    for session in 0..count {
        file += &answer(11 + 3 * session, "", r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        file += &post(12 + 3 * session, &named(session), list);
    }
    file + &answer(1, "", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
}

#[test]
fn sessions_beyond_the_limit_are_forgotten_and_those_without_are_not() {
    let rules = |count| {
        let found =
            observe(many_sessions(count).as_bytes(), Settings::default(), RecordingInfo::default());
        let of = |name| found.iter().filter(|finding| finding.rule.name == name).count();
        ["result-invalid", "request-id-reused", "result-type-missing", "response-unknown-id"]
            .map(of)
    };
    assert_eq!(rules(3), [3, 3, 1, 0]);
    assert_eq!(rules(80), [63, 63, 1, 0]);
}

#[test]
fn long_progress_tokens_are_told_apart() {
    let long = "x".repeat(1000);
    let digits = "1".repeat(1000);
    for (token, other) in [
        (format!("\"{long}\""), format!("\"{long}y\"")),
        (digits.clone(), format!("{digits}2")),
        ("\"short\"".to_owned(), format!("\"{long}\"")),
    ] {
        let line = |from: &str, message: String| {
            format!("{{\"from\":\"{from}\",\"msg\":{{\"jsonrpc\":\"2.0\",{message}}}}}\n")
        };
        let report = |token: &str, progress: u32| {
            let params = format!("{{\"progressToken\":{token},\"progress\":{progress}}}");
            line("server", format!("\"method\":\"notifications/progress\",\"params\":{params}"))
        };
        let call = format!(
            "\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"x\",\"_meta\":{{\"progressToken\":{token}}}}}"
        );
        let file = [line("client", call), report(&token, 1), report(&token, 1), report(&other, 1)];
        let mut info = RecordingInfo::default();
        info.from_start = true;
        let found = observe(file.concat().as_bytes(), Settings::default(), info);
        let about_progress = found.iter().filter(|found| found.rule.name.starts_with("progress"));
        let found: Vec<_> =
            about_progress.map(|found| (found.line.unwrap(), found.rule.name)).collect();
        let expected = [(3, "progress-not-increasing"), (4, "progress-token-unknown")];
        assert_eq!(found, expected);
    }
}

#[test]
fn unfinished_messages_of_all_conversations_have_room_together() {
    let line = |session: usize, text: &str| {
        format!("{{\"from\":\"server\",\"session\":\"{session}\",\"raw\":\"{text}\"}}\n")
    };
    // Each session begins a message of 900 bytes, and ends it later.
    let beginning = format!(
        "{{\\\"jsonrpc\\\":\\\"2.0\\\",{}\\\"method\\\":",
        " ".repeat(900 - r#"{"jsonrpc":"2.0","method":"#.len())
    );
    let file = |sessions: usize| -> String {
        let begun = (0..sessions).map(|session| line(session, &beginning));
        let ended = (0..sessions).map(|session| line(session, "\\\"notifications/message\\\"}"));
        begun.chain(ended).collect()
    };
    let settings = || {
        let mut settings = Settings::default();
        settings.limits.message_bytes = 1000;
        settings
    };
    let broken = |sessions: usize| {
        let found = observe(file(sessions).as_bytes(), settings(), RecordingInfo::default());
        let lines = found.iter().filter(|finding| finding.rule.name == "stdout-non-json");
        lines.filter_map(|finding| finding.line).collect::<Vec<_>>()
    };
    // Four messages of 1,000 bytes have room, and 16 bytes for each line.
    assert_eq!(broken(4), [0; 0]);
    // The last one gives up, and its two halves are no messages.
    assert_eq!(broken(5), [5, 10]);
}
