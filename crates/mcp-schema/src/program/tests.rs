//! Properties: a program agrees with the `jsonschema` crate, and explains exactly what it rejects.

use jsonschema::Draft;
use mcp_core::Revision;
use mcp_json::{Limits, SchemaNode, Tape};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::registry::{definitions, schema_text};
use crate::runtime::options;
use crate::survey::{Names, Survey};

fn compile(schema: &Value, pointer: &str) -> Program {
    let survey = Survey::of(&Names::of(schema), pointer).unwrap();
    Program::compile(schema, pointer, Draft::Draft202012, survey.patterns()).unwrap()
}

/// Asserts these properties for one value.
fn agree(
    program: &Program,
    validator: &jsonschema::Validator<mcp_json::TapeJson>,
    instance: &Value,
) -> Result<bool, TestCaseError> {
    let text = instance.to_string();
    let mut tape = Tape::new();
    let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
    let node = document.root();
    let expected = validator.is_valid(SchemaNode::from(node));
    let verdict = program.accepts(node);
    prop_assert_eq!(verdict == WalkOutcome::Accepted, expected, "{}", text);
    let found = program.explain(node);
    prop_assert_eq!(found.is_empty(), expected, "{} {:?}", text, found);
    for violation in &found {
        let at = node.pointer(&violation.instance_path);
        prop_assert!(at.is_some(), "{} {:?}", text, violation);
    }
    let starts: Vec<usize> = found.iter().map(|violation| violation.span.start).collect();
    prop_assert!(starts.is_sorted(), "{:?}", found);
    Ok(expected)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..4i64).prop_map(Value::from),
        (-3..4i32).prop_map(|half| json!(f64::from(half) / 2.0)),
        Just(json!(u64::MAX)),
        Just(json!(1e300)),
        "[abü]{0,4}".prop_map(Value::from),
    ]
}

fn instance() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abcd]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// One keyword with a value, as an object.
fn leaf_keywords() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("null"),
        Just("boolean"),
        Just("integer"),
        Just("number"),
        Just("string"),
        Just("array"),
        Just("object")
    ];
    prop_oneof![
        4 => name.clone().prop_map(|name| json!({ "type": name })),
        1 => prop::collection::btree_set(name, 1..3).prop_map(|names| json!({ "type": names })),
        2 => scalar().prop_map(|value| json!({ "const": value })),
        2 => prop::collection::vec(scalar(), 1..4).prop_map(|values| json!({ "enum": values })),
        1 => (-3..4i64, "m(in|ax)imum").prop_map(|(limit, word)| json!({ word: limit })),
        1 => (-3..4i32).prop_map(|half| json!({ "exclusiveMinimum": f64::from(half) / 2.0 })),
        1 => (-3..4i32).prop_map(|half| json!({ "exclusiveMaximum": f64::from(half) / 2.0 })),
        2 => (0..4u64, "(min|max)(Length|Items|Properties)")
            .prop_map(|(limit, word)| json!({ word: limit })),
        1 => "[ab]|\\^a|ü\\$".prop_map(|pattern| json!({ "pattern": pattern })),
        1 => prop::collection::btree_set("[abcd]", 0..3).prop_map(|names| json!({ "required": names })),
        1 => Just(json!({ "description": "a remark", "format": "uri", "x-own": 1 })),
    ]
}

fn merged(parts: Vec<Value>) -> Value {
    let mut keywords = Map::new();
    for part in parts {
        if let Value::Object(members) = part {
            keywords.extend(members);
        }
    }
    Value::Object(keywords)
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(json!({ "$ref": "#/$defs/shared" })),
        8 => prop::collection::vec(leaf_keywords(), 1..3).prop_map(merged),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        let keyword = prop_oneof![
            2 => prop::collection::btree_map("[abcd]", inner.clone(), 1..3)
                .prop_map(|properties| json!({ "properties": properties })),
            1 => inner.clone().prop_map(|schema| json!({ "additionalProperties": schema })),
            1 => inner.clone().prop_map(|schema| json!({ "items": schema })),
            2 => (prop::collection::vec(inner, 1..4), "(all|any|one)Of")
                .prop_map(|(schemas, word)| json!({ word: schemas })),
            1 => leaf_keywords(),
        ];
        prop::collection::vec(keyword, 1..4).prop_map(merged)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn programs_agree_with_the_other_engine(
        schema in schema(),
        shared in leaf_keywords(),
        instances in prop::collection::vec(instance(), 8),
    ) {
        // In place of the schema itself, so that it can refer to the shared one.
        let document = json!({ "$defs": { "root": schema, "shared": shared }, "$ref": "#/$defs/root" });
        let program = compile(&document, "");
        let validator = options(Draft::Draft202012).build(&document).unwrap();
        for instance in instances {
            agree(&program, &validator, &instance)?;
        }
    }
}

/// A value that fits `schema` more often than not; `dice` decides.
fn drawn(document: &Value, schema: &Value, dice: &mut dyn FnMut(u32) -> u32, depth: u32) -> Value {
    const ODD: [fn() -> Value; 6] = [
        || json!(null),
        || json!(true),
        || json!(-7),
        || json!(1.5),
        || json!("odd"),
        || json!({ "type": "txt" }),
    ];
    if dice(24) == 0 {
        return ODD[dice(6) as usize]();
    }
    let pick = |list: &Value, dice: &mut dyn FnMut(u32) -> u32| {
        let list = list.as_array().unwrap();
        list[dice(u32::try_from(list.len()).unwrap()) as usize].clone()
    };
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(&reference[1..]).unwrap();
        return drawn(document, target, dice, depth);
    }
    if !schema["const"].is_null() {
        return schema["const"].clone();
    }
    if schema["enum"].is_array() {
        return pick(&schema["enum"], dice);
    }
    if schema["anyOf"].is_array() {
        let branch = pick(&schema["anyOf"], dice);
        return drawn(document, &branch, dice, depth);
    }
    let name = match &schema["type"] {
        Value::Array(_) => pick(&schema["type"], dice),
        other => other.clone(),
    };
    match name.as_str().unwrap_or("object") {
        "null" => json!(null),
        "boolean" => json!(dice(2) == 0),
        "integer" => json!(dice(4)),
        "number" => json!(f64::from(dice(4)) / 2.0),
        "string" => json!(["", "text", "2025-11-25"][dice(3) as usize]),
        "array" => {
            (0..dice(3)).map(|_| drawn(document, &schema["items"], dice, depth + 1)).collect()
        }
        _ => {
            let mut members = Map::new();
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            for (name, property) in schema["properties"].as_object().unwrap_or(&Map::new()) {
                let wanted = required.contains(&json!(name)) && dice(16) > 0;
                if depth < 6 && (wanted || dice(3) == 0) {
                    members.insert(name.clone(), drawn(document, property, dice, depth + 1));
                }
            }
            if dice(4) == 0 && depth < 6 {
                let extra = drawn(document, &schema["additionalProperties"], dice, depth + 1);
                members.insert("extra".into(), extra);
            }
            Value::Object(members)
        }
    }
}

#[test]
fn definitions_agree_in_all_three_engines() {
    // A fixed sequence, so that failures are reproducible.
    let mut state = 0x9e37_79b9_u64;
    let mut dice = |sides: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u32::try_from((state >> 33) % u64::from(sides)).unwrap()
    };
    let (mut accepted, mut rejected) = (0, 0);
    for revision in Revision::ALL {
        let mut document: Value = serde_json::from_str(schema_text(revision)).unwrap();
        for definition in definitions(revision) {
            let pointer = format!("/$defs/{}", definition.name);
            let program = compile(&document, &pointer);
            document["$ref"] = format!("#{pointer}").into();
            let validator = options(Draft::Draft202012).build(&document).unwrap();
            document.as_object_mut().unwrap().remove("$ref");
            for _ in 0..40 {
                let schema = document.pointer(&pointer).unwrap();
                let value = drawn(&document, schema, &mut dice, 0);
                let text = value.to_string();
                let mut tape = Tape::new();
                let parsed = tape.parse(text.as_bytes(), Limits::default()).unwrap();
                let generated = definition.accepts(parsed.root());
                let agreed = agree(&program, &validator, &value);
                assert_eq!(agreed.unwrap(), generated, "{definition:?} {text}");
                if generated {
                    accepted += 1;
                } else {
                    rejected += 1;
                }
            }
        }
    }
    assert!(accepted > 1000 && rejected > 1000, "{accepted} accepted, {rejected} rejected");
}

#[test]
fn values_beyond_the_budget_are_undecided() {
    let schema =
        json!({"items": {"anyOf": (0..2000).map(|n| json!({"const": n})).collect::<Vec<_>>()}});
    let program = compile(&schema, "");
    let text = format!("[{}]", vec!["1999"; 5000].join(","));
    let mut tape = Tape::new();
    let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
    assert_eq!(program.accepts(document.root()), WalkOutcome::Undecided);
    let found = program.explain(document.root());
    assert_eq!(found.last().unwrap().keyword, "maxSteps");
}

#[test]
fn half_understood_schemas_are_declined() {
    for schema in [
        json!({"not": {}}),
        json!({"properties": {"a": {"uniqueItems": true}}}),
        json!({"enum": [[1]]}),
        json!({"const": {}}),
        json!({"items": [{}]}),
        json!({"minLength": 1.5}),
        json!({"$defs": {"a": {"$id": "x"}}, "$ref": "#/$defs/a"}),
        json!({"pattern": "(?=a)"}),
    ] {
        let survey = Survey::of(&Names::of(&schema), "").unwrap();
        let program = Program::compile(&schema, "", Draft::Draft202012, survey.patterns());
        assert!(program.is_err(), "{schema}");
    }
}
