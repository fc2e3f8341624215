//! Profile `base-stack`: a JSON-RPC validator for clients, servers and hosts.

use mcp_core::Revision;
use mcp_rules::{MessageReport, Profile, Validator};

use super::{REVISION, errors, fails, found, passes, refused};

fn validator() -> Validator {
    Validator::with_profile(REVISION, Profile::BaseStack)
}

#[track_caller]
fn ok(message: &str) {
    passes(message, Profile::BaseStack);
}

#[track_caller]
fn no(message: &str, reason: &str) {
    fails(message, Profile::BaseStack, reason);
}

fn rules(report: &MessageReport) -> Vec<(Option<usize>, &str)> {
    report.errors.iter().map(|finding| (finding.index, finding.rule.name)).collect()
}

#[test]
fn the_envelope_is_that_of_json_rpc_in_every_revision() {
    for message in [
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/execute"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/execute","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/execute","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"tools/execute"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/execute"},{"jsonrpc":"2.0","id":1,"result":7}]"#,
    ] {
        for revision in Revision::ALL {
            let modern = revision == Revision::V2026_07_28;
            if modern && message.contains("tools/list") && !message.contains("[]") {
                continue; // Every request of this revision needs `_meta`.
            }
            let of_envelope: Vec<&str> = found(message, Profile::BaseStack, revision)
                .iter()
                .map(|finding| finding.rule.name)
                .collect();
            assert_eq!(of_envelope, [""; 0], "{revision} {message}");
        }
        ok(message);
    }
    no(r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, "invalid_id");
    no(r#"{"jsonrpc":"2.0","id":1,"method":""}"#, "invalid_method");
    no(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "invalid_method");
    no(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":"y"}"#, "invalid_payload_type");
    no(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":null}"#, "invalid_payload_type");
}

#[test]
fn a_response_has_an_id_and_exactly_one_outcome() {
    for message in [
        r#"{"jsonrpc":"2.0","id":"a","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"result":[]}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":9999,"message":"no","data":[1]}}"#,
    ] {
        ok(message);
        let report = validator().validate_response_message(message.as_bytes());
        assert!(report.valid, "{report:?}");
    }
    no(r#"{"jsonrpc":"2.0","result":{}}"#, "invalid_id");
    no(r#"{"jsonrpc":"2.0","error":{"code":1,"message":"no"}}"#, "invalid_id");
    no(
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
        "invalid_message",
    );
    no(r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"no"}}"#, "invalid_error");
    no(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, "invalid_error");
    no(r#"{"jsonrpc":"2.0","id":1,"error":7}"#, "invalid_error");
}

#[test]
fn all_faults_of_a_message_are_listed() {
    let message = r#"{"jsonrpc":"1.0","method":"","id":2,"params":7}"#;
    let three = ["jsonrpc-version-invalid", "method-empty", "params-not-object"];
    assert_eq!(errors(message, Profile::BaseStack), three);
    let report = validator().validate_request_message(message.as_bytes());
    assert_eq!(rules(&report), three.map(|rule| (None, rule)));
    let message = r#"{"id":true,"result":1,"error":{"code":"x"}}"#;
    let report = validator().validate_response_message(message.as_bytes());
    assert_eq!(report.errors.len(), 5, "{report:?}");
}

#[test]
fn faults_of_the_payload_are_listed_with_those_of_the_envelope() {
    let message = r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":7}}"#;
    assert_eq!(errors(message, Profile::BaseStack), ["jsonrpc-version-invalid", "params-invalid"]);
    let message = r#"{"jsonrpc":"2.0","id":1,"params":7}"#;
    let two = ["message-unclassifiable", "params-not-object"];
    assert_eq!(errors(message, Profile::BaseStack), two);
    let message = r#"{"jsonrpc":"1.0","method":5,"id":{},"params":7,"result":1}"#;
    assert_eq!(errors(message, Profile::BaseStack).len(), 5);
}

#[test]
fn codes_are_free_in_every_revision() {
    for revision in Revision::ALL {
        for code in [-32050, -32042, -32002, 7] {
            let message =
                format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no"}}}}"#);
            let found = found(&message, Profile::BaseStack, revision);
            assert!(found.is_empty(), "{revision} {found:?}");
        }
    }
}

#[test]
fn a_batch_that_is_too_long_to_be_judged_is_not_valid() {
    let entry = r#"{"jsonrpc":"2.0","id":1,"method":"x"},"#;
    let batch = format!("[{}7]", entry.repeat(1000));
    let report = validator().validate_batch(batch.as_bytes());
    assert_eq!(rules(&report), [(None, "batch-size-limit")]);
    assert!(validator().validate_jsonrpc(batch.as_bytes()).is_err());
}

#[test]
fn a_batch_is_an_array_with_entries_each_judged() {
    let validator = validator();
    assert_eq!(rules(&validator.validate_batch(b"[]")), [(None, "batch-empty")]);
    assert!(!validator.validate_batch(br#"{"jsonrpc":"2.0","id":1,"method":"x"}"#).valid);
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"x"},7,{"jsonrpc":"1.0","method":"","id":2,"params":7}]"#;
    let report = validator.validate_batch(batch.as_bytes());
    let expected = [
        (Some(1), "message-not-object"),
        (Some(2), "jsonrpc-version-invalid"),
        (Some(2), "method-empty"),
        (Some(2), "params-not-object"),
    ];
    assert_eq!(rules(&report), expected);
    let pointers: Vec<_> = report.errors.iter().map(|f| f.pointer.as_deref().unwrap()).collect();
    assert_eq!(pointers, ["/1", "/2/jsonrpc", "/2/method", "/2/params"]);
    assert_eq!(errors(batch, Profile::BaseStack), expected.map(|(_, rule)| rule));
}

#[test]
fn reports_are_valid_and_a_list_of_errors() {
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"tools/execute"}"#;
    let response = br#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let validator = validator();
    assert!(validator.validate_request_message(request).valid);
    assert!(validator.validate_response_message(response).valid);
    assert!(validator.validate_message(response).valid);
    assert!(!validator.validate_request_message(response).valid);
    assert!(!validator.validate_response_message(request).valid);
    assert!(!validator.validate_request_message(b"[]").valid);
    for text in [&b"{"[..], b"", b"\xff"] {
        let report = validator.validate_message(text);
        assert!(!report.valid && report.errors[0].code == Some(-32700), "{report:?}");
    }
    let shown = serde_json::to_value(validator.validate_message(b"{")).unwrap();
    assert_eq!(shown["valid"], false);
    assert_eq!(shown["errors"][0]["rule"], "message-not-json");
}

#[test]
fn tool_parameters_are_judged_by_the_input_schema() {
    let schema = br#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    validator().validate_tool_arguments(schema, br#"{"n":1}"#).unwrap();
    let answer = validator().validate_tool_arguments(schema, b"{}");
    refused(answer, "missing_required_fields");
    refused(validator().validate_tool_arguments(schema, br#"{"n":"1"}"#), "type_mismatch");

    let listed = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}
{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":"x"}}}"#;
    assert!(errors(listed, Profile::BaseStack).contains(&"tool-arguments-invalid"));
}

#[test]
fn resource_uris_have_a_provider() {
    for uri in ["resource://github", "resource://github/", "resource://github/a/b"] {
        validator().validate_resource_uri(uri).expect(uri);
        ok(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"{uri}"}}}}"#
        ));
    }
    let old = Validator::with_profile(Revision::V2024_11_05, Profile::BaseStack);
    let answer = old.validate_request("resources/read", Some(br#"{"uri":"no uri"}"#));
    refused(answer, "invalid_uri");
    validator().validate_resource_uri("RESOURCE://github").expect("schemes ignore case");
    let bad =
        ["resource://", "https://x", "resource:///a", "resource:github", "", "resource://:80"];
    for uri in bad {
        refused(validator().validate_resource_uri(uri), "invalid_uri");
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"{uri}"}}}}"#
        );
        no(&message, "invalid_uri");
    }
    no(r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":7}}"#, "type_mismatch");
}

#[test]
fn known_methods_still_have_their_params() {
    no(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, "missing_required_fields");
}
