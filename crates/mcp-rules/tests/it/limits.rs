//! Every limit on what is remembered or reported holds, and what is forgotten is not held against
//! anybody.

use mcp_json::{Limits, Tape};
use mcp_rules::{Engine, Findings, Observer, Origin, Routed, Settings};
use mcp_schema::Schemas;

use crate::observe::observe;

fn lines(file: &str, settings: Settings) -> Vec<u64> {
    let found = observe(file.as_bytes(), settings, Origin::default());
    found.iter().filter_map(|finding| finding.line).collect()
}

/// Three lists are asked for, then each is answered wrongly.
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

#[test]
fn findings_beyond_the_limit_of_a_message_are_counted() {
    let line =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,"arguments":8}}"#;
    let mut settings = Settings::default();
    settings.limits.findings = 1;
    let engine = Engine::new(Schemas::embedded(), settings);
    let mut observer = Observer::new(&engine, Origin::default());
    let mut tape = Tape::new();
    let document = tape.parse(line, Limits::default()).unwrap();
    let Routed::Judge(followed) = observer.follow(1, line, Ok(document.root()), &mut Vec::new())
    else {
        panic!("a message");
    };
    let mut findings = Findings::new(engine.settings());
    Observer::judge(&engine, document.root(), &followed, &mut findings);
    assert_eq!((findings.as_slice().len(), findings.take_dropped()), (1, 1));
    assert_eq!(findings.take_dropped(), 0);
}

/// Two of everything that can be asked for again, and each is then spoken of.
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
