use mcp_json::{Limits, Tape};
use serde_json::{Map, json};

use super::*;

fn compile(schema: &Value) -> Result<ToolSchema, ToolSchemaError> {
    let text = schema.to_string();
    let mut tape = Tape::new();
    let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
    ToolSchema::compile(document.root(), Dialect::default(), ToolSchemaLimits::default())
}

/// The messages of the main violations.
fn messages(schema: &ToolSchema, instance: &Value) -> Vec<String> {
    let text = instance.to_string();
    let mut tape = Tape::new();
    let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
    let found = schema.main_violations(document.root());
    assert_eq!(found.is_empty(), schema.accepts(document.root()), "{instance}");
    let all = schema.violations(document.root());
    assert_eq!(found.is_empty(), all.is_empty(), "{instance}");
    assert!(all.len() <= crate::MAX_VIOLATIONS + 1, "{instance}: {}", all.len());
    found.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(schema: &Value, instance: &Value, expected: &[&str]) {
    assert_eq!(messages(&compile(schema).unwrap(), instance), expected);
}

#[test]
fn a_typical_schema_runs_on_the_fast_path() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": "Arguments",
        "properties": {
            "city": {"type": "string", "minLength": 1, "maxLength": 5, "description": "Where"},
            "days": {"type": "integer", "minimum": 1, "exclusiveMaximum": 8, "default": 3},
            "unit": {"enum": ["C", "F", null]},
            "when": {"anyOf": [{"type": "string", "pattern": "^\\d{4}$"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}, "maxItems": 2},
            "where": {"type": "string", "format": "uri", "x-mcp-header": "Where"},
        },
        "required": ["city"],
        "additionalProperties": false,
        "$defs": {"Tag": {"type": "string"}},
    });
    assert!(compile(&schema).unwrap().is_program());
    check(&schema, &json!({"city": "Köln", "days": 7.0, "unit": null, "when": "2026"}), &[]);
    check(&schema, &json!({"city": "Kölnü", "where": "not a uri"}), &[]);
    check(
        &schema,
        &json!({"city": "", "days": 8, "tags": ["a", 1, "c"], "unit": "K", "when": "x", "why": 0}),
        &[
            r#"/city: "" has fewer than 1 character"#,
            "/days: 8 is not less than 8",
            r#"/tags: ["a",1,"c"] has more than 2 items"#,
            r#"/tags/1: 1 is not of type "string""#,
            r#"/unit: "K" is not one of "C", "F", null"#,
            r#"/when: "x" does not match "^\\d{4}$""#,
            r#"unexpected property "why""#,
        ],
    );
}

#[test]
fn rarer_keywords_are_left_to_the_other_engine() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "integer", "multipleOf": 5}, "b": {"uniqueItems": true}},
        "patternProperties": {"^x-": {"type": "string"}},
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
    });
    assert!(!compile(&schema).unwrap().is_program());
    check(&schema, &json!({"a": 10, "b": [1, 2]}), &[]);
    check(
        &schema,
        &json!({"a": 3, "x-y": 1}),
        &[
            "/a: 3 is not a multiple of 5",
            r#"/x-y: 1 is not of type "string""#,
            r#"required property "b" is missing"#,
        ],
    );
}

#[test]
fn both_engines_report_the_selected_alternative() {
    let branch = |name: &str| {
        json!({"type": "object", "required": ["kind"],
               "properties": {"kind": {"const": name}, "size": {"type": "integer"}}})
    };
    let mut schema = json!({"anyOf": [branch("circle"), branch("square"), {"type": "string"}]});
    let instance = json!({"kind": "square", "size": "big"});
    check(&schema, &instance, &[r#"/size: "big" is not of type "integer""#]);
    schema["unevaluatedProperties"] = true.into();
    assert!(!compile(&schema).unwrap().is_program());
    check(&schema, &instance, &[r#"/size: "big" is not of type "integer""#]);
}

#[test]
fn rarer_keywords_have_their_parameters_in_both_lists() {
    let schema = compile(&json!({
        "properties": {
            "list": {"uniqueItems": true},
            "some": {"contains": {"type": "string"}},
            "names": {"propertyNames": {"maxLength": 1}},
            "needs": {"dependentRequired": {"a": ["b"]}},
        },
    }))
    .unwrap();
    assert!(!schema.is_program());
    let text = r#"{"list":[1,1],"some":[2],"names":{"ab":1},"needs":{"a":1}}"#;
    let mut tape = Tape::new();
    let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
    for found in [schema.violations(document.root()), schema.main_violations(document.root())] {
        let params = |keyword: &str| {
            let violation = found.iter().find(|violation| violation.keyword == keyword);
            violation.map(|violation| violation.params.clone())
        };
        assert_eq!(params("uniqueItems"), Some(json!({"i": 1, "j": 0})), "{found:?}");
        assert_eq!(params("contains"), Some(json!({"minContains": 1})), "{found:?}");
    }
}

#[test]
fn violations_list_every_branch_and_then_the_union() {
    let schema = compile(&json!({"properties": {"a": {"anyOf": [
        {"type": "string"}, {"type": "null"}]}}}))
    .unwrap();
    let mut tape = Tape::new();
    let document = tape.parse(br#"{"a":1}"#, Limits::default()).unwrap();
    let found = schema.violations(document.root());
    let paths: Vec<&str> = found.iter().map(|violation| violation.schema_path.as_str()).collect();
    assert_eq!(
        paths,
        ["#/properties/a/anyOf/0/type", "#/properties/a/anyOf/1/type", "#/properties/a/anyOf"]
    );
    assert_eq!(schema.main_violations(document.root()).len(), 1);
}

#[test]
fn dialects_are_known_by_their_uri() {
    for dialect in Dialect::ALL {
        let schema = json!({"$schema": dialect.uri(), "type": "object"});
        assert_eq!(compile(&schema).unwrap().dialect(), dialect);
    }
    let unfragmented = json!({"$schema": "http://json-schema.org/draft-07/schema"});
    assert_eq!(compile(&unfragmented).unwrap().dialect(), Dialect::Draft7);
    let unknown = json!({"$schema": "https://example.com/my-dialect"});
    assert_eq!(
        compile(&unknown).unwrap_err(),
        ToolSchemaError::UnknownDialect { dialect: "https://example.com/my-dialect".into() }
    );
    // In draft 4 the bound is a number and a flag.
    let old = json!({"$schema": Dialect::Draft4.uri(), "minimum": 1, "exclusiveMinimum": true});
    assert_eq!(messages(&compile(&old).unwrap(), &json!(1)).len(), 1);
    // In draft 7 siblings of a reference are ignored.
    let beside = json!({"$schema": Dialect::Draft7.uri(), "properties": {
        "a": {"$ref": "#/definitions/s", "maxLength": 1}}, "definitions": {"s": {"type": "string"}}});
    check(&beside, &json!({"a": "long"}), &[]);
}

#[test]
fn invalid_schemas_say_where() {
    let Err(ToolSchemaError::Invalid { violations }) =
        compile(&json!({"type": "object", "properties": {"a": {"type": "int"}}, "required": "a"}))
    else {
        panic!("it is invalid");
    };
    let mut paths: Vec<&str> = violations.iter().map(|v| v.instance_path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/properties/a/type", "/required"]);

    let error = compile(&json!({"properties": {"a": {"pattern": "("}}})).unwrap_err();
    let ToolSchemaError::Invalid { violations } = &error else { panic!("{error:?}") };
    assert_eq!(violations[0].instance_path, "/properties/a/pattern");
    assert_eq!(
        error.to_string(),
        "the schema is not valid in its dialect: /properties/a/pattern: \"(\" cannot be used here"
    );
}

#[test]
fn what_is_no_object_is_no_tool_schema() {
    for schema in [json!(true), json!([]), json!("object"), json!(null)] {
        assert_eq!(compile(&schema).unwrap_err(), ToolSchemaError::NotObject);
    }
}

#[test]
fn references_out_of_the_document_are_refused() {
    for reference in [
        "https://example.com/x.json",
        "http://127.0.0.1:1/x",
        "other.json#/a",
        "file:///etc/passwd",
    ] {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": reference}}});
        assert_eq!(
            compile(&schema).unwrap_err(),
            ToolSchemaError::ExternalRef { reference: reference.into() }
        );
    }
    let dangling = json!({"$ref": "#/$defs/none"});
    assert!(matches!(compile(&dangling), Err(ToolSchemaError::DanglingRef { .. })));
}

#[test]
fn sizes_and_depths_are_limited() {
    let large = json!({"description": "x".repeat(2 << 20)});
    assert!(matches!(compile(&large), Err(ToolSchemaError::TooLarge { .. })));
    let mut deep = json!({});
    for _ in 0..50 {
        deep = json!({"items": deep});
    }
    assert!(compile(&deep).is_ok());
    for _ in 0..50 {
        deep = json!({"items": deep});
    }
    assert_eq!(compile(&deep).unwrap_err(), ToolSchemaError::TooDeep { limit: 64 });
}

#[test]
fn schemas_that_apply_themselves_are_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"$dynamicRef": "#x", "$dynamicAnchor": "x"}),
    ] {
        assert!(matches!(compile(&schema), Err(ToolSchemaError::EndlessRef { .. })), "{schema}");
    }
}

/// If `unsupported`, makes it a schema that only the other engine accepts.
fn with_unsupported(mut schema: Value, unsupported: bool) -> Value {
    if unsupported {
        schema["unevaluatedProperties"] = true.into();
    }
    schema
}

#[test]
fn a_hundred_thousand_alternatives_end() {
    for unsupported in [false, true] {
        let branches: Vec<Value> = (0..30_000).map(|n| json!({"const": n})).collect();
        let schema =
            with_unsupported(json!({"properties": {"a": {"anyOf": branches}}}), unsupported);
        let schema = compile(&schema).unwrap();
        assert_eq!(messages(&schema, &json!({"a": 29_999})), Vec::<String>::new());
        assert_eq!(messages(&schema, &json!({"a": -1})).len(), 1);
    }
    let constants: Vec<u32> = (0..100_000).collect();
    let schema = compile(&json!({"items": {"enum": constants}})).unwrap();
    assert_eq!(messages(&schema, &json!([-1])).len(), 1);
    assert_eq!(messages(&schema, &json!(vec![99_999; 1000])).len(), 1);
}

#[test]
fn doubling_all_of_ends() {
    for unsupported in [false, true] {
        let mut definitions = Map::new();
        for level in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({"allOf": [next, next]}));
        }
        definitions.insert("d40".into(), json!({"type": "object"}));
        let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        let schema = compile(&with_unsupported(schema, unsupported)).unwrap();
        let found = messages(&schema, &json!({}));
        assert_eq!(found, ["checking this value against its schema takes more steps than allowed"]);
    }
}

#[test]
fn doubling_recursion_into_a_deep_value_ends() {
    for unsupported in [false, true] {
        let branch = json!({"properties": {"a": {"$ref": "#/$defs/n"}}});
        let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {"allOf": [branch, branch]}}});
        let schema = compile(&with_unsupported(schema, unsupported)).unwrap();
        let mut deep = json!({});
        for _ in 0..100 {
            deep = json!({ "a": deep });
        }
        let found = messages(&schema, &deep);
        assert_eq!(found, ["checking this value against its schema takes more steps than allowed"]);
    }
}

#[test]
fn long_chains_of_references_end() {
    for unsupported in [false, true] {
        let mut definitions = Map::new();
        for level in 0..10_000 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({"properties": {"a": next}}));
        }
        definitions.insert("d10000".into(), json!({}));
        let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        let schema = compile(&with_unsupported(schema, unsupported)).unwrap();
        assert_eq!(messages(&schema, &json!({"a": {"a": {}}})), Vec::<String>::new());
    }
}

#[test]
fn deep_values_do_not_overflow() {
    for unsupported in [false, true] {
        let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {
            "anyOf": [{"type": "integer"}, {"$ref": "#/$defs/list"}]},
            "list": {"type": "array", "items": {"$ref": "#/$defs/n"}}}});
        let schema = compile(&with_unsupported(schema, unsupported)).unwrap();
        let text = format!("{}1{}", "[".repeat(120), "]".repeat(120));
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
        assert!(schema.accepts(document.root()));
    }
}

#[test]
fn catastrophic_patterns_end() {
    let text = "a".repeat(50_000);
    for pattern in ["^(a+)+$", "^(a|a)*$", "^(?=(a+)+b)", "^(a+)+\\1b$"] {
        let schema = compile(&json!({"pattern": pattern})).unwrap();
        let _ = messages(&schema, &json!(format!("{text}!")));
    }
    let patterns: Vec<Value> =
        (0..1_000).map(|n| json!({"pattern": format!("^\\p{{L}}{{1,{}}}$", n + 100)})).collect();
    let error = compile(&json!({"anyOf": patterns})).unwrap_err();
    assert!(matches!(error, ToolSchemaError::CostlyPatterns { .. }), "{error:?}");
}
