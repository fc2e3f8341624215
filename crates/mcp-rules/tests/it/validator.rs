//! Every function of the function-by-function interface, with good, bad and hostile input.

use mcp_core::Revision;
use mcp_json::SyntaxErrorKind;
use mcp_rules::{
    Details, FieldType, Outcome, Profile, Reason, ValidationError, Validator,
    format_validation_error,
};
use mcp_schema::UriFault;

type Answer = Result<(), ValidationError>;

const LATEST_LEGACY: Revision = Revision::V2025_11_25;
const MODERN_META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

fn validator() -> Validator {
    Validator::new(LATEST_LEGACY)
}

#[track_caller]
fn refused(answer: Answer, reason: &str) -> ValidationError {
    let error = answer.expect_err("it must be refused");
    assert_eq!(error.reason.as_str(), reason, "{error}");
    assert!(format_validation_error(&error).starts_with(reason));
    error
}

#[track_caller]
fn did_you_mean(answer: Answer, reason: &str, name: &str, near: Option<&'static str>) {
    let error = refused(answer, reason);
    let Details::Name { given, did_you_mean, .. } = &error.details else { panic!("{error:?}") };
    assert_eq!((given.as_str(), *did_you_mean), (name, near));
    let text = error.to_string();
    match near {
        Some(near) => assert!(text.ends_with(&format!("; did you mean `{near}`?")), "{text}"),
        None => assert!(!text.contains("did you mean"), "{text}"),
    }
}

/// The rules behind a refused message.
fn rules(error: &ValidationError) -> Vec<&'static str> {
    match &error.details {
        Details::Findings(findings) => findings.iter().map(|finding| finding.rule.name).collect(),
        other => panic!("no findings but {other:?}"),
    }
}

/// Path and keyword of each violation.
fn violations(error: &ValidationError) -> Vec<(&str, &str)> {
    match &error.details {
        Details::Violations(violations) => violations
            .iter()
            .map(|violation| (violation.instance_path.as_str(), violation.keyword.as_str()))
            .collect(),
        other => panic!("no violations but {other:?}"),
    }
}

#[track_caller]
fn check_message(message: &str, reason: &str, expected_rules: &[&str]) {
    let error = refused(validator().validate_jsonrpc(message.as_bytes()), reason);
    assert_eq!(rules(&error), expected_rules, "{message}");
}

#[test]
fn good_messages_pass() {
    for message in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}"#,
        // A private method is legal.
        r#"{"jsonrpc":"2.0","id":1,"method":"weather/forecast"}"#,
    ] {
        validator().validate_jsonrpc(message.as_bytes()).expect(message);
    }
}

#[test]
fn each_fault_of_a_message_has_its_reason() {
    check_message(
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        "invalid_jsonrpc_version",
        &["jsonrpc-version-invalid"],
    );
    check_message(
        r#"{"id":1,"method":"ping"}"#,
        "invalid_jsonrpc_version",
        &["jsonrpc-version-invalid"],
    );
    check_message(r#"{"jsonrpc":"2.0","id":1}"#, "missing_method", &["message-unclassifiable"]);
    check_message(
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        "invalid_message",
        &["message-unclassifiable"],
    );
    check_message(
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        "invalid_method",
        &["method-not-string"],
    );
    check_message(r#"{"jsonrpc":"2.0","id":1,"method":""}"#, "invalid_method", &["method-empty"]);
    for (id, rule) in [
        ("null", "request-id-null"),
        ("1.5", "request-id-type"),
        ("true", "request-id-type"),
        ("{}", "request-id-type"),
    ] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        check_message(&message, "invalid_id", &[rule]);
    }
    check_message(
        r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
        "invalid_id",
        &["request-missing-id"],
    );
    check_message(
        r#"{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}"#,
        "invalid_id",
        &["notification-with-id"],
    );
    check_message(r#"{"jsonrpc":"2.0","result":{}}"#, "invalid_id", &["result-missing-id"]);
    check_message(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#,
        "invalid_payload_type",
        &["params-not-object"],
    );
    check_message(
        r#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
        "invalid_payload_type",
        &["result-not-object"],
    );
    check_message(
        r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#,
        "invalid_error",
        &["error-object-invalid"],
    );
    check_message(
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
        "invalid_message",
        &["response-result-and-error"],
    );
    for message in ["7", "\"ping\"", "null"] {
        check_message(message, "not_map", &["message-not-object"]);
    }
    check_message("[]", "not_map", &["batch-not-supported"]);
}

#[test]
fn payloads_of_a_message_are_judged_with_it() {
    check_message(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
        "missing_required_fields",
        &["params-invalid"],
    );
    check_message(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#,
        "type_mismatch",
        &["params-invalid"],
    );
    check_message(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        "missing_required_fields",
        &["params-invalid"],
    );
}

#[test]
fn a_name_of_another_revision_is_unknown_by_its_kind() {
    let modern = Validator::new(Revision::V2026_07_28);
    let error = refused(
        modern.validate_jsonrpc(br#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#),
        "unknown_method",
    );
    assert_eq!(rules(&error), ["method-not-in-revision"]);
    let error = refused(
        modern.validate_jsonrpc(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        "unknown_notification",
    );
    assert_eq!(rules(&error), ["method-not-in-revision"]);
}

#[test]
fn the_reason_of_a_batch_is_that_of_its_guilty_entry() {
    let batching = Validator::new(Revision::V2025_03_26);
    let good = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    batching.validate_jsonrpc(format!("[{good}]").as_bytes()).expect("this revision has batches");
    let batch = format!(r#"[{good},{{"jsonrpc":"2.0","id":2}}]"#);
    let error = refused(batching.validate_jsonrpc(batch.as_bytes()), "missing_method");
    let Details::Findings(findings) = &error.details else { panic!("{error:?}") };
    assert_eq!(findings[0].index, Some(1));
    let batch = format!(r#"[{good},{{"jsonrpc":"2.0","id":2,"method":"ping","result":{{}}}}]"#);
    refused(batching.validate_jsonrpc(batch.as_bytes()), "invalid_message");
    refused(batching.validate_jsonrpc(b"[]"), "invalid_message");
}

#[test]
fn requests_are_judged_by_name_and_params() {
    let validator = validator();
    validator.validate_request("ping", None).unwrap();
    validator.validate_request("tools/call", Some(br#"{"name":"echo"}"#)).unwrap();

    let error = refused(validator.validate_request("tools/call", None), "missing_required_fields");
    assert_eq!(error.details, Details::Missing(vec!["params".into()]));
    let error =
        refused(validator.validate_request("tools/call", Some(b"{}")), "missing_required_fields");
    assert_eq!(violations(&error), [("", "required")]);
    let error =
        refused(validator.validate_request("tools/call", Some(br#"{"name":7}"#)), "type_mismatch");
    assert_eq!(violations(&error), [("/name", "type")]);
    assert!(error.message.starts_with("/name: "), "{error}");
    let error = refused(
        validator.validate_request("logging/setLevel", Some(br#"{"level":"loud"}"#)),
        "schema_violation",
    );
    assert_eq!(violations(&error), [("/level", "enum")]);
    let error =
        refused(validator.validate_request("tools/list", Some(b"[]")), "invalid_payload_type");
    let expected = Details::Field {
        name: "params".into(),
        expected: vec![FieldType::Object],
        actual: FieldType::Array,
    };
    assert_eq!(error.details, expected);
    refused(validator.validate_request("ping", Some(b"oops")), "parse_error");
    refused(validator.validate_request("notifications/initialized", None), "unknown_method");
    refused(validator.validate_request("server/discover", None), "unknown_method");

    let modern = Validator::new(Revision::V2026_07_28);
    let params = format!("{{{MODERN_META}}}");
    modern.validate_request("server/discover", Some(params.as_bytes())).unwrap();
    refused(modern.validate_request("tools/list", Some(b"{}")), "missing_required_fields");
    refused(modern.validate_request("initialize", None), "unknown_method");
}

#[test]
fn notifications_are_judged_by_name_and_params() {
    let validator = validator();
    validator.validate_notification("notifications/initialized", None).unwrap();
    let progress = br#"{"progressToken":1,"progress":0.5}"#;
    validator.validate_notification("notifications/progress", Some(progress)).unwrap();

    let error = refused(
        validator.validate_notification("notifications/progress", Some(br#"{"progress":1}"#)),
        "missing_required_fields",
    );
    assert_eq!(violations(&error), [("", "required")]);
    refused(
        validator.validate_notification("notifications/progress", None),
        "missing_required_fields",
    );
    refused(
        validator.validate_notification("notifications/initialized", Some(b"7")),
        "invalid_payload_type",
    );
    refused(validator.validate_notification("tools/list", None), "unknown_notification");
    Validator::new(Revision::V2024_11_05)
        .validate_notification("notifications/roots/list_changed", None)
        .unwrap();
}

#[test]
fn responses_are_judged_without_their_request() {
    let validator = validator();
    validator.validate_response(b"1", Outcome::Result(b"{}")).unwrap();
    validator.validate_response(b" \"a\" ", Outcome::Result(b" {\"x\":[]} ")).unwrap();
    let error = br#"{"code":-32601,"message":"unknown"}"#;
    validator.validate_response(b"1", Outcome::Error(error)).unwrap();
    validator.validate_response(b"null", Outcome::Error(error)).expect("null is only unwise");

    for id in ["null", "1.5", "true", "[]", "{}"] {
        let answer = validator.validate_response(id.as_bytes(), Outcome::Result(b"{}"));
        refused(answer, "invalid_id");
    }
    for result in ["null", "[]", "7"] {
        let answer = validator.validate_response(b"1", Outcome::Result(result.as_bytes()));
        refused(answer, "invalid_payload_type");
    }
    for error in [
        "null",
        "{}",
        r#"{"code":1.5,"message":"x"}"#,
        r#"{"code":"1","message":"x"}"#,
        r#"{"code":1}"#,
        r#"{"code":1,"message":null}"#,
    ] {
        let answer = validator.validate_response(b"1", Outcome::Error(error.as_bytes()));
        refused(answer, "invalid_error");
    }
    let url = br#"{"code":-32042,"message":"look there"}"#;
    refused(validator.validate_response(b"1", Outcome::Error(url)), "missing_required_fields");

    let modern = Validator::new(Revision::V2026_07_28);
    for code in [-32002, -32050] {
        let error = format!(r#"{{"code":{code},"message":"x"}}"#);
        let answer = modern.validate_response(b"1", Outcome::Error(error.as_bytes()));
        refused(answer, "invalid_error_code");
    }
}

#[test]
fn no_part_of_a_response_breaks_out_of_its_place() {
    let validator = validator();
    let error = br#"{"code":-32601,"message":"unknown"}"#;
    for id in [
        r#"1,"result":{}"#,
        r#"1,"error":{}"#,
        r#"1}{"a":1"#,
        r#"1,"id":2"#,
        "1}\n{",
        "",
        "\"",
        "1//",
    ] {
        for outcome in [Outcome::Result(b"{}"), Outcome::Error(error)] {
            refused(validator.validate_response(id.as_bytes(), outcome), "parse_error");
        }
    }
    for body in [r#"{},"id":2"#, "{}}{", r#"{},"method":"ping""#, "{", ""] {
        for outcome in [Outcome::Result(body.as_bytes()), Outcome::Error(body.as_bytes())] {
            refused(validator.validate_response(b"1", outcome), "parse_error");
        }
    }
}

#[test]
fn results_are_judged_by_the_method_they_answer() {
    let validator = validator();
    validator.validate_result("ping", b"{}").unwrap();
    validator.validate_result("tools/call", br#"{"content":[]}"#).unwrap();
    let error = refused(validator.validate_result("tools/call", b"{}"), "missing_required_fields");
    assert_eq!(violations(&error), [("", "required")]);
    let error = refused(
        validator.validate_result(
            "tools/list",
            br#"{"tools":[{"name":7,"inputSchema":{"type":"object"}}]}"#,
        ),
        "type_mismatch",
    );
    assert_eq!(violations(&error), [("/tools/0/name", "type")]);
    refused(validator.validate_result("tools/call", b"[]"), "invalid_payload_type");
    refused(validator.validate_result("ping", b"null"), "invalid_payload_type");
    refused(validator.validate_result("ping", b"{"), "parse_error");
    refused(validator.validate_result("tools/cal", b"{}"), "unknown_method");
    refused(validator.validate_result("notifications/initialized", b"{}"), "unknown_method");
}

#[test]
fn what_stands_in_for_a_result_is_judged_as_what_it_is() {
    let task = br#"{"task":{"taskId":"1","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":60000}}"#;
    validator().validate_result("tools/call", task).unwrap();
    let error = refused(
        validator().validate_result("tools/call", br#"{"task":{}}"#),
        "missing_required_fields",
    );
    assert!(violations(&error).iter().all(|(path, _)| *path == "/task"), "{error:?}");
    refused(validator().validate_result("tools/list", task), "missing_required_fields");

    let modern = Validator::new(Revision::V2026_07_28);
    let asks = br#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#;
    modern.validate_result("tools/call", asks).unwrap();
    refused(modern.validate_result("tools/list", asks), "missing_required_fields");
    modern.validate_result("tools/call", br#"{"resultType":"complete","content":[]}"#).unwrap();
    refused(modern.validate_result("tools/call", br#"{"content":[]}"#), "missing_required_fields");
}

#[test]
fn error_codes_are_free_or_taken_by_revision() {
    let taken: [(Revision, &[i64]); 2] = [
        (LATEST_LEGACY, &[-32768, -32699, -32604, -32100]),
        (Revision::V2026_07_28, &[-32768, -32100, -32099, -32042, -32023, -32002]),
    ];
    for (revision, codes) in taken {
        for code in codes {
            let error =
                refused(Validator::new(revision).validate_error_code(*code), "invalid_error_code");
            assert_eq!(error.details, Details::Code(*code));
            assert!(error.message.contains(&code.to_string()));
        }
    }
    let free: [(Revision, &[i64]); 2] = [
        (LATEST_LEGACY, &[-32700, -32603, -32600, -32099, -32042, -32002, -32000, 0, i64::MIN]),
        (Revision::V2026_07_28, &[-32700, -32022, -32020, -32019, -32000, 1, i64::MAX]),
    ];
    for (revision, codes) in free {
        for code in codes {
            Validator::new(revision).validate_error_code(*code).unwrap();
        }
    }
}

#[test]
fn near_misses_are_told_what_was_meant() {
    let validator = validator();
    for (name, near) in [
        ("logging/set_level", "logging/setLevel"),
        ("sampling/create_message", "sampling/createMessage"),
        ("tool/call", "tools/call"),
        ("initialise", "initialize"),
    ] {
        did_you_mean(validator.validate_method_name(name), "unknown_method", name, Some(near));
        let answer = validator.validate_request(name, Some(b"not even JSON"));
        did_you_mean(answer, "unknown_method", name, Some(near));
        did_you_mean(validator.validate(name, b"{}"), "unknown_type", name, Some(near));
    }
    let name = "notifications/tools/listChanged";
    let near = Some("notifications/tools/list_changed");
    let answer = validator.validate_notification_name(name);
    did_you_mean(answer, "unknown_notification", name, near);
    let answer = validator.validate_notification(name, None);
    did_you_mean(answer, "unknown_notification", name, near);

    for name in ["weather/forecast", "", "x"] {
        did_you_mean(validator.validate_method_name(name), "unknown_method", name, None);
        let answer = validator.validate_notification_name(name);
        did_you_mean(answer, "unknown_notification", name, None);
    }
}

#[test]
fn names_belong_to_revisions() {
    for revision in Revision::ALL {
        let validator = Validator::new(revision);
        validator.validate_method_name("tools/call").unwrap();
        validator.validate_notification_name("notifications/cancelled").unwrap();
        let modern = revision == Revision::V2026_07_28;
        assert_eq!(validator.validate_method_name("initialize").is_ok(), !modern, "{revision}");
        assert_eq!(validator.validate_method_name("server/discover").is_ok(), modern, "{revision}");
        let tasks = revision == Revision::V2025_11_25;
        assert_eq!(validator.validate_method_name("tasks/get").is_ok(), tasks, "{revision}");
    }
}

#[test]
fn fields_have_types() {
    use FieldType::{Array, Boolean, Integer, Null, Number, Object, String};
    let validator = validator();
    for (value, exact) in [
        ("null", Null),
        ("true", Boolean),
        ("7", Integer),
        ("7.0", Integer),
        ("1e2", Integer),
        ("7.5", Number),
        ("\"7\"", String),
        ("[]", Array),
        ("{}", Object),
    ] {
        for wanted in [Null, Boolean, Integer, Number, String, Array, Object] {
            let answer = validator.validate_field_type("field", value.as_bytes(), &[wanted]);
            if wanted == exact || (wanted, exact) == (Number, Integer) {
                answer.unwrap();
                continue;
            }
            let error = refused(answer, "type_mismatch");
            let expected =
                Details::Field { name: "field".into(), expected: vec![wanted], actual: exact };
            assert_eq!(error.details, expected);
            assert_eq!(error.to_string(), format!("`field` must be {wanted}, not {exact}"));
        }
    }
    validator.validate_field_type("id", b"7", &[String, Integer]).unwrap();
    let error =
        refused(validator.validate_field_type("id", b"[]", &[String, Integer]), "type_mismatch");
    assert_eq!(error.message, "`id` must be string or integer, not array");
    refused(validator.validate_field_type("id", b"7 7", &[Integer]), "parse_error");
}

#[test]
fn required_fields_are_there_whatever_they_hold() {
    let validator = validator();
    validator.validate_required_fields(br#"{"a":null,"b":1}"#, &["a", "b"]).unwrap();
    validator.validate_required_fields(b"{}", &[]).unwrap();
    validator.validate_required_fields(br#"{"\u0061":1}"#, &["a"]).expect("the same name");
    let error = refused(
        validator.validate_required_fields(br#"{"b":{"a":1}}"#, &["a", "b", "c"]),
        "missing_required_fields",
    );
    assert_eq!(error.details, Details::Missing(vec!["a".into(), "c".into()]));
    assert_eq!(format_validation_error(&error), "missing_required_fields: missing=a, missing=c");
    for text in ["[]", "7", "null", "\"a\""] {
        let answer = validator.validate_required_fields(text.as_bytes(), &["a"]);
        refused(answer, "not_map");
    }
    refused(validator.validate_required_fields(b"", &["a"]), "parse_error");
}

#[test]
fn values_are_judged_by_the_name_of_their_type() {
    let validator = validator();
    validator.validate("Tool", br#"{"name":"now","inputSchema":{"type":"object"}}"#).unwrap();
    validator.validate("CallToolResult", br#"{"content":[]}"#).unwrap();
    validator.validate("tools/call", br#"{"name":"echo"}"#).unwrap();
    validator.validate("notifications/initialized", b"{}").unwrap();

    let error = refused(validator.validate("Tool", b"{}"), "missing_required_fields");
    assert_eq!(violations(&error), [("", "required"); 2]);
    let error = refused(validator.validate("Tool", b"[]"), "type_mismatch");
    assert_eq!(violations(&error), [("", "type")]);
    refused(validator.validate("tools/call", b"{}"), "missing_required_fields");
    refused(validator.validate("tools/call", b"[]"), "invalid_payload_type");
    refused(validator.validate("Tool", b"{]"), "parse_error");
    let near = Some("CallToolResult");
    did_you_mean(validator.validate("CalToolResult", b"{}"), "unknown_type", "CalToolResult", near);

    let task = br#"{"taskId":"1","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}"#;
    validator.validate("Task", task).unwrap();
    refused(Validator::new(Revision::V2025_06_18).validate("Task", task), "unknown_type");
}

#[test]
fn tool_arguments_are_judged_by_the_tools_own_schema() {
    let validator = validator();
    let schema =
        br#"{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}"#;
    validator.validate_tool_arguments(schema, br#"{"count":3,"other":null}"#).unwrap();
    let error = refused(
        validator.validate_tool_arguments(schema, br#"{"count":"three"}"#),
        "type_mismatch",
    );
    assert_eq!(violations(&error), [("/count", "type")]);
    assert_eq!(
        format_validation_error(&error),
        "type_mismatch: at=/count, schema=#/properties/count/type, keyword=type, message=must be integer"
    );
    refused(validator.validate_tool_arguments(schema, b"{}"), "missing_required_fields");
    refused(validator.validate_tool_arguments(schema, b"[]"), "type_mismatch");
    refused(validator.validate_tool_arguments(schema, b""), "parse_error");
    refused(validator.validate_tool_arguments(b"", b"{}"), "parse_error");

    for schema in [
        "7",
        r#"{"$ref":"https://example.com/schema"}"#,
        r##"{"$ref":"#/nowhere"}"##,
        r##"{"$ref":"#"}"##,
        r#"{"$schema":"https://example.com/dialect"}"#,
    ] {
        let answer = validator.validate_tool_arguments(schema.as_bytes(), b"{}");
        assert_eq!(refused(answer, "invalid_tool_schema").details, Details::None);
    }
    let error = refused(
        validator.validate_tool_arguments(br#"{"type":"objekt"}"#, b"{}"),
        "invalid_tool_schema",
    );
    assert_eq!(violations(&error)[0].0, "/type");
}

#[test]
fn resource_uris_follow_the_profile() {
    let spec = validator();
    for uri in ["file:///a", "https://example.com/?q#f", "resource://notes/a", "urn:isbn:1"] {
        spec.validate_resource_uri(uri).unwrap();
    }
    let error = refused(spec.validate_resource_uri("notes/a"), "invalid_uri");
    assert_eq!(error.details, Details::Uri(UriFault::NoScheme));
    let error = refused(spec.validate_resource_uri(""), "invalid_uri");
    assert_eq!(error.details, Details::Uri(UriFault::Empty));
    let error = refused(spec.validate_resource_uri("file:///a b"), "invalid_uri");
    let expected = UriFault::Character { position: 9, character: ' ' };
    assert_eq!(error.details, Details::Uri(expected));

    let house = Validator::with_profile(LATEST_LEGACY, Profile::BaseStack);
    house.validate_resource_uri("resource://notes/a").unwrap();
    for uri in ["file:///a", "https://example.com/", "resource:///a"] {
        let error = refused(house.validate_resource_uri(uri), "invalid_uri");
        assert_eq!(error.details, Details::Uri(UriFault::NotFromProvider), "{uri}");
    }
    refused(house.validate_resource_uri("resource://notes/a b"), "invalid_uri");
}

#[test]
fn the_jsonrpc_profile_takes_any_method_and_structured_params() {
    let base = Validator::with_profile(LATEST_LEGACY, Profile::JsonRpc);
    base.validate_request("anything", Some(b"[1,2]")).unwrap();
    base.validate_request("tools/call", None).unwrap();
    base.validate_notification("tick", Some(b"{}")).unwrap();
    base.validate_response(b"null", Outcome::Result(b"7")).unwrap();
    base.validate_result("anything", b"7").unwrap();
    refused(base.validate_request("anything", Some(b"7")), "invalid_payload_type");
    refused(base.validate_result("anything", b"7 8"), "parse_error");
    refused(base.validate_response(b"{}", Outcome::Result(b"7")), "invalid_id");
}

#[test]
fn hostile_input_is_refused_by_every_function() {
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    let mut huge = vec![b' '; 17 << 20];
    huge.extend_from_slice(b"{}");
    let inputs: [&[u8]; 9] = [
        b"",
        b" \n",
        b"not JSON",
        b"{\"a\":1",
        b"{\"a\":\"\xff\"}",
        b"\xef\xbb\xbf{}",
        b"{}{}",
        &deep,
        &huge,
    ];
    let validator = validator();
    for input in inputs {
        for answer in [
            validator.validate_jsonrpc(input),
            validator.validate_request("tools/call", Some(input)),
            validator.validate_notification("notifications/progress", Some(input)),
            validator.validate_response(input, Outcome::Result(b"{}")),
            validator.validate_response(b"1", Outcome::Result(input)),
            validator.validate_response(b"1", Outcome::Error(input)),
            validator.validate_result("tools/call", input),
            validator.validate_field_type("a", input, &[FieldType::Object]),
            validator.validate_required_fields(input, &["a"]),
            validator.validate("Tool", input),
            validator.validate("tools/call", input),
            validator.validate_tool_arguments(input, b"{}"),
            validator.validate_tool_arguments(b"{}", input),
        ] {
            let error = refused(answer, "parse_error");
            assert!(matches!(error.details, Details::Syntax(_)), "{error:?}");
        }
    }
    let error = validator.validate_jsonrpc(b"{\"a\":1").unwrap_err();
    let Details::Syntax(syntax) = error.details else { panic!("{error:?}") };
    assert_eq!(syntax.offset, 6);
    assert!(matches!(syntax.kind, SyntaxErrorKind::UnexpectedEnd { .. }));

    let name = "x".repeat(1 << 20);
    refused(validator.validate_method_name(&name), "unknown_method");
    refused(validator.validate_notification_name(&name), "unknown_notification");
    refused(validator.validate(&name, b"{}"), "unknown_type");
    refused(validator.validate_resource_uri(&name), "invalid_uri");
}

#[test]
fn a_report_has_a_line_per_fault() {
    let message =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":null,"arguments":[]}}"#;
    let error = validator().validate_jsonrpc(message).unwrap_err();
    insta::assert_snapshot!(format!("{error:#}"), @r#"
    null is not of type "string"
      at /params/name: null is not of type "string" [params-invalid] (null is a value: send a string)
      at /params/arguments: [] is not of type "object" [params-invalid]
    "#);
    let error = validator().validate("Tool", br#"{"inputSchema":{}}"#).unwrap_err();
    insta::assert_snapshot!(format!("{error:#}"), @r#"
    required property "name" is missing
      at the value itself: required property "name" is missing
      at /inputSchema: required property "type" is missing
    "#);
}

#[test]
fn reasons_are_words_in_snake_case() {
    assert_eq!(Reason::InvalidJsonrpcVersion.to_string(), "invalid_jsonrpc_version");
    assert_eq!(Reason::SchemaViolation.as_str(), "schema_violation");
}
