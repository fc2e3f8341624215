//! Properties of every schema; that the errors match `ajv` is tested in `tests/it/ajv`.

use jsonschema::Draft;
use mcp_json::{Limits, Tape};
use serde_json::{Map, Value, json};

use super::Checklist;
use crate::MAX_VIOLATIONS;
use crate::survey::{Names, Survey};
use crate::violation::Violation;

/// The violations of a value, or `None` if the schema is not supported or takes too long.
fn explain_as(schema: &Value, value: &Value, draft: Draft) -> Option<Vec<Violation>> {
    let survey = Survey::of(&Names::of(schema), "").unwrap();
    let (schema, value) = (schema.to_string(), value.to_string());
    let mut tapes = (Tape::new(), Tape::new());
    let schema = tapes.0.parse(schema.as_bytes(), Limits::default()).unwrap();
    let checklist = Checklist::compile(schema.root(), draft, survey.patterns()).ok()?;
    let value = tapes.1.parse(value.as_bytes(), Limits::default()).unwrap();
    let found = checklist.explain(value.root())?;
    for violation in &found {
        assert!(value.root().pointer(&violation.instance_path).is_some(), "{violation:?}");
    }
    Some(found)
}

fn explain(schema: &Value, value: &Value) -> Vec<Violation> {
    explain_as(schema, value, Draft::Draft202012).unwrap()
}

#[test]
fn half_understood_schemas_are_declined() {
    for schema in [
        json!({"$defs": {"a": {"$dynamicAnchor": "x"}}, "$dynamicRef": "#x"}),
        json!({"$defs": {"a": {"$id": "https://example.com/a"}}, "$ref": "https://example.com/a"}),
        json!({"$ref": "http://json-schema.org/draft-07/schema#"}),
    ] {
        assert_eq!(explain_as(&schema, &json!(1), Draft::Draft202012), None, "{schema}");
    }
    assert_eq!(explain_as(&json!({"type": "string"}), &json!(1), Draft::Draft4), None);
}

#[test]
fn long_lists_are_cut() {
    let found = explain(&json!({"items": {"type": "string"}}), &json!(vec![1; 1000]));
    assert_eq!(found.len(), MAX_VIOLATIONS + 1);
    assert_eq!(found.last().unwrap().keyword, "maxViolations");
    let found = explain(&json!({"items": {"type": "string"}}), &json!(vec![1; MAX_VIOLATIONS]));
    assert_eq!(found.len(), MAX_VIOLATIONS);
    let names: Vec<String> = (0..1000).map(|name| name.to_string()).collect();
    assert_eq!(explain(&json!({"required": names}), &json!({})).len(), MAX_VIOLATIONS + 1);
}

#[test]
fn what_is_taken_back_leaves_room_for_what_is_not() {
    let many: Vec<Value> = (0..200).map(|n| json!({"const": n})).collect();
    let schema = json!({"allOf": [{"anyOf": many}, {"type": "string"}]});
    let found = explain(&schema, &json!(199));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].keyword, "type");
    // A branch that fits after several that do not, each with more errors than are shown.
    let wide: Vec<String> = (0..100).map(|name| name.to_string()).collect();
    let schema = json!({"anyOf": [{"required": wide}, {"required": wide}, {}], "minProperties": 1});
    let found = explain(&schema, &json!({}));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn walks_that_multiply_end() {
    let mut definitions = Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({"anyOf": [next, next]}));
    }
    definitions.insert("d40".into(), json!({"type": "object"}));
    let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    assert_eq!(explain_as(&schema, &json!(1), Draft::Draft202012), None);
}

#[test]
fn deep_values_do_not_overflow() {
    let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {
        "anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/n"}}]}}});
    let mut value = json!("x");
    for _ in 0..120 {
        value = json!([value]);
    }
    let found = explain(&schema, &value);
    assert!(!found.is_empty());
}

#[test]
fn schemas_inside_each_other_end_before_the_stack_does() {
    let mut definitions = Map::new();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/$defs/d{}", (level + 1) % 30)});
        let next = if level == 29 { json!({"items": next}) } else { next };
        definitions.insert(format!("d{level}"), json!({"oneOf": [{"type": "null"}, next]}));
    }
    let mut value = json!("x");
    for _ in 0..120 {
        value = json!([value]);
    }
    let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    assert_eq!(explain_as(&schema, &value, Draft::Draft202012), None);
}

#[test]
fn wide_objects_and_schemas_take_no_more_than_their_size() {
    let wide = |value: fn() -> Value| -> Map<String, Value> {
        (0..20_000).map(|name| (format!("n{name}"), value())).collect()
    };
    let schema = json!({
        "properties": wide(|| json!({"type": "integer"})),
        "additionalProperties": false,
        "required": ["n1", "absent"],
    });
    let value = Value::Object(wide(|| json!(1)));
    let found = explain(&schema, &value);
    assert_eq!(found.len(), 1, "{found:?}");
    let references: Map<String, Value> = (0..5_000)
        .map(|name| (format!("n{name}"), json!({"$ref": format!("#/$defs/d{name}")})))
        .collect();
    let definitions: Map<String, Value> =
        (0..5_000).map(|name| (format!("d{name}"), json!({"type": "string"}))).collect();
    let schema = json!({"properties": references, "$defs": definitions});
    assert_eq!(explain(&schema, &json!({"n4999": 1})).len(), 1);
    let names: Vec<String> = (0..20_000).map(|name| format!("n{name}")).collect();
    let schema = json!({"dependentRequired": {"a": names}});
    assert_eq!(explain(&schema, &json!({"a": 1})).len(), MAX_VIOLATIONS + 1);
}

#[test]
fn long_lists_of_options_are_repeated_only_in_part() {
    let options: Vec<String> = (0..20_000).map(|n| format!("option {n}")).collect();
    let found = explain(&json!({"items": {"enum": options}}), &json!(["x", "y"]));
    assert_eq!(found.len(), 2);
    let listed = found[0].params["allowedValues"].as_array().unwrap();
    assert!(listed.len() > 1_000 && listed.len() < 10_000, "{}", listed.len());
}
