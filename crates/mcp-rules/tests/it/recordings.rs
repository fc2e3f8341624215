//! What a recording shows besides its messages: senders, places and counts.

use mcp_core::Side;
use mcp_rules::{Finding, RecordingInfo, Settings};

use crate::observe::{counts, observe};

const CLIENT: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
const SERVER: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;

/// A handshake as bare messages.
fn handshake() -> [String; 3] {
    [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{CLIENT}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{SERVER}}}"#),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
    ]
}

/// The handshake as records, then `lines`.
fn recording(lines: &[&str]) -> String {
    let [ask, answer, done] = handshake();
    let mut file = format!(
        "{{\"from\":\"client\",\"msg\":{ask}}}\n{{\"from\":\"server\",\"msg\":{answer}}}\n{{\"from\":\"client\",\"msg\":{done}}}\n"
    );
    for line in lines {
        file.push_str(line);
        file.push('\n');
    }
    file
}

fn findings(file: &str) -> Vec<Finding> {
    observe(file.as_bytes(), Settings::default(), RecordingInfo::default())
}

#[test]
fn bare_messages_tell_who_speaks() {
    let mut lines = handshake().to_vec();
    lines.push(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#.to_owned());
    let found = findings(&lines.join("\n"));
    let rules: Vec<_> = found.iter().map(|finding| (finding.rule.name, finding.from)).collect();
    assert_eq!(rules, [("capability-roots-undeclared", Some(Side::Server))]);
}

#[test]
fn unreadable_text_is_held_against_its_sender() {
    let found = findings(&recording(&[r#"{"from":"server","raw":"ready"}"#]));
    let told: Vec<_> = found.iter().map(|finding| (finding.rule.name, finding.from)).collect();
    assert_eq!(told, [("stdout-non-json", Some(Side::Server))]);
    assert_eq!(found[0].revision.map(mcp_core::Revision::as_str), Some("2025-11-25"));
}

#[test]
fn findings_point_at_the_other_line_however_it_was_carried() {
    let ask = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}"#;
    let result = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#;
    let as_message = format!(r#"{{"from":"server","msg":{result}}}"#);
    let as_text = format!(r#"{{"from":"server","raw":{result:?}}}"#);
    for answer in [as_message, as_text] {
        let found = findings(&recording(&[ask, &answer, &answer]));
        let told: Vec<_> = found
            .iter()
            .map(|finding| (finding.rule.name, finding.related.as_ref().map(|other| other.line)))
            .collect();
        assert_eq!(told, [("response-duplicate", Some(5))], "{answer}");
    }
    let mut bare = handshake().to_vec();
    bare.push(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned());
    let found = findings(&bare.join("\n"));
    let other = found[0].related.as_ref().map(|other| other.line);
    assert_eq!((found[0].rule.name, other), ("request-id-reused", Some(1)));
}

#[test]
fn messages_and_strays_are_counted() {
    let file = recording(&[
        r#"{"from":"client","raw":"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":9,"result":{}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":8,"error":{"code":-32603,"message":"x"}}}"#,
        r#"{"from":"client","http":{"exchange":1,"method":"POST","url":"/mcp","headers":{}},"msg":{"jsonrpc":"2.0","id":3,"method":"ping"}}"#,
        r#"{"from":"server","http":{"exchange":1,"status":200,"headers":{}},"raw":"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}"}"#,
    ]);
    assert_eq!(counts(file.as_bytes()), (9, 0), "id 9 is reported, not merely counted");
    let late = r#"{"from":"server","msg":{"jsonrpc":"2.0","id":9,"result":{}}}"#;
    assert_eq!(counts(late.as_bytes()), (1, 1));
}

#[test]
fn a_recording_from_the_start_has_nothing_before_its_handshake() {
    let mut info = RecordingInfo::default();
    info.from_start = true;
    for message in [
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
    ] {
        let line = format!(r#"{{"from":"client","msg":{message}}}"#);
        let rules = |info| -> Vec<&str> {
            let found = observe(line.as_bytes(), Settings::default(), info);
            found.iter().map(|finding| finding.rule.name).collect()
        };
        assert_eq!(rules(info), ["initialize-not-first"], "{message}");
        assert!(rules(RecordingInfo::default()).is_empty(), "{message}");
    }
}

fn rules(file: &str, settings: Settings, info: RecordingInfo) -> Vec<(Option<u64>, &'static str)> {
    let found = observe(file.as_bytes(), settings, info);
    found.iter().map(|finding| (finding.line, finding.rule.name)).collect()
}

fn written_by(side: Side) -> RecordingInfo {
    let mut info = RecordingInfo::default();
    info.from = Some(side);
    info
}

#[test]
fn lines_of_a_trace_are_records_or_messages() {
    let file = recording(&[
        r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
        r#"{"level":"info"}"#,
        "",
        r#"{"from":"#,
        "7",
    ]);
    assert_eq!(
        rules(&file, Settings::default(), RecordingInfo::default()),
        [
            (Some(5), "trace-line-invalid"),
            (Some(7), "trace-line-invalid"),
            (Some(8), "message-not-object"),
        ]
    );
    let plain = rules(r#"{"level":"info"}"#, Settings::default(), RecordingInfo::default());
    assert_eq!(plain, [(Some(1), "message-unclassifiable")]);
}

#[test]
fn a_plain_file_is_a_stream_if_somebody_says_whose() {
    let file = "\n{\"jsonrpc\":\"2.0\",\"method\":\n\"notifications/message\"\n,\"params\":{\"level\":\"info\",\"data\":1}}\nhello\n\n";
    let found = rules(file, Settings::default(), written_by(Side::Server));
    let expected = [
        (Some(1), "stdio-blank-line"),
        (Some(2), "stdio-embedded-newline"),
        (Some(5), "stdout-non-json"),
        (Some(6), "stdio-blank-line"),
    ];
    assert_eq!(found, expected);
    let blank = &observe(b"\n", Settings::default(), written_by(Side::Server))[0];
    assert_eq!((blank.from, blank.line), (Some(Side::Server), Some(1)));
    assert!(rules("\n", Settings::default(), RecordingInfo::default()).is_empty());
}

#[test]
fn only_stdio_cares_for_line_breaks() {
    let message = r#""{\n\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}""#;
    let lines = [
        format!(r#"{{"from":"server","raw":{message}}}"#),
        format!(r#"{{"from":"server","transport":"ws","raw":{message}}}"#),
        format!(r#"{{"from":"server","http":{{"status":200}},"raw":{message}}}"#),
    ];
    let told = lines.map(|line| rules(&line, Settings::default(), RecordingInfo::default()).len());
    assert_eq!(told, [1, 0, 0]);
}

#[test]
fn bare_messages_are_counted() {
    assert_eq!(counts(handshake().join("\n").as_bytes()), (3, 0));
}
