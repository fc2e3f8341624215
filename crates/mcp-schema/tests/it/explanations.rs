//! The output of `Schemas::violations` for invalid messages.

use mcp_core::Revision;
use mcp_json::{Limits, Tape};
use mcp_schema::{MAX_VIOLATIONS, Schemas, Violation, definition};
use serde_json::json;

fn violations(revision: Revision, name: &str, input: &str) -> Vec<Violation> {
    let schemas = Schemas::embedded();
    let definition = definition(revision, name).expect("a definition");
    let mut tape = Tape::new();
    let document = tape.parse(input.as_bytes(), Limits::default()).expect("valid JSON");
    let found = schemas.violations(definition, document.root());
    assert_eq!(found.is_empty(), schemas.accepts(definition, document.root()), "{input}");
    found
}

/// One line per violation: `path | keyword | params | message | bytes`.
#[track_caller]
fn check(name: &str, input: &str, expected: &[&str]) {
    check_in(Revision::V2025_11_25, name, input, expected);
}

#[track_caller]
fn check_in(revision: Revision, name: &str, input: &str, expected: &[&str]) {
    let lines: Vec<String> = violations(revision, name, input)
        .iter()
        .map(|violation| {
            format!(
                "{} | {} | {} | {} | {}",
                violation.instance_path,
                violation.keyword,
                violation.params,
                violation.message,
                &input[violation.span.start..violation.span.end],
            )
        })
        .collect();
    assert_eq!(lines, expected, "{input}");
}

#[test]
fn a_fitting_value_has_no_violations() {
    check("CallToolRequestParams", r#"{"name":"echo","arguments":{}}"#, &[]);
}

#[test]
fn types_and_missing_members_are_named() {
    check(
        "CallToolRequestParams",
        r#"{"arguments":[1]}"#,
        &[
            r#" | required | {"missingProperty":"name"} | required property "name" is missing | {"arguments":[1]}"#,
            r#"/arguments | type | {"type":"object"} | [1] is not of type "object" | [1]"#,
        ],
    );
}

#[test]
fn schema_paths_lead_through_references_into_the_document() {
    let input = r#"{"content":[{"type":"text","text":1}]}"#;
    let found = violations(Revision::V2025_11_25, "CallToolResult", input);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].schema_path, "#/$defs/TextContent/properties/text/type");
    assert_eq!(found[0].instance_path, "/content/0/text");
    assert_eq!(found[0].params, json!({"type": "string"}));
}

#[test]
fn only_the_selected_alternative_of_a_union_is_reported() {
    check(
        "CallToolResult",
        r#"{"content":[{"type":"image","data":"","mimeType":5}]}"#,
        &[r#"/content/0/mimeType | type | {"type":"string"} | 5 is not of type "string" | 5"#],
    );
}

#[test]
fn a_discriminator_that_selects_nothing_is_the_fault() {
    check(
        "CallToolResult",
        r#"{"content":[{"type":"txt","text":"x"}]}"#,
        &[concat!(
            r#"/content/0/type | enum | {"allowedValues":["text","image","audio","resource_link","resource"],"didYouMean":"text"}"#,
            r#" | "txt" is not one of "text", "image", "audio", "resource_link", "resource"; did you mean "text"? | "txt""#
        )],
    );
    check(
        "CallToolResult",
        r#"{"content":[{"text":"x"}]}"#,
        &[concat!(
            r#"/content/0 | required | {"allowedValues":["text","image","audio","resource_link","resource"],"missingProperty":"type"}"#,
            r#" | required property "type" is missing; it is one of "text", "image", "audio", "resource_link", "resource" | {"text":"x"}"#
        )],
    );
}

#[test]
fn a_value_of_no_alternatives_type_has_the_wrong_type() {
    check(
        "CallToolResult",
        r#"{"content":["x"]}"#,
        &[r#"/content/0 | type | {"type":"object"} | "x" is not of type "object" | "x""#],
    );
    check_in(
        Revision::V2024_11_05,
        "CancelledNotificationParams",
        r#"{"requestId":1.5}"#,
        &[concat!(
            r#"/requestId | type | {"type":["integer","string"]}"#,
            r#" | 1.5 is not of one of the types "integer", "string" | 1.5"#
        )],
    );
}

#[test]
fn undiscriminated_alternatives_report_what_they_agree_on() {
    check(
        "ReadResourceResult",
        r#"{"contents":[{"uri":5,"text":"x"}]}"#,
        &[r#"/contents/0/uri | type | {"type":"string"} | 5 is not of type "string" | 5"#],
    );
    check(
        "ReadResourceResult",
        r#"{"contents":[{"uri":"a:b"}]}"#,
        &[concat!(
            r#"/contents/0 | anyOf | {} | {"uri":"a:b"} fits none of 2 alternatives: "#,
            r#"required property "text" is missing; or required property "blob" is missing | {"uri":"a:b"}"#
        )],
    );
}

#[test]
fn an_alternative_with_all_its_members_is_the_one_that_was_meant() {
    check(
        "PrimitiveSchemaDefinition",
        r#"{"type":"string","minLength":"1"}"#,
        &[r#"/minLength | type | {"type":"integer"} | "1" is not of type "integer" | "1""#],
    );
    check(
        "PrimitiveSchemaDefinition",
        r#"{"type":"strin"}"#,
        &[concat!(
            r#"/type | enum | {"allowedValues":["string","integer","number","boolean","array"],"didYouMean":"string"}"#,
            r#" | "strin" is not one of "string", "integer", "number", "boolean", "array"; did you mean "string"? | "strin""#
        )],
    );
}

#[test]
fn bounds_enums_and_constants_have_parameters() {
    check(
        "Annotations",
        r#"{"audience":["users"],"priority":1.5}"#,
        &[
            concat!(
                r#"/audience/0 | enum | {"allowedValues":["assistant","user"],"didYouMean":"user"}"#,
                r#" | "users" is not one of "assistant", "user"; did you mean "user"? | "users""#
            ),
            concat!(
                r#"/priority | maximum | {"comparison":"<=","limit":1}"#,
                r#" | 1.5 is greater than the maximum of 1 | 1.5"#
            ),
        ],
    );
    check(
        "PromptReference",
        r#"{"type":"ref/promt","name":"n"}"#,
        &[concat!(
            r#"/type | const | {"allowedValue":"ref/prompt"}"#,
            r#" | "ref/promt" is not "ref/prompt" | "ref/promt""#
        )],
    );
}

#[test]
fn elicitation_modes_select_their_parameters() {
    check(
        "ElicitRequestParams",
        r#"{"mode":"url","message":"m","url":"u"}"#,
        &[concat!(
            r#" | required | {"missingProperty":"elicitationId"}"#,
            r#" | required property "elicitationId" is missing | {"mode":"url","message":"m","url":"u"}"#
        )],
    );
    // The default mode is `form`.
    check(
        "ElicitRequestParams",
        r#"{"message":"m"}"#,
        &[concat!(
            r#" | required | {"missingProperty":"requestedSchema"}"#,
            r#" | required property "requestedSchema" is missing | {"message":"m"}"#
        )],
    );
}

#[test]
fn reports_are_capped_with_a_marker() {
    let blocks = vec!["1"; 1_000_000].join(",");
    let input = format!(r#"{{"content":[{blocks}]}}"#);
    let found = violations(Revision::V2025_11_25, "CallToolResult", &input);
    assert_eq!(found.len(), MAX_VIOLATIONS + 1);
    assert_eq!(found[MAX_VIOLATIONS].keyword, "maxViolations");
    assert_eq!(found[0].instance_path, "/content/0");
    assert_eq!(found[49].instance_path, "/content/49");
}

#[test]
fn long_values_are_cut_in_messages() {
    let input = format!(r#"{{"name":["{}"]}}"#, "a".repeat(10_000));
    let found = violations(Revision::V2025_11_25, "CallToolRequestParams", &input);
    assert!(found[0].message.len() < 120, "{}", found[0].message);
}

#[test]
fn of_repeated_members_the_last_counts() {
    check("CallToolRequestParams", r#"{"name":1,"name":"echo"}"#, &[]);
    check(
        "CallToolRequestParams",
        r#"{"name":"echo","name":2}"#,
        &[r#"/name | type | {"type":"string"} | 2 is not of type "string" | 2"#],
    );
}

#[test]
fn pointers_escape_what_pointers_must() {
    let input = r#"{"messages":[],"maxTokens":1,"metadata":3,"_meta":{"a/b~c":1}}"#;
    let found = violations(Revision::V2025_11_25, "CreateMessageRequestParams", input);
    assert_eq!(found[0].instance_path, "/metadata");
    let input = r#"{"protocolVersion":"x","capabilities":{"experimental":{"a/b~c":1}},"clientInfo":{"name":"n","version":"v"}}"#;
    let found = violations(Revision::V2025_11_25, "InitializeRequestParams", input);
    assert_eq!(found[0].instance_path, "/capabilities/experimental/a~1b~0c");
}
