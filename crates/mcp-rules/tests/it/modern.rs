//! Conversations without a handshake, where odd or endless input must not mislead.

use std::fmt::Write as _;

use mcp_rules::{RecordingInfo, Settings};

use crate::observe::observe;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}"#;
const SERVER: &str = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}"#;

fn rules(trace: &str) -> Vec<&'static str> {
    rules_within(trace, Settings::default())
}

fn rules_within(trace: &str, settings: Settings) -> Vec<&'static str> {
    observe(trace.as_bytes(), settings, RecordingInfo::default())
        .iter()
        .map(|finding| finding.rule.name)
        .collect()
}

/// A call, and a result that asks for `questions`.
fn round(trace: &mut String, id: usize, state: &str, questions: &str) {
    let _ = writeln!(
        trace,
        r#"{{"from":"client","msg":{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"x",{META}}}}}}}
{{"from":"server","msg":{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","inputRequests":{{{questions}}},"requestState":"{state}",{SERVER}}}}}}}"#
    );
}

/// A retry with the answer to `q`.
fn retry(trace: &mut String, id: usize, state: &str) {
    let _ = writeln!(
        trace,
        r#"{{"from":"client","msg":{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"x","requestState":"{state}","inputResponses":{{"q":{{"roots":[]}}}},{META}}}}}}}"#
    );
}

#[test]
fn states_that_may_be_forgotten_accuse_nobody() {
    const QUESTION: &str = r#""q":{"method":"roots/list"}"#;
    for (rounds, expected) in [(5, vec!["mrtr-request-state-mismatch"]), (20, vec![])] {
        let mut trace = String::new();
        for id in 1..=rounds {
            round(&mut trace, id, &format!("s{id}"), QUESTION);
        }
        retry(&mut trace, rounds + 1, "another");
        let mut settings = Settings::default();
        settings.limits.remembered = 10;
        assert_eq!(rules_within(&trace, settings), expected, "{rounds} rounds");
    }
}

#[test]
fn more_questions_than_are_remembered_are_not_missed() {
    let questions: Vec<String> =
        (0..100).map(|number| format!(r#""q{number}":{{"method":"roots/list"}}"#)).collect();
    let mut trace = String::new();
    round(&mut trace, 1, "s", &questions.join(","));
    retry(&mut trace, 2, "s");
    assert_eq!(rules(&trace), Vec::<&str>::new());
}

#[test]
fn a_state_that_the_server_repeats_may_be_meant_for_any_of_its_questions() {
    let mut trace = String::new();
    round(&mut trace, 1, "s", r#""q":{"method":"roots/list"}"#);
    round(&mut trace, 2, "s", r#""p":{"method":"roots/list"}"#);
    retry(&mut trace, 3, "s");
    assert_eq!(rules(&trace), Vec::<&str>::new());

    let mut trace = String::new();
    round(&mut trace, 1, "s", r#""q":{"method":"roots/list"}"#);
    round(&mut trace, 2, "t", r#""p":{"method":"roots/list"}"#);
    retry(&mut trace, 3, "t");
    assert_eq!(rules(&trace), ["mrtr-input-response-missing"]);
}

/// Members of every wrong type, where the conversation rules look.
#[test]
fn odd_members_are_somebody_elses_business() {
    let values = ["null", "7", "\"\"", "[]", "[1]", "{}", r#"{"a":1}"#];
    let shapes = [
        r#"{"from":"server","msg":{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":VALUE}}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":VALUE,"notifications":VALUE}}}"#,
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{META,"notifications":VALUE}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":"l","result":{"resultType":"complete","_meta":VALUE}}}"#,
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x",META,"requestState":VALUE,"inputResponses":VALUE}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":VALUE,"requestState":VALUE}}}"#,
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":VALUE,"_meta":VALUE}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":3,"error":{"code":-32022,"message":"no","data":VALUE}}}"#,
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{META}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":4,"result":{"resultType":"complete","supportedVersions":VALUE,"capabilities":VALUE,"_meta":VALUE}}}"#,
        r#"{"from":"client","msg":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":VALUE}}}"#,
    ];
    // An entry that matches no kind of answer is reported without a conversation.
    let ours = |rule: &&str| {
        (rule.starts_with("mrtr-") || rule.starts_with("discover-"))
            && *rule != "mrtr-input-response-type"
    };
    for value in values {
        let mut trace = String::new();
        round(&mut trace, 1, "s", r#""q":{"method":"roots/list"}"#);
        for shape in shapes {
            trace.push_str(&shape.replace("META", META).replace("VALUE", value));
            trace.push('\n');
        }
        let found = rules(&trace);
        assert!(!found.is_empty(), "{value} passes everywhere");
        let misled: Vec<_> = found.into_iter().filter(ours).collect();
        assert_eq!(misled, Vec::<&str>::new(), "{value}");
    }
}
