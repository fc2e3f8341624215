//! Holding values to a schema that a peer has stated, without ever being wrong about it.

use std::sync::Arc;

use mcp_core::{Revision, Revisions};
use mcp_json::{Limits, Node, Span, Tape};
use mcp_jsonrpc::ErrorCode;
use mcp_schema::{Dialect, ToolSchema, ToolSchemas, Violation};

use crate::{RuleMeta, findings::Fault, violation::violation_fault};

/// Where the specification says in which dialect a schema without `$schema` is written.
const WITH_DIALECT: Revisions = Revisions::from(Revision::V2025_11_25);
/// How many violations of one message are reported.
const SHOWN: usize = 10;
/// Keywords whose verdict may depend on what an expression matches somewhere below them.
const CONDITIONAL: [&str; 13] = [
    "pattern",
    "patternProperties",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "anyOf",
    "oneOf",
    "not",
    "contains",
    "then",
    "else",
    "$ref",
];
/// Keywords whose members have names of the author's choice.
const MAPS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// A schema that a peer can be held to, in each dialect it may be written in. Both the rules and the
/// contracts of live tools judge by it, so that the two never disagree.
///
/// Up to 2025-06-18 the specification does not say in which dialect a schema without `$schema` is
/// written; a value that fits either 2020-12 or draft-07 keeps such a contract.
#[derive(Debug, Clone, Default)]
pub struct SchemaContract {
    /// Empty if it cannot be judged by: invalid, too large, of an unknown dialect, referring to other
    /// documents.
    readings: Vec<Arc<ToolSchema>>,
}

impl SchemaContract {
    /// One that nobody can be held to.
    pub(crate) const fn none() -> SchemaContract {
        SchemaContract { readings: Vec::new() }
    }

    /// Reads a schema that was stated in `revision`.
    pub fn read(schemas: &ToolSchemas, schema: Node<'_>, revision: Revision) -> SchemaContract {
        let assumed = schema.get("$schema").is_none() && !WITH_DIALECT.contains(revision);
        let older = assumed.then_some(Dialect::Draft7);
        let readings = std::iter::once(Dialect::default())
            .chain(older)
            .filter_map(|dialect| schemas.compile_as(schema, dialect).ok())
            .collect();
        SchemaContract { readings }
    }

    /// Whether `value` keeps it in any of its readings.
    pub fn accepts(&self, value: Node<'_>) -> bool {
        self.readings.iter().any(|reading| reading.accepts(value))
    }

    /// Everything that is wrong with `value`, as `ajv` 8 lists it; empty if it is accepted. Also lists
    /// what may rest on a guess, such as an expression that takes too long: what enforces a contract
    /// does not let pass what it could not judge.
    pub fn violations(&self, value: Node<'_>) -> Vec<Violation> {
        if self.accepts(value) {
            return Vec::new();
        }
        self.readings.first().map(|reading| reading.violations(value)).unwrap_or_default()
    }

    /// Why `value` surely breaks it; empty if it fits, or if that cannot be told.
    pub(crate) fn breaches(&self, value: Node<'_>) -> Vec<Violation> {
        if self.accepts(value) {
            return Vec::new();
        }
        let mut shown = Vec::new();
        for reading in &self.readings {
            let breaches = certain(reading, value);
            if breaches.is_empty() {
                return breaches;
            }
            if shown.is_empty() {
                shown = breaches;
            }
        }
        shown.truncate(SHOWN);
        shown
    }

    /// Why an empty object surely breaks it, where one is understood; reported at `span`.
    pub(crate) fn breaches_by_absence(&self, span: Span) -> Vec<Violation> {
        let mut tape = Tape::new();
        let Ok(nothing) = tape.parse(b"{}", Limits::default()) else {
            return Vec::new();
        };
        let mut breaches = self.breaches(nothing.root());
        for breach in &mut breaches {
            breach.span = span;
        }
        breaches
    }
}

/// The violations of `value` that do not rest on a guess.
fn certain(schema: &ToolSchema, value: Node<'_>) -> Vec<Violation> {
    let mut violations = schema.main_violations(value);
    if violations.iter().any(|violation| violation.keyword == "maxSteps") {
        return Vec::new();
    }
    // Gone since 2019-09, yet many validators still know it.
    let odd = |keyword: &str| keyword == "dependencies" && schema.dialect() > Dialect::Draft7;
    violations.retain(|violation| {
        violation.keyword != "maxViolations"
            && keywords(violation).all(|keyword| {
                !odd(keyword) && (schema.is_decisive() || !CONDITIONAL.contains(&keyword))
            })
    });
    violations
}

/// The keywords that led to a violation, from the root of the schema. Names in between are not.
fn keywords(violation: &Violation) -> impl Iterator<Item = &str> {
    let mut is_name = false;
    let steps = violation.schema_path.split('/').skip(1).filter(move |step| {
        let was_name = is_name;
        is_name = !was_name && MAPS.contains(step);
        !was_name
    });
    steps.chain([violation.keyword.as_str()])
}

/// A fault for each breach.
pub(crate) fn faults<'v>(
    rule: &'static RuleMeta,
    breaches: &'v [Violation],
    code: ErrorCode,
    help: &'static str,
) -> impl Iterator<Item = Fault> + 'v {
    breaches.iter().map(move |breach| violation_fault(rule, breach, "", Some(code)).or_help(help))
}

#[cfg(test)]
mod tests {
    use mcp_json::Document;

    use super::*;

    fn breaches(schema: &str, value: &str, revision: Revision) -> Vec<String> {
        let mut tapes = (Tape::new(), Tape::new());
        let schema: Document<'_> = tapes.0.parse(schema.as_bytes(), Limits::default()).unwrap();
        let value = tapes.1.parse(value.as_bytes(), Limits::default()).unwrap();
        let schemas = ToolSchemas::default();
        let contract = SchemaContract::read(&schemas, schema.root(), revision);
        let found = contract.breaches(value.root());
        assert!(found.is_empty() || !contract.violations(value.root()).is_empty());
        found.into_iter().map(|breach| breach.schema_path).collect()
    }

    #[track_caller]
    fn check(schema: &str, value: &str, expected: &[&str]) {
        assert_eq!(breaches(schema, value, Revision::LATEST), expected, "{schema} {value}");
    }

    #[test]
    fn plain_faults_are_certain() {
        check(r#"{"required":["a"]}"#, "{}", &["#/required"]);
        check(
            r#"{"properties":{"dependencies":{"type":"string"}}}"#,
            r#"{"dependencies":1}"#,
            &["#/properties/dependencies/type"],
        );
        check(r#"{"pattern":"^a+$"}"#, r#""b""#, &["#/pattern"]);
    }

    #[test]
    fn what_cannot_be_judged_is_left_alone() {
        check(r#"{"$schema":"https://example.com/dialect","type":"object"}"#, "1", &[]);
        check(r#"{"$ref":"https://example.com/schema"}"#, "1", &[]);
        check(r#"{"type":"nonsense"}"#, "1", &[]);
        check(r#"{"format":"date"}"#, r#""tomorrow""#, &[]);
        check(r#"{"dependencies":{"a":["b"]}}"#, r#"{"a":1}"#, &[]);
        check(r#"{"dependencies":{"a":{"required":["b"]}}}"#, r#"{"a":1}"#, &[]);
        let inner = r#"{"if":{},"then":{"dependencies":{"a":{"required":["b"]}}}}"#;
        check(inner, r#"{"a":1}"#, &[]);
    }

    #[test]
    fn expressions_that_may_give_up_decide_nothing() {
        let schema = r#"{"properties":{"a":{"pattern":"(?=x)y"},"b":{"type":"string"}}}"#;
        check(schema, r#"{"a":"z","b":1}"#, &["#/properties/b/type"]);
        check(schema, r#"{"a":"z"}"#, &[]);
        let schema = r#"{"if":{"pattern":"(?=x)y"},"else":{"minLength":5}}"#;
        check(schema, r#""z""#, &[]);
    }

    #[test]
    fn before_a_dialect_was_stated_both_readings_count() {
        let old = Revision::V2025_06_18;
        // Beside `$ref`, draft-07 ignores what 2020-12 does not.
        let schema = r##"{"$defs":{"a":{}},"$ref":"#/$defs/a","type":"string"}"##;
        assert_eq!(breaches(schema, "1", old), [""; 0]);
        assert_eq!(breaches(schema, "1", Revision::LATEST), ["#/type"]);
        let tuple = r#"{"items":[{"type":"string"}]}"#;
        assert_eq!(breaches(tuple, "[1]", old), ["#/items/0/type"]);
        assert_eq!(breaches(tuple, "[1]", Revision::LATEST), [""; 0]);
    }
}
