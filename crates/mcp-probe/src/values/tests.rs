use std::collections::BTreeSet;

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::json;

use super::{hostile::HostileKind, *};
use crate::Seed;

const MOST: usize = 40;

fn values(schema: &Value) -> Values {
    Values::of(schema, Revision::LATEST).unwrap_or_else(|| panic!("{schema}"))
}

fn random() -> Random {
    Seed::new(1).stream("values")
}

#[track_caller]
fn least(schema: Value, expected: Value) {
    let made = values(&schema).least(&mut random()).unwrap_or_default();
    assert_eq!((made, schema.clone()), (expected, schema));
}

#[test]
fn the_least_value_has_what_is_required() {
    least(json!({ "type": "object" }), json!({}));
    least(
        json!({ "required": ["a"], "properties": { "a": { "type": "integer" }, "b": {} } }),
        json!({ "a": 1 }),
    );
    least(json!({ "type": "string", "minLength": 7 }), json!("plumbpl"));
    least(
        json!({ "type": "string", "format": "uuid" }),
        json!("123e4567-e89b-42d3-a456-426614174000"),
    );
    least(json!({ "type": "array", "minItems": 2, "items": { "const": 7 } }), json!([7, 7]));
    least(json!({ "enum": ["x", "y"], "default": "y" }), json!("y"));
    least(json!({ "pattern": "^v[0-9]{2}$" }), json!("v00"));
    least(json!({ "type": ["null", "integer"], "maximum": -2 }), json!(-2));
    least(json!({ "type": "string", "examples": ["good"] }), json!("good"));
}

#[test]
fn alternatives_and_references_are_followed() {
    least(
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [false, { "const": 5 }] } } }),
        json!(5),
    );
    least(
        json!({ "allOf": [{ "minimum": 3 }, { "maximum": 3 }, { "type": "integer" }] }),
        json!(3),
    );
    let discriminated = json!({ "type": "object", "required": ["kind"], "oneOf": [
        { "properties": { "kind": { "const": "a" }, "n": { "type": "integer" } }, "required": ["n"] },
        { "properties": { "kind": { "const": "b" } } },
    ] });
    least(discriminated, json!({ "kind": "a", "n": 1 }));
    let conditional = json!({
        "properties": { "unit": { "enum": ["m", "s"] }, "n": { "type": "integer" } },
        "required": ["unit"],
        "if": { "properties": { "unit": { "const": "m" } } },
        "then": { "required": ["n"] },
    });
    least(conditional, json!({ "n": 1, "unit": "m" }));
    let tree = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "children": { "items": { "$ref": "#" } } },
        "required": ["name"],
    });
    least(tree, json!({ "name": "plumb" }));
    least(
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "array",
            "items": [{ "type": "integer" }, { "type": "boolean" }], "additionalItems": false,
            "minItems": 2 }),
        json!([1, false]),
    );
}

#[test]
fn valid_values_cover_the_edges() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": { "enum": ["Lisbon", "Oslo"] },
            "days": { "type": "integer", "minimum": 1, "maximum": 7 },
            "name": { "type": "string", "minLength": 1, "maxLength": 3 },
            "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 3 },
        },
        "required": ["city"],
        "additionalProperties": false,
    });
    let found = values(&schema).valid(&mut random(), MOST);
    let has = |pointer: &str, value: Value| {
        found.iter().any(|valid| valid.value.pointer(pointer) == Some(&value))
    };
    for (pointer, value) in [
        ("/city", json!("Oslo")),
        ("/days", json!(1)),
        ("/days", json!(7)),
        ("/name", json!("p")),
        ("/name", json!("plu")),
        ("/tags", json!([])),
        ("/tags", json!(["plumb", "plumb", "plumb"])),
    ] {
        assert!(has(pointer, value.clone()), "{pointer} {value}");
    }
    assert_eq!(found[0], Valid { value: json!({ "city": "Lisbon" }), reason: Reason::Least });
    for optional in ["/days", "/name", "/tags"] {
        let reason = Reason::Without(optional.to_owned());
        let without = found.iter().find(|valid| valid.reason == reason).map(|valid| &valid.value);
        assert_eq!(without.and_then(Value::as_object).map(serde_json::Map::len), Some(3));
    }
}

#[test]
fn each_constraint_is_broken_by_itself() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": { "enum": ["Lisbon", "Oslo"] },
            "days": { "type": "integer", "minimum": 1, "exclusiveMaximum": 8, "multipleOf": 2 },
            "name": { "type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$" },
            "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 3,
                "uniqueItems": true },
            "place": { "type": "object", "properties": { "x": { "type": "number" } },
                "required": ["x"] },
            "fixed": { "const": 1 },
        },
        "required": ["city"],
        "additionalProperties": false,
    });
    let values = values(&schema);
    let base = values.full(&mut random()).unwrap_or_default();
    let broken = values.broken(&base, 100);
    let found: BTreeSet<(&str, &str)> =
        broken.iter().map(|broken| (broken.pointer.as_str(), broken.keyword)).collect();
    for expected in [
        ("/city", "required"),
        ("/city", "enum"),
        ("/days", "type"),
        ("/days", "minimum"),
        ("/days", "exclusiveMaximum"),
        ("/days", "multipleOf"),
        ("/name", "minLength"),
        ("/name", "maxLength"),
        ("/name", "pattern"),
        ("/tags", "type"),
        ("/tags", "minItems"),
        ("/tags", "maxItems"),
        ("/tags", "uniqueItems"),
        ("/tags/0", "type"),
        ("/place/x", "required"),
        ("/fixed", "const"),
        ("/plumb_extra", "additionalProperties"),
    ] {
        assert!(found.contains(&expected), "{expected:?}: {found:?}");
    }
    let fractions = broken.iter().filter(|broken| {
        broken.after.as_ref().and_then(Value::as_f64).is_some_and(|number| number.fract() != 0.0)
    });
    let fractions: Vec<&str> = fractions.map(|broken| broken.pointer.as_str()).collect();
    assert!(fractions.contains(&"/days"), "an integer is no fraction: {fractions:?}");
    assert!(!fractions.contains(&"/place/x"), "a number may be one: {fractions:?}");
    let few = values.broken(&base, 8);
    let keywords: BTreeSet<&str> = few.iter().map(|broken| broken.keyword).collect();
    assert_eq!(keywords.len(), 8, "each keyword comes once before one comes twice");
    let missing = broken.iter().find(|broken| broken.pointer == "/city" && broken.after.is_none());
    assert_eq!(missing.and_then(|broken| broken.before.clone()), Some(json!("Lisbon")));
}

#[test]
fn formats_are_not_broken_as_nobody_need_assert_them() {
    let schema =
        json!({ "type": "object", "properties": { "a": { "type": "string", "format": "date" } } });
    let base = json!({ "a": "2024-02-29" });
    let keywords: Vec<&str> =
        values(&schema).broken(&base, 10).iter().map(|broken| broken.keyword).collect();
    assert_eq!(keywords, ["type", "type"]);
}

#[test]
fn hostile_values_go_where_they_fit() {
    let schema = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string" },
            "kind": { "enum": ["a"] },
            "short": { "type": "string", "maxLength": 30 },
            "n": { "type": "integer" },
        },
    });
    let base = json!({ "text": "x", "kind": "a", "short": "y", "n": 1 });
    let found = values(&schema).hostile(&base, 100);
    let of = |kind| found.iter().find(|hostile| hostile.kind == kind);
    let nul = of(HostileKind::Nul).map(|hostile| hostile.value.clone()).unwrap_or_default();
    assert_eq!(
        nul,
        json!({ "text": "plumb\0plumb", "kind": "a", "short": "plumb\0plumb", "n": 1 })
    );
    let long = of(HostileKind::Long).map(|hostile| hostile.pointers.clone());
    assert_eq!(long, Some(vec!["/text".to_owned()]));
    let large = of(HostileKind::BeyondDouble).map(|hostile| hostile.value["n"].clone());
    assert_eq!(large, Some(json!(9_007_199_254_740_993_i64)));
    assert!(of(HostileKind::ExtraMembers).is_some());
}

#[test]
fn a_schema_of_either_dialect_is_kept_to_in_both() {
    let schema = json!({ "type": "object", "properties": {
        "a": { "$ref": "#/definitions/a", "minLength": 3 } },
        "definitions": { "a": { "type": "string" } }, "required": ["a"] });
    let values = Values::of(&schema, Revision::V2025_06_18).unwrap();
    assert!(values.valid(&mut random(), MOST).iter().all(|valid| values.accepts(&valid.value)));
    let base = values.full(&mut random()).unwrap_or_default();
    let keywords: BTreeSet<&str> =
        values.broken(&base, MOST).iter().map(|broken| broken.keyword).collect();
    assert!(!keywords.contains("minLength"), "draft-07 ignores it: {keywords:?}");
}

#[test]
fn hostile_schemas_are_given_up_soon() {
    let huge: Vec<Value> = (0..50_000).map(|n| json!(format!("option {n}"))).collect();
    let wide: serde_json::Map<String, Value> =
        (0..5_000).map(|n| (format!("p{n}"), json!({ "type": "string" }))).collect();
    let doubling = |n: usize| {
        json!({ "anyOf": [
        { "$ref": format!("#/$defs/d{}", n + 1) }, { "$ref": format!("#/$defs/d{}", n + 1) }] })
    };
    let mut chain: serde_json::Map<String, Value> =
        (0..30).map(|n| (format!("d{n}"), doubling(n))).collect();
    chain.insert("d30".into(), json!({ "type": "integer" }));
    for schema in [
        json!({ "type": "array", "minItems": 1_000_000_000_u64 }),
        json!({ "type": "string", "minLength": 1_000_000_000_u64 }),
        json!({ "type": "object", "minProperties": 1_000_000_000_u64 }),
        json!({ "type": "object", "required": ["a"], "properties": { "a": { "$ref": "#" } } }),
        json!({ "type": "array", "minItems": 100, "items": { "$ref": "#" } }),
        json!({ "type": "array", "minItems": 500, "items": { "type": "array", "minItems": 500 } }),
        json!({ "not": {} }),
        json!({ "type": "array", "uniqueItems": true, "minItems": 3, "items": { "type": "boolean" } }),
        json!({ "type": "string", "pattern": "^(a{500}){500}$" }),
        json!({ "allOf": [{ "type": "string" }, { "type": "integer" }] }),
    ] {
        let Some(values) = Values::of(&schema, Revision::LATEST) else { continue };
        assert_eq!(values.valid(&mut random(), MOST), [], "{schema}");
    }
    for schema in [
        json!({ "enum": huge }),
        json!({ "type": "object", "properties": wide }),
        json!({ "$defs": chain, "$ref": "#/$defs/d0" }),
        json!({ "type": "array", "items": { "$ref": "#" } }),
        json!({ "type": "object", "additionalProperties": { "$ref": "#" }, "minProperties": 1,
            "maxProperties": 3, "properties": { "end": { "const": 1 } } }),
    ] {
        let values = values(&schema);
        let found = values.valid(&mut random(), MOST);
        assert!(!found.is_empty());
        assert!(found.len() <= MOST);
        let base = &found[0].value;
        let size = |value: &Value| value.to_string().len();
        assert!(found.iter().all(|valid| size(&valid.value) < 512 << 10));
        assert!(values.broken(base, MOST).len() <= MOST);
        assert!(values.hostile(base, MOST).iter().all(|h| size(&h.value) < 2 << 20));
    }
}

#[test]
fn unusable_schemas_have_no_values() {
    for schema in [json!({ "type": "nonsense" }), json!({ "$ref": "#/$defs/none" }), json!(7)] {
        assert!(Values::of(&schema, Revision::LATEST).is_none(), "{schema}");
    }
    let lost = |schema: Value| Values::lost_reference(&schema);
    assert_eq!(
        lost(json!({ "$ref": "#/$defs/none" })).as_deref(),
        Some("`#/$defs/none` does not resolve")
    );
    assert!(lost(json!({ "$ref": "#" })).is_some());
    assert_eq!(lost(json!({ "$ref": "https://example.com/x" })), None);
    assert_eq!(lost(json!({ "type": "nonsense" })), None);
    assert_eq!(lost(json!({ "type": "object" })), None);
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!({ "type": "boolean" })),
        Just(json!({ "type": "null" })),
        (0..5_u64, 0..5_u64).prop_map(|(min, more)| {
            json!({ "type": "string", "minLength": min, "maxLength": min + more })
        }),
        (-5..5_i64, 0..9_i64).prop_map(
            |(min, more)| json!({ "type": "integer", "minimum": min, "maximum": min + more })
        ),
        (-5..5_i64).prop_map(|low| json!({ "type": "number", "exclusiveMinimum": low })),
        (1..9_u64).prop_map(|step| json!({ "type": "integer", "multipleOf": step })),
        select(vec!["date", "uuid", "email", "uri", "unheard-of"])
            .prop_map(|format| json!({ "type": "string", "format": format })),
        select(vec!["^[a-z]+$", "^\\d{3}-\\d{4}$", "^(a|b)*c?$", "x", "^\\S+@\\S+$"])
            .prop_map(|pattern| json!({ "type": "string", "pattern": pattern })),
        vec(0..9_i64, 1..4).prop_map(|options| {
            let options: BTreeSet<i64> = options.into_iter().collect();
            json!({ "enum": options })
        }),
        Just(json!({ "const": { "a": [1, null] } })),
        Just(json!({ "$ref": "#/$defs/shared" })),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let nested = leaf().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (vec(inner.clone(), 0..4), any::<u8>(), any::<bool>()).prop_map(
                |(schemas, required, closed)| {
                    let name = |index: usize| format!("m{index}");
                    let required: Vec<String> = (0..schemas.len())
                        .filter(|index| required & (1 << index) != 0)
                        .map(name)
                        .collect();
                    let properties: serde_json::Map<String, Value> =
                        schemas.into_iter().enumerate().map(|(i, s)| (name(i), s)).collect();
                    json!({ "type": "object", "properties": properties, "required": required,
                        "additionalProperties": !closed })
                }
            ),
            (inner.clone(), 0..3_u64, 0..3_u64).prop_map(|(items, min, more)| {
                json!({ "type": "array", "items": items, "minItems": min, "maxItems": min + more })
            }),
            vec(inner.clone(), 1..3).prop_map(|choices| json!({ "anyOf": choices })),
            vec(inner.clone(), 1..3).prop_map(|choices| json!({ "oneOf": choices })),
            vec(inner, 1..3).prop_map(|parts| json!({ "allOf": parts })),
        ]
    });
    nested.prop_map(|inner| {
        json!({ "type": "object", "properties": { "value": inner },
            "$defs": { "shared": { "type": "string", "minLength": 2 } } })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_made_is_what_it_says(schema in schema(), seed: u64) {
        let Some(values) = Values::of(&schema, Revision::LATEST) else { return Ok(()) };
        let mut random = Seed::new(seed).stream("x");
        let valid = values.valid(&mut random, 20);
        // An empty object always fits.
        prop_assert!(!valid.is_empty());
        let oracle = jsonschema_says(&schema);
        for valid in &valid {
            prop_assert!(oracle(&valid.value), "{} {}", schema, valid.value);
        }
        let any = values.any(&mut random);
        prop_assert!(any.is_none_or(|value| oracle(&value)));
        let base = values.full(&mut random).unwrap_or_else(|| json!({}));
        for broken in values.broken(&base, 20) {
            prop_assert!(!oracle(&broken.value), "{} {:?}", schema, broken);
            let before = base.pointer(&broken.pointer);
            prop_assert_eq!(before, broken.before.as_ref());
            prop_assert_eq!(broken.value.pointer(&broken.pointer), broken.after.as_ref());
        }
        for hostile in values.hostile(&base, 20) {
            prop_assert!(oracle(&hostile.value), "{} {:?}", schema, hostile.kind);
        }
    }

    #[test]
    fn the_same_stream_gives_the_same_values(schema in schema(), seed: u64) {
        let Some(values) = Values::of(&schema, Revision::LATEST) else { return Ok(()) };
        let make = || values.valid(&mut Seed::new(seed).stream("x"), 20);
        prop_assert_eq!(make(), make());
    }
}

/// The verdict of another validator.
fn jsonschema_says(schema: &Value) -> impl Fn(&Value) -> bool {
    let validator = jsonschema::draft202012::new(schema).unwrap();
    move |value| validator.is_valid(value)
}
