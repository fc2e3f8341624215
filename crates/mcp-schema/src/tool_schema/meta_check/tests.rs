use mcp_json::{Limits, Tape};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::tool_schema::{
    Dialect, ToolSchema, ToolSchemaError, ToolSchemaLimits, is_plainly_valid,
};

const LIMITS: ToolSchemaLimits = ToolSchemaLimits { max_bytes: 10_000, max_depth: 12 };

/// Whether the schema passes without being compiled.
fn passes(schema: &Value, default: Dialect) -> bool {
    with_node(schema, |node| is_plainly_valid(node, default, LIMITS))
}

/// The error from compiling it, if the author of the schema is to blame.
fn fault(schema: &Value, default: Dialect) -> Option<ToolSchemaError> {
    let error = with_node(schema, |node| ToolSchema::compile(node, default, LIMITS)).err()?;
    let blames = match &error {
        // At `#`: the schema fits the meta-schema but cannot be compiled.
        ToolSchemaError::Invalid { violations } => {
            violations.iter().any(|violation| violation.schema_path != "#")
        }
        ToolSchemaError::DanglingRef { .. }
        | ToolSchemaError::Reference { .. }
        | ToolSchemaError::EndlessRef { .. }
        | ToolSchemaError::TooIntricate { .. }
        | ToolSchemaError::CostlyPatterns { .. } => false,
        _ => true,
    };
    blames.then_some(error)
}

fn with_node<T>(schema: &Value, ask: impl FnOnce(mcp_json::Node<'_>) -> T) -> T {
    let text = schema.to_string();
    let mut tape = Tape::new();
    ask(tape.parse(text.as_bytes(), Limits::default()).unwrap().root())
}

/// Schemas as people write them.
fn usual() -> impl Strategy<Value = Value> {
    schema(usual_value, 0)
}

/// Schemas with anything anywhere.
fn spoilt() -> impl Strategy<Value = Value> {
    schema(any_value, 3)
}

/// A keyword that takes this shape of value.
const KEYWORDS: &[(&str, &str)] = &[
    ("additionalItems", "schema"),
    ("additionalProperties", "schema"),
    ("contains", "schema"),
    ("contentSchema", "schema"),
    ("else", "schema"),
    ("if", "schema"),
    ("items", "schema"),
    ("not", "schema"),
    ("propertyNames", "schema"),
    ("then", "schema"),
    ("unevaluatedItems", "schema"),
    ("unevaluatedProperties", "schema"),
    ("allOf", "schemas"),
    ("anyOf", "schemas"),
    ("oneOf", "schemas"),
    ("prefixItems", "schemas"),
    ("$defs", "map"),
    ("definitions", "map"),
    ("dependencies", "map"),
    ("dependentSchemas", "map"),
    ("patternProperties", "map"),
    ("properties", "map"),
    ("dependentRequired", "names map"),
    ("required", "names"),
    ("type", "type"),
    ("$comment", "text"),
    ("contentEncoding", "text"),
    ("contentMediaType", "text"),
    ("description", "text"),
    ("format", "text"),
    ("title", "text"),
    ("pattern", "text"),
    ("deprecated", "boolean"),
    ("readOnly", "boolean"),
    ("uniqueItems", "boolean"),
    ("writeOnly", "boolean"),
    ("exclusiveMaximum", "number"),
    ("exclusiveMinimum", "number"),
    ("maximum", "number"),
    ("minimum", "number"),
    ("multipleOf", "count"),
    ("maxContains", "count"),
    ("maxItems", "count"),
    ("maxLength", "count"),
    ("maxProperties", "count"),
    ("minContains", "count"),
    ("minItems", "count"),
    ("minLength", "count"),
    ("minProperties", "count"),
    ("const", "data"),
    ("default", "data"),
    ("x-unknown", "data"),
    ("enum", "list"),
    ("examples", "list"),
    ("$ref", "reference"),
    ("$dynamicRef", "reference"),
    ("$id", "url"),
    ("$anchor", "anchor"),
    ("$dynamicAnchor", "anchor"),
];

type Values = fn(&'static str, BoxedStrategy<Value>) -> BoxedStrategy<Value>;

fn schema(values: Values, odd: u32) -> impl Strategy<Value = Value> {
    let keyword = move |inner: BoxedStrategy<Value>| {
        prop::sample::select(KEYWORDS).prop_flat_map(move |(keyword, shape)| {
            let name = prop_oneof![
                20 => Just(keyword.to_owned()),
                odd => prop::sample::select(vec!["$recursiveRef", "$recursiveAnchor", "$vocabulary",
                    "$schema", "id"]).prop_map(str::to_owned),
            ];
            (name, values(shape, inner.clone()))
        })
    };
    let leaf = prop_oneof![Just(json!({})), any::<bool>().prop_map(Value::Bool)].boxed();
    let inner = leaf.prop_recursive(3, 24, 4, move |inner| {
        prop::collection::vec(keyword(inner.boxed()), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
    });
    prop::collection::vec(keyword(inner.boxed()), 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
}

fn usual_value(shape: &'static str, schema: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let names = || {
        prop::sample::subsequence(vec!["a", "b", "$ref", "ü"], 0..4).prop_map(|names| json!(names))
    };
    let key = prop::sample::select(vec!["a", "b c", "$ref", "type", "^x-", "ü"]);
    match shape {
        "schema" => schema,
        "schemas" => prop::collection::vec(schema, 1..3).prop_map(Value::Array).boxed(),
        "map" => prop::collection::vec((key.prop_map(str::to_owned), schema), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
            .boxed(),
        "names map" => names().prop_map(|names| json!({ "a": names })).boxed(),
        "names" => names().boxed(),
        "type" => prop::sample::select(vec![
            json!("object"),
            json!("null"),
            json!(["string", "null"]),
            json!(["integer", "boolean", "array"]),
        ])
        .boxed(),
        "text" => prop::sample::select(vec!["", "date", "^[a-z]{1,3}$", "(?=x)y", "\\d+"])
            .prop_map(|text| json!(text))
            .boxed(),
        "boolean" => any::<bool>().prop_map(Value::Bool).boxed(),
        "number" => prop::sample::select(vec![json!(0), json!(-1.5), json!(1e300)]).boxed(),
        "count" => prop::sample::select(vec![json!(1), json!(7), json!(u64::MAX)]).boxed(),
        "list" => {
            prop::sample::select(vec![json!([]), json!([1, "a", null]), json!([{}, [[]]])]).boxed()
        }
        "reference" => prop::sample::select(vec![
            "#",
            "#/$defs/a",
            "#/properties/b~1c",
            "#anchor",
            "#/nothing",
        ])
        .prop_map(|text| json!(text))
        .boxed(),
        "url" => prop::sample::select(vec!["https://example.com/a-b/c.json", "http://a.test/x#"])
            .prop_map(|text| json!(text))
            .boxed(),
        "anchor" => Just(json!("a-1")).boxed(),
        _ => {
            prop::sample::select(vec![json!(null), json!({"type": 7}), json!([{"a": []}])]).boxed()
        }
    }
}

fn any_value(shape: &'static str, schema: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let odd = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(2.0),
        json!(1.5),
        json!(1e-320),
        json!(""),
        json!("("),
        json!("a#b"),
        json!("%zz"),
        json!("string"),
        json!("nonsense"),
        json!("ä ö"),
        json!("#/a b"),
        json!("#/%zz"),
        json!("other.json"),
        json!("http://json-schema.org/draft-07/schema#"),
        json!("//json-schema.org/draft-07/schema#"),
        json!("https://example.com/other#/x"),
        json!([]),
        json!([[]]),
        json!(["a", "a"]),
        json!(["string", "string"]),
        json!([1]),
        json!([{}, 1]),
        json!({}),
        json!({"a": 1}),
        json!({"(": {}}),
        json!({"a": ["b", "b"]}),
        json!({"$ref": "https://example.com/other"}),
        json!({"a": {"$ref": 7}}),
        json!({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {"j": {"k": {"l": 1}}}}}}}}}}}}),
    ]);
    prop_oneof![3 => usual_value(shape, schema), 1 => odd].boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn what_passes_has_no_fault(
        schema in spoilt(),
        dialect in prop::sample::select(&Dialect::ALL[..]),
    ) {
        if passes(&schema, dialect) {
            prop_assert_eq!(fault(&schema, dialect), None, "{} {}", dialect, schema);
        }
    }

    #[test]
    fn what_is_usual_passes_exactly_if_it_has_no_fault(
        schema in usual(),
        dialect in prop::sample::select(&Dialect::ALL[1..]),
    ) {
        // An older draft does not object to keywords it does not know; here they are held to later
        // drafts.
        let stricter = dialect < Dialect::Draft202012;
        let (passes, fault) = (passes(&schema, dialect), fault(&schema, dialect));
        prop_assert!(passes == fault.is_none() || (stricter && !passes), "{} {}: {:?}", dialect, schema, fault);
    }
}

#[track_caller]
fn check(schema: &Value, expected: bool) {
    assert_eq!(passes(schema, Dialect::default()), expected, "{schema}");
    if expected {
        assert_eq!(fault(schema, Dialect::default()), None, "{schema}");
    }
}

#[test]
fn what_compilers_of_schemas_emit_passes() {
    check(&json!({"type": "object"}), true);
    // In the style of `zod`, `pydantic` and `schemars`.
    check(
        &json!({"type": "object", "properties": {"a": {"type": "string", "format": "uri", "pattern": "^x"}},
            "required": ["a"], "additionalProperties": false,
            "$schema": "http://json-schema.org/draft-07/schema#"}),
        true,
    );
    check(
        &json!({"$defs": {"Unit": {"enum": ["C", "F"], "title": "Unit", "type": "string"}},
            "properties": {"unit": {"$ref": "#/$defs/Unit", "default": "C"},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}},
            "title": "args", "type": "object"}),
        true,
    );
    check(
        &json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Args",
            "type": "object", "properties": {"n": {"type": ["integer", "null"], "format": "int32",
            "minimum": 0}}}),
        true,
    );
}

#[test]
fn what_is_wrong_or_unusual_is_left_to_the_compiler() {
    for schema in [
        json!({"type": "nonsense"}),
        json!({"type": []}),
        json!({"required": ["a", "a"]}),
        json!({"properties": []}),
        json!({"items": [{}]}),
        json!({"minLength": -1}),
        json!({"minLength": -0.0}),
        json!({"$ref": "https://example.com/x"}),
        json!({"default": {"$ref": "https://example.com/x"}}),
        json!({"$schema": "https://example.com/dialect"}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "("}),
        json!({"$schema": "http://json-schema.org/draft-04/schema#"}),
        json!([]),
        json!(true),
    ] {
        check(&schema, false);
    }
}

#[test]
fn expressions_need_only_be_some_up_to_draft_7() {
    let schema = json!({"pattern": "("});
    assert!(
        passes(&schema, Dialect::Draft202012) && fault(&schema, Dialect::Draft202012).is_none()
    );
    assert!(!passes(&schema, Dialect::Draft7) && fault(&schema, Dialect::Draft7).is_some());
}

#[test]
fn limits_are_those_of_the_compiler() {
    let nested = |levels| (0..levels).fold(json!({}), |schema, _| json!({ "not": schema }));
    for levels in [11, 12, 13] {
        let schema = nested(levels);
        assert_eq!(
            passes(&schema, Dialect::default()),
            fault(&schema, Dialect::default()).is_none()
        );
    }
    check(&json!({"description": "x".repeat(LIMITS.max_bytes)}), false);
}
