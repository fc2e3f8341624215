//! Profile `erlmcp`: a function-by-function validator for 2025-11-25.

use mcp_rules::{
    Details, FieldType, Profile, Reason, ValidationError, Validator, format_validation_error,
};
use proptest::prelude::*;

use super::{REVISION, fails, passes, refused};

const REQUESTS: [&str; 21] = [
    "initialize",
    "ping",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "tools/list",
    "tools/call",
    "tasks/create",
    "tasks/list",
    "tasks/get",
    "tasks/result",
    "tasks/cancel",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "requests/cancel",
    "logging/set_level",
    "roots/list",
    "sampling/create_message",
];
const NOTIFICATIONS: [&str; 10] = [
    "notifications/initialized",
    "notifications/progress",
    "notifications/resourcesupdated",
    "notifications/resources/list_changed",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
    "notifications/cancelled",
    "notifications/message",
];
/// Names that only this profile knows; their payloads are not judged.
const OWN_REQUESTS: [&str; 4] =
    ["tasks/create", "requests/cancel", "logging/set_level", "sampling/create_message"];

fn validator() -> Validator {
    Validator::with_profile(REVISION, Profile::Erlmcp)
}

#[track_caller]
fn ok(message: &str) {
    passes(message, Profile::Erlmcp);
}

#[track_caller]
fn no(message: &str, reason: &str) {
    fails(message, Profile::Erlmcp, reason);
}

#[test]
fn its_requests_and_notifications_are_known_and_kinds_are_strict() {
    for name in REQUESTS {
        validator().validate_method_name(name).unwrap();
        refused(validator().validate_notification_name(name), "unknown_notification");
        no(&format!(r#"{{"jsonrpc":"2.0","method":"{name}"}}"#), "unknown_notification");
    }
    for name in NOTIFICATIONS {
        validator().validate_notification_name(name).unwrap();
        refused(validator().validate_method_name(name), "unknown_method");
        no(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{name}"}}"#), "unknown_method");
    }
}

#[test]
fn spellings_of_the_specification_are_accepted_beside_them() {
    for name in ["logging/setLevel", "sampling/createMessage", "elicitation/create"] {
        validator().validate_method_name(name).unwrap();
    }
    for name in ["notifications/resources/updated", "notifications/elicitation/complete"] {
        validator().validate_notification_name(name).unwrap();
    }
}

#[test]
fn names_in_neither_list_are_refused() {
    for name in
        ["tools/execute", "tasks/update", "resources/updated", "server/discover", "rpc.x", "x"]
    {
        refused(validator().validate_method_name(name), "unknown_method");
        no(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{name}"}}"#), "unknown_method");
    }
    for name in ["tools/list_changed", "notifications/tick", "rpc.x", "tick"] {
        refused(validator().validate_notification_name(name), "unknown_notification");
        no(&format!(r#"{{"jsonrpc":"2.0","method":"{name}"}}"#), "unknown_notification");
    }
}

#[test]
fn payloads_of_its_own_names_are_objects_arrays_or_absent() {
    for name in OWN_REQUESTS {
        for params in ["", r#","params":{"any":7}"#, r#","params":[1,null]"#] {
            ok(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{name}"{params}}}"#));
        }
        for params in ["7", "null", "\"a\"", "true"] {
            let message =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{name}","params":{params}}}"#);
            no(&message, "invalid_payload_type");
            let answer = validator().validate_request(name, Some(params.as_bytes()));
            refused(answer, "invalid_payload_type");
        }
    }
    ok(r#"{"jsonrpc":"2.0","method":"notifications/resourcesupdated","params":["a"]}"#);
}

#[test]
fn codes_outside_its_ranges_are_invalid() {
    for code in [0, 1, 1000, 1090, 9999, 99999, -31999, -32114, -32599, -32701] {
        refused(validator().validate_error_code(code), "invalid_error_code");
        let error = format!(r#"{{"code":{code},"message":"x"}}"#);
        no(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#), "invalid_error_code");
        let answer = validator().validate_response(b"1", error.as_str());
        refused(answer, "invalid_error_code");
    }
    for code in [-32700, -32600, -32113, -32000, 1001, 1089, -32001] {
        validator().validate_error_code(code).unwrap();
        ok(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"x"}}}}"#));
    }
}

#[test]
fn codes_that_fit_no_number_are_invalid_and_none_needs_data() {
    for code in ["99999999999999999999", "1e30", "9007199254740993.0", "-1e25"] {
        let error = format!(r#"{{"code":{code},"message":"x"}}"#);
        no(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#), "invalid_error_code");
        refused(validator().validate("Error", error.as_bytes()), "invalid_error_code");
    }
    for code in -32_113..=-32_000 {
        ok(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"x"}}}}"#));
    }
    validator().validate("Error", br#"{"code":-32601.0,"message":"x"}"#).unwrap();
}

#[test]
fn ids_are_null_strings_or_integers() {
    for id in ["null", "\"a\"", "7", "-1", "\"\""] {
        ok(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        ok(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    for id in ["1.5", "true", "[]", "{}"] {
        no(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), "invalid_id");
        no(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#), "invalid_id");
    }
}

#[test]
fn params_are_objects_arrays_or_absent() {
    for params in ["", r#","params":{}"#, r#","params":[]"#] {
        ok(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list"{params}}}"#));
    }
    no(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":7}"#, "invalid_payload_type");
}

#[test]
fn validate_jsonrpc_of_a_non_object() {
    for text in
        ["7", "null", "\"a\"", "true", "[]", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#]
    {
        no(text, "not_map");
    }
}

#[test]
fn validate_jsonrpc_without_jsonrpc_or_with_another_value() {
    for message in [
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
        r#"{"id":1}"#,
        "{}",
    ] {
        no(message, "invalid_jsonrpc_version");
    }
}

#[test]
fn validate_jsonrpc_with_an_id_and_nothing_else() {
    no(r#"{"jsonrpc":"2.0","id":1}"#, "missing_method");
    no(r#"{"jsonrpc":"2.0","id":null,"params":{}}"#, "missing_method");
}

#[test]
fn validate_jsonrpc_with_an_unknown_name() {
    no(r#"{"jsonrpc":"2.0","id":1,"method":"unknown/method"}"#, "unknown_method");
    no(r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#, "unknown_notification");
}

#[test]
fn validate_request() {
    let answer = validator().validate_request("tools/list", Some(br#"{"cursor":"next-page"}"#));
    answer.unwrap();
    refused(validator().validate_request("unknown/method", Some(b"{}")), "unknown_method");
}

#[test]
fn validate_response_without_knowing_what_it_answers() {
    validator().validate_response(b"1", br#"{"tools":[]}"#).unwrap();
    validator().validate_response(b"null", b"{}").unwrap();
    validator().validate_response(br#""abc-123""#, b"{}").unwrap();
}

#[test]
fn validate_response_with_an_error_object() {
    let error = br#"{"code":-32601,"message":"Method not found"}"#;
    validator().validate_response(b"1", error).unwrap();
}

#[test]
fn validate_notification_with_more_members() {
    let params = br#"{"protocolVersion":"2025-11-25"}"#;
    validator().validate_notification("notifications/initialized", Some(params)).unwrap();
    ok(
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{"protocolVersion":"2025-11-25"}}"#,
    );
}

#[test]
fn validate_error_code() {
    for code in [-32700, 1001, 1089, -32001] {
        validator().validate_error_code(code).unwrap();
    }
}

#[test]
fn validate_field_type() {
    let types = |names: &[&str]| -> Vec<FieldType> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    };
    let check = |value: &str, names: &[&str]| {
        validator().validate_field_type("id", value.as_bytes(), &types(names))
    };
    check("123", &["integer"]).unwrap();
    check("\"abc\"", &["binary", "integer"]).unwrap();
    for (value, name) in [
        ("\"a\"", "binary"),
        ("1", "integer"),
        ("1.5", "number"),
        ("true", "boolean"),
        ("{}", "map"),
        ("[]", "array"),
        ("null", "any"),
    ] {
        check(value, &[name]).unwrap();
    }
    let text = br#""not a number""#;
    let answer = validator().validate_field_type("count", text, &[FieldType::Integer]);
    refused(answer, "type_mismatch");
}

#[test]
fn validate_required_fields() {
    let message = br#"{"jsonrpc":"2.0","method":"ping"}"#;
    let fields = ["jsonrpc", "method", "params"];
    let error =
        refused(validator().validate_required_fields(message, &fields), "missing_required_fields");
    assert_eq!(error.details, Details::Missing(vec!["params".to_owned()]));
}

#[test]
fn format_of_a_validation_error() {
    let error = ValidationError::new(Reason::InvalidMethod).with("method", "bad");
    assert_eq!(format_validation_error(&error), "invalid_method: method=bad");
    let error = error.with("id", "7");
    assert_eq!(format_validation_error(&error), "invalid_method: method=bad, id=7");
    assert_eq!(error.to_string(), "invalid_method: method=bad, id=7");
}

proptest! {
    #[test]
    fn every_code_of_the_ranges_is_ok_and_every_other_is_refused(code: i32, near in -33_000_i64..2_000) {
        for code in [i64::from(code), near] {
            let allowed = [(-32_700, -32_600), (-32_113, -32_000), (1001, 1089)];
            let expected = allowed.iter().any(|(low, high)| (*low..=*high).contains(&code));
            prop_assert_eq!(validator().validate_error_code(code).is_ok(), expected, "{}", code);
        }
    }

    #[test]
    fn any_integer_and_any_string_is_the_id_of_a_response(number: i64, text: String) {
        for id in [number.to_string(), serde_json::to_string(&text).unwrap(), "null".to_owned()] {
            prop_assert!(validator().validate_response(id.as_bytes(), b"{}").is_ok(), "{}", id);
        }
    }
}

#[test]
fn every_code_of_the_ranges_is_ok() {
    for code in (-32_700..=-32_600).chain(-32_113..=-32_000).chain(1001..=1089) {
        validator().validate_error_code(code).unwrap();
    }
}
