//! What each profile requires and what it accepts.

use mcp_core::Revision;
use mcp_rules::{Layer, Level, Profile, RecordingInfo, Settings, Severity};

use crate::observe::observe;

const HANDSHAKE: &str = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}
{"from":"server","msg":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}
{"from":"client","msg":{"jsonrpc":"2.0","method":"notifications/initialized"}}
"#;

/// The rules found in `file` when judged by `revision`.
fn rules_in(file: &str, profile: Profile, revision: Option<Revision>) -> Vec<&'static str> {
    let mut settings = Settings::default();
    settings.profile = profile;
    let mut info = RecordingInfo::default();
    info.revision = revision;
    let findings = observe(file.as_bytes(), settings, info);
    findings.iter().map(|finding| finding.rule.name).collect()
}

/// Checks one message alone, under 2025-11-25.
#[track_caller]
fn check(message: &str, profile: Profile, expected: &[&str]) {
    let found = rules_in(message, profile, Some(Revision::V2025_11_25));
    assert_eq!(found, expected, "{profile}: {message}");
}

/// Checks lines of a trace after a handshake of 2025-11-25.
#[track_caller]
fn check_trace(lines: &str, profile: Profile, expected: &[&str]) {
    let found = rules_in(&format!("{HANDSHAKE}{lines}"), profile, None);
    assert_eq!(found, expected, "{profile}: {lines}");
}

#[test]
fn jsonrpc_wants_what_json_rpc_wants_and_nothing_more() {
    for (message, spec) in [
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "request-id-null"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "request-id-type"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"sum","params":[1,2]}"#, "params-not-object"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, "params-invalid"),
        (r#"{"jsonrpc":"2.0","method":"tools/call"}"#, "request-missing-id"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tool/call"}"#, "method-unknown"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"notifications/x"}"#, "notification-with-id"),
        (r#"{"jsonrpc":"2.0","id":1,"result":[7]}"#, "result-not-object"),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#, "error-id-null"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"sum"}]"#, "batch-not-supported"),
    ] {
        check(message, Profile::JsonRpc, &[]);
        check(message, Profile::Spec, &[spec]);
    }
}

#[test]
fn jsonrpc_still_refuses_what_json_rpc_refuses() {
    for (message, expected) in [
        (r#"{"id":1,"method":"sum"}"#, "jsonrpc-version-invalid"),
        (r#"{"jsonrpc":"2.0","id":[],"method":"sum"}"#, "request-id-type"),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "method-not-string"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"sum","params":7}"#, "params-not-object"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "message-unclassifiable"),
        (r#"{"jsonrpc":"2.0","result":7}"#, "result-missing-id"),
        (r#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#, "error-missing-id"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}"#, "error-code-not-integer"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, "error-object-invalid"),
        ("7", "message-not-object"),
        ("[]", "batch-empty"),
    ] {
        check(message, Profile::JsonRpc, &[expected]);
    }
}

#[test]
fn jsonrpc_judges_every_entry_of_a_batch_by_itself() {
    let batch = r#"[1,{"jsonrpc":"2.0","id":1,"method":"sum"},{"jsonrpc":"2.0","id":2,"result":7},{"foo":"boo"}]"#;
    for revision in Revision::ALL {
        assert_eq!(
            rules_in(batch, Profile::JsonRpc, Some(revision)),
            ["message-not-object", "jsonrpc-version-invalid", "message-unclassifiable"],
            "{revision}"
        );
    }
}

#[test]
fn schema_matches_results_to_requests_but_follows_no_session() {
    let exchange = r#"{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}
{"from":"server","msg":{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"now"},{"name":"no w","inputSchema":{"type":"object","properties":{"x":1}}}]}}}
"#;
    check_trace(exchange, Profile::Schema, &["result-invalid", "result-invalid"]);
    let found = rules_in(&format!("{HANDSHAKE}{exchange}"), Profile::Spec, None);
    assert!(found.contains(&"tool-input-schema-not-object"), "{found:?}");
    assert!(!found.contains(&"result-invalid"), "{found:?}");
}

#[test]
fn schema_has_no_findings_of_later_layers() {
    let lines = r#"{"from":"client","msg":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}}
{"from":"client","msg":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":[]}}}}
{"from":"client","msg":{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"loud"}}}
{"from":"client","msg":{"jsonrpc":"2.0","id":4,"method":"tools/list"}}
{"from":"server","msg":{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"no w","inputSchema":{"type":"object"}},{"name":"no w","inputSchema":{"type":"object"}}]}}}
"#;
    let trace = format!("{HANDSHAKE}{lines}");
    let layers = |profile| -> Vec<Layer> {
        let found = rules_in(&trace, profile, None);
        found.iter().map(|name| mcp_rules::rule(name).expect("a rule").layer).collect()
    };
    assert!(layers(Profile::Spec).iter().any(|layer| *layer > Layer::Schema));
    assert!(layers(Profile::Schema).iter().all(|layer| *layer <= Layer::Schema));
    assert!(layers(Profile::JsonRpc).is_empty());
}

/// A result of `tools/list` with this one tool, in 2025-11-25.
fn listing(tool: &str) -> String {
    format!(
        r#"{{"from":"client","msg":{{"jsonrpc":"2.0","id":2,"method":"tools/list"}}}}
{{"from":"server","msg":{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{tool}]}}}}}}
"#
    )
}

#[test]
fn portability_warns_of_what_others_refuse() {
    let schema = r##"{"type":"object","properties":{"a":{"enum":["x"]},"b":{"type":["string","null"],"format":"uri"},"c":{"$ref":"#/$defs/C"}},"oneOf":[{"required":["a"]}],"$defs":{"C":{"type":"array"}}}"##;
    let tool = format!(r#"{{"name":"2.notes","inputSchema":{schema}}}"#);
    check_trace(&listing(&tool), Profile::Spec, &[]);
    check_trace(
        &listing(&tool),
        Profile::Portability,
        &[
            "portable-tool-name-charset",
            "portable-tool-name-start",
            "portable-description-missing",
            "portable-top-level-union",
            "portable-missing-type",
            "portable-union-type",
            "portable-format",
            "portable-array-without-items",
            "portable-reference",
        ],
    );
}

#[test]
fn portability_finds_nothing_in_a_plain_tool() {
    let tool = r#"{"name":"search_notes","description":"Finds notes","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Search","type":"object","properties":{"text":{"type":"string","minLength":1,"default":"all"},"tags":{"type":"array","items":{"type":"string","enum":["a","b"]},"maxItems":5},"limit":{"type":"integer","minimum":1,"maximum":50},"near":{"anyOf":[{"type":"object","properties":{"lat":{"type":"number"}},"required":["lat"],"additionalProperties":false},{"type":"string"}]}},"required":["text"],"additionalProperties":false}}"#;
    check_trace(&listing(tool), Profile::Portability, &[]);
}

#[test]
fn portability_says_nothing_that_the_specification_says_already() {
    let long = "a".repeat(129);
    for (tool, expected) in [
        (
            r#"{"name":"a/b","description":"x","inputSchema":{"type":"object","properties":{}}}"#
                .to_owned(),
            "tool-name-charset",
        ),
        (
            format!(
                r#"{{"name":"{long}","description":"x","inputSchema":{{"type":"object","properties":{{}}}}}}"#
            ),
            "tool-name-length",
        ),
        (
            r#"{"name":"a","description":"x","inputSchema":{"type":"object","properties":{"p":{"type":"array","items":[{"type":"string"}]}}}}"#
                .to_owned(),
            "tool-input-schema-invalid",
        ),
    ] {
        check_trace(&listing(&tool), Profile::Portability, &[expected]);
    }
}

#[test]
fn portability_is_on_for_every_rule_of_its_name_and_only_warns() {
    let file =
        format!("{HANDSHAKE}{}", listing(r#"{"name":"a.b","inputSchema":{"type":"object"}}"#));
    let mut settings = Settings::default();
    settings.profile = Profile::Portability;
    for finding in observe(file.as_bytes(), settings, RecordingInfo::default()) {
        assert!(finding.rule.name.starts_with("portable-"), "{}", finding.rule.name);
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!(finding.rule.level, Level::OptIn);
    }
}

#[test]
fn portability_judges_the_rest_like_the_specification() {
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
    check(message, Profile::Portability, &["params-invalid"]);
}

#[test]
fn names_of_profiles_round_trip() {
    for profile in Profile::ALL {
        assert_eq!(profile.as_str().parse(), Ok(profile));
    }
    let error = "strict".parse::<Profile>().unwrap_err();
    for profile in Profile::ALL {
        assert!(error.to_string().contains(profile.as_str()), "{error}");
    }
}

#[test]
fn portability_leaves_other_rules_as_they_are() {
    let mut settings = Settings::default();
    settings.profile = Profile::Portability;
    for (name, level) in [
        ("deprecated-feature-used", Level::OptIn),
        ("params-invalid", Level::Error),
        ("portable-tuple", Level::Warning),
    ] {
        let rule = mcp_rules::rule(name).unwrap();
        assert_eq!(settings.level(rule), level, "{name}");
        assert_eq!(rule == mcp_rules::rule("params-invalid").unwrap(), name == "params-invalid");
    }
}

#[test]
fn the_schema_profile_names_what_its_own_layer_knows_best() {
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
    let found = rules_in(message, Profile::Schema, Some(Revision::V2026_07_28));
    assert_eq!(found, ["request-meta-missing"]);
}
