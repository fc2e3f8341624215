//! Schema validation as middleware: `validate(message_type, bytes)` and its codes.

use mcp_core::Revision;
use mcp_rules::Validator;
use mcp_schema::{LoadedOverride, Override, Schemas, Source};

use super::{REVISION, refused};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const TICK: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const RESULT: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const ERROR: &[u8] = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#;

fn validator() -> Validator {
    Validator::new(REVISION)
}

#[test]
fn generic_names_in_every_spelling() {
    for prefix in ["", "MCP", "JSONRPC", "JsonRpc", "mcp", "Mcp"] {
        for (name, fits) in [
            ("Request", [true, false, false, false]),
            ("Notification", [false, true, false, false]),
            ("Response", [false, false, true, true]),
            ("Error", [false, false, false, true]),
            ("Message", [true, true, true, true]),
        ] {
            for (message, fits) in [PING, TICK, RESULT, ERROR].into_iter().zip(fits) {
                let answer = validator().validate(&format!("{prefix}{name}"), message);
                assert_eq!(answer.is_ok(), fits, "{prefix}{name} {answer:?}");
            }
        }
    }
    validator().validate("JSONRPCErrorResponse", ERROR).unwrap();
    validator().validate("JSONRPCResultResponse", RESULT).unwrap();
    validator().validate("Error", br#"{"code":-32601,"message":"no"}"#).unwrap();
    refused(
        validator().validate("Error", br#"{"code":-32604,"message":"no"}"#),
        "invalid_error_code",
    );
    refused(validator().validate("Error", b"{}"), "invalid_error");
    refused(validator().validate("Nothing", b"{}"), "unknown_type");
}

#[test]
fn a_method_is_a_whole_message_or_its_params() {
    let whole = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    validator().validate("tools/call", whole).unwrap();
    validator().validate("tools/call", br#"{"name":"echo"}"#).unwrap();
    validator().validate("notifications/initialized", TICK).unwrap();
    let broken = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
    refused(validator().validate("tools/call", broken), "missing_required_fields");
    refused(validator().validate("tools/call", b"{}"), "missing_required_fields");
    refused(validator().validate("tools/list", whole), "invalid_message");
    refused(validator().validate("tools/list", RESULT), "invalid_message");
    let nameless = br#"{"id":1,"method":"ping"}"#;
    refused(validator().validate("ping", nameless), "invalid_jsonrpc_version");
}

#[test]
fn official_names_of_messages_are_known() {
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    validator().validate("CallToolRequest", call).unwrap();
    validator().validate("PingRequest", PING).unwrap();
    validator().validate("InitializedNotification", TICK).unwrap();
    validator().validate("ClientRequest", call).unwrap();
    refused(validator().validate("ServerRequest", call), "invalid_message");
    refused(validator().validate("ListToolsRequest", call), "invalid_message");
    refused(validator().validate("CallToolRequest", b"{}"), "missing_method");
    let broken = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
    refused(validator().validate("CallToolRequest", broken), "missing_required_fields");
}

#[test]
fn what_is_found_deep_in_params_counts_however_long_its_path_is() {
    for length in [5, 5000] {
        let params = format!(r#"{{"_meta":{{"bad key{}":1}}}}"#, "x".repeat(length));
        let answer = validator().validate_request("ping", Some(params.as_bytes()));
        refused(answer, "invalid_message");
    }
}

#[test]
fn a_text_is_measured_without_what_is_put_around_it() {
    let mut limits = mcp_rules::Limits::default();
    (limits.message_bytes, limits.depth) = (60, 3);
    let strict = Validator::builder().revision(REVISION).limits(limits).build().unwrap();
    let params = format!(r#"{{"_meta":{{"a":["{}"]}}}}"#, "x".repeat(30));
    strict.validate_request("ping", Some(params.as_bytes())).unwrap();
    let params = format!(r#"{{"_meta":{{"a":["{}"]}}}}"#, "x".repeat(60));
    refused(strict.validate_request("ping", Some(params.as_bytes())), "parse_error");
}

#[test]
fn warnings_do_not_crowd_out_errors() {
    let mut limits = mcp_rules::Limits::default();
    limits.findings = 10;
    let validator = Validator::builder().revision(REVISION).limits(limits).build().unwrap();
    let many = r#""a":1,"#.repeat(50);
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":7,"arguments":{{{many}"b":1}}}}}}"#
    );
    refused(validator.validate_jsonrpc(message.as_bytes()), "type_mismatch");
    let report = validator.validate_message(message.as_bytes());
    assert!(!report.valid && report.errors.len() == 1, "{report:?}");
    assert_eq!(report.warnings.len(), 10);
}

#[test]
fn codes_say_what_kind_of_fault_it_is() {
    let code = |message_type: &str, text: &str| {
        validator().validate(message_type, text.as_bytes()).unwrap_err().code()
    };
    assert_eq!(code("Message", "{"), -32700);
    assert_eq!(code("tools/call", "{"), -32700);
    assert_eq!(code("Message", "7"), -32600);
    assert_eq!(code("Request", r#"{"jsonrpc":"2.0","id":1}"#), -32600);
    assert_eq!(code("Request", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#), -32600);
    assert_eq!(code("tools/call", "{}"), -32602);
    assert_eq!(code("resources/read", r#"{"uri":"no uri"}"#), -32602);
    let whole = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"no uri"}}"#;
    assert_eq!(code("resources/read", whole), -32602);
    assert_eq!(code("Message", whole), -32602);
    assert_eq!(code("Request", whole), -32602);
}

#[test]
fn an_override_reaches_the_validator() {
    let strict = br#"{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{
        "CallToolRequestParams":{"type":"object","properties":{"name":{"const":"only"}},
        "required":["name"]}}}"#;
    let given = Override { revision: Some(REVISION), source: Source::File("mine.json".into()) };
    let loaded = LoadedOverride::from_slice(strict, &given).unwrap();
    let schemas = Schemas::embedded().with_override(loaded);
    let strict = Validator::builder().revision(REVISION).schemas(schemas).build().unwrap();
    let params = Some(&br#"{"name":"echo"}"#[..]);
    validator().validate_request("tools/call", params).unwrap();
    refused(strict.validate_request("tools/call", params), "schema_violation");
    let whole = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    refused(strict.validate_jsonrpc(whole), "schema_violation");
    assert!(!strict.validate_request_message(whole).valid);
    assert_eq!(strict.revision(), Revision::V2025_11_25);
}
