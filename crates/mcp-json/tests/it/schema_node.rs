//! Validators of the `jsonschema` crate that read the tape.

use jsonschema::json::{JsonNumber, Node as _, conformance};
use mcp_json::{Limits, SchemaNode, Tape, TapeJson};
use serde_json::{Value, json};

fn with<T>(input: &str, check: impl FnOnce(SchemaNode<'_>) -> T) -> T {
    let mut tape = Tape::new();
    let document = tape.parse(input.as_bytes(), Limits::default()).unwrap();
    check(document.root().into())
}

#[test]
fn nodes_keep_the_contract_of_the_crate() {
    let text = conformance::document().to_string();
    with(&text, |node| {
        conformance::assert_conformance::<TapeJson>(&node);
    });
    // Escaped spellings too.
    let text = text.replace('h', "\\u0068").replace("\"nested\"", "\"n\\u0065sted\"");
    with(&text, |node| {
        conformance::assert_conformance::<TapeJson>(&node);
    });
}

#[track_caller]
fn check(schema: &Value, input: &str, is_valid: bool) {
    let validator = jsonschema::options_for::<TapeJson>().build(schema).unwrap();
    let verdict = with(input, |node| validator.is_valid(node));
    assert_eq!(verdict, is_valid, "{schema} {input}");
    let errors = with(input, |node| {
        validator.iter_errors(node).map(|error| error.to_string()).collect::<Vec<_>>()
    });
    assert_eq!(errors.is_empty(), is_valid, "{errors:?}");
}

#[test]
fn validators_read_the_tape() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 2}, "b": {"enum": ["x", 1, [null]]}},
        "required": ["a"],
        "propertyNames": {"maxLength": 3},
    });
    check(&schema, r#"{"a":2,"b":"x"}"#, true);
    check(&schema, r#"{"a":2.0,"b":1.0}"#, true);
    check(&schema, r#"{"\u0061":2,"b":[null]}"#, true);
    check(&schema, r#"{"a":1}"#, false);
    check(&schema, r#"{"a":2.5}"#, false);
    check(&schema, r#"{"b":"x"}"#, false);
    check(&schema, r#"{"a":2,"b":"y"}"#, false);
    check(&schema, r#"{"a":2,"long":1}"#, false);
    check(&json!({"uniqueItems": true}), "[1,2,[1]]", true);
    check(&json!({"uniqueItems": true}), "[1,2,1.0]", false);
}

#[test]
fn numbers_of_any_size_are_safe() {
    for literal in ["10000000000000000001", "1e400", "-1e400", "1e-400", &"9".repeat(1000)] {
        with(literal, |node| {
            let number = node.as_number().unwrap();
            assert_eq!(number.as_str(), literal);
            assert_eq!(number.is_integer(), literal != "1e-400");
            assert_eq!(number.is_written_as_integer(), !literal.contains('e'));
            assert!(number.to_number().as_f64().is_some());
            assert!(node.to_value().is_number());
        });
        check(&json!({"type": "number"}), literal, true);
    }
    check(&json!({"type": "integer"}), "10000000000000000001", true);
    check(&json!({"type": "integer"}), "123456789012345678901234567890.5", false);
    check(&json!({"const": 10_000_000_000_000_000_001_u64}), "10000000000000000001", true);
    check(&json!({"const": 10_000_000_000_000_000_001_u64}), "10000000000000000002", false);
    check(&json!({"maximum": 5}), "1e400", false);
    check(&json!({"minimum": 5}), "1e400", true);
}
