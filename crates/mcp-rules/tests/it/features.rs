//! Which rule reports a fault, and how often.

use mcp_rules::{Finding, Profile, RecordingInfo, Settings, Severity};

use crate::observe::observe;

const MODERN_META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
const HANDSHAKE: &str = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"s","version":"1"}}}}
{"from":"client","msg":{"jsonrpc":"2.0","method":"notifications/initialized"}}
"#;

fn findings(trace: &str, profile: Profile) -> Vec<Finding> {
    let mut settings = Settings::default();
    settings.profile = profile;
    observe(trace.as_bytes(), settings, RecordingInfo::default())
}

/// Asserts the rules found in `trace`, with the text each points at.
#[track_caller]
fn check(trace: &str, profile: Profile, expected: &[(&str, &str)]) {
    let found: Vec<(String, String)> = findings(trace, profile)
        .iter()
        .map(|finding| {
            let line = finding.line.expect("findings of a file have a line");
            let text = trace.lines().nth(usize::try_from(line).expect("short") - 1);
            // Spans are relative to the message, which is the last member of its line here.
            let message = text
                .and_then(|text| text.split_once("\"msg\":"))
                .map(|(_, message)| message)
                .unwrap_or_default();
            let span = finding.span.expect("a place");
            let guilty = message.get(span.start..span.end).unwrap_or_default();
            (finding.rule.name.to_owned(), guilty.to_owned())
        })
        .collect();
    let expected: Vec<(String, String)> =
        expected.iter().map(|(rule, text)| ((*rule).to_owned(), (*text).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_layer_that_is_left_out_does_not_swallow_the_general_finding() {
    let trace = format!(
        "{HANDSHAKE}{}\n{}\n{}",
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"now","inputSchema":null}]}}}"#,
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1.5}}}}"#,
    );
    let specific = [("tool-input-schema-not-object", "null"), ("progress-token-type", "1.5")];
    check(&trace, Profile::Spec, &specific);
    let general = [("result-invalid", "null"), ("params-invalid", "1.5")];
    check(&trace, Profile::Schema, &general);
}

#[test]
fn several_violations_of_one_thing_are_one_finding() {
    let trace = format!(
        "{HANDSHAKE}{}\n{}",
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"x":1,"y":2}}},{"name":"b"}]}}}"#,
    );
    let expected =
        [("tool-input-schema-invalid", "1"), ("tool-input-schema-not-object", r#"{"name":"b"}"#)];
    check(&trace, Profile::Spec, &expected);

    let request = format!(
        r#"{{"from":"client","msg":{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{MODERN_META}}}}}}}"#
    );
    let trace = format!(
        "{request}\n{}",
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{}}}}"#,
    );
    check(&trace, Profile::Spec, &[("request-meta-missing", "{}")]);
}

#[test]
fn a_server_without_a_name_is_told_once() {
    let exchange = |id: u32| {
        format!(
            r#"{{"from":"client","msg":{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"x",{MODERN_META}}}}}}}
{{"from":"server","msg":{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[]}}}}}}
"#
        )
    };
    let trace: String = (1..4).map(exchange).collect();
    let result = r#"{"resultType":"complete","content":[]}"#;
    check(&trace, Profile::Spec, &[("server-info-missing", result)]);
}

#[test]
fn entries_of_input_requests_are_judged_by_their_method() {
    let meta = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}"#;
    let requests = [
        r#""a/b":{"method":"elicitation/create","params":{"mode":"url","url":"https://x@example.com/","message":"m"}}"#,
        r#""roots":{"method":"roots/list"}"#,
        r#""form":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"o":{"type":"object"},"p":{"type":"string"}}}}}"#,
        r#""none":{"method":"ping"}"#,
        r#""bare":{"method":"sampling/createMessage"}"#,
        r#""t/k":{"method":"elicitation/create","params":{"mode":"url","url":7,"message":"m"}}"#,
    ];
    let asked = MODERN_META.replace(
        r#"clientCapabilities":{}"#,
        r#"clientCapabilities":{"elicitation":{"url":{}},"roots":{}}"#,
    );
    let message = |requests: &[&str]| {
        format!(
            r#"{{"from":"client","msg":{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x",{asked}}}}}}}
{{"from":"server","msg":{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"input_required","inputRequests":{{{}}},{meta}}}}}}}
"#,
            requests.join(",")
        )
    };
    let expected = [("elicitation-url-userinfo", r#""https://x@example.com/""#)];
    check(&message(&requests[..2]), Profile::Spec, &expected);
    let expected = [
        ("elicitation-schema-unsupported", r#""object""#),
        ("input-request-invalid", r#""ping""#),
        ("input-request-invalid", r#"{"method":"sampling/createMessage"}"#),
        ("input-request-invalid", "7"),
    ];
    check(&message(&requests), Profile::Spec, &expected);

    let found = findings(&message(&requests), Profile::Spec);
    let place = found[3].schema.as_ref().map(|schema| schema.instance_path.as_str());
    assert_eq!(place, Some("/result/inputRequests/t~1k/params/url"));
}

#[test]
fn tokens_and_ids_beyond_doubles_are_found_wherever_they_stand() {
    let huge = "9007199254740993";
    let trace = format!(
        r#"{HANDSHAKE}{{"from":"client","msg":{{"jsonrpc":"2.0","id":{huge},"method":"tools/call","params":{{"name":"x","_meta":{{"progressToken":{huge}}}}}}}}}
{{"from":"server","msg":{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{huge},"progress":1}}}}}}
{{"from":"client","msg":{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{huge}}}}}}}
"#
    );
    check(&trace, Profile::Spec, &[("id-unsafe-integer", huge); 4]);
}

#[test]
fn only_prompts_are_strict_about_mime_types() {
    let trace = format!(
        "{HANDSHAKE}{}\n{}\n{}\n{}",
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"image","data":"","mimeType":"png"}]}}}"#,
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"x"}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":3,"result":{"messages":[{"role":"user","content":{"type":"image","data":"","mimeType":"png"}}]}}}"#,
    );
    let severities: Vec<Severity> = findings(&trace, Profile::Spec)
        .iter()
        .filter(|finding| finding.rule.name == "content-mime-type-invalid")
        .map(|finding| finding.severity)
        .collect();
    assert_eq!(severities, [Severity::Warning, Severity::Error]);
}

#[test]
fn the_house_profile_wants_providers() {
    let trace = format!(
        "{HANDSHAKE}{}\n{}",
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///a"}}}"#,
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"resource://notes/a"}}}"#,
    );
    check(&trace, Profile::Spec, &[]);
    let found = findings(&trace, Profile::BaseStack);
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding.rule.name, "resource-uri-provider");
    assert_eq!(finding.severity, Severity::Error);
}

#[test]
fn faults_point_at_the_byte_where_that_is_known() {
    let trace = format!(
        "{HANDSHAKE}{}\n{}\n{}\n{}",
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///a b"}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}}"#,
        r#"{"from":"client","msg":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x"}}}"#,
        r#"{"from":"server","msg":{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"image","data":"UklGR*==","mimeType":"image/png"},{"type":"image","data":"aG\/\n*A==","mimeType":"image/png"}]}}}"#,
    );
    let expected = [
        ("resource-uri-invalid", " "),
        ("content-base64-invalid", "*"),
        ("content-base64-invalid", r#""aG\/\n*A==""#),
    ];
    check(&trace, Profile::Spec, &expected);
}
