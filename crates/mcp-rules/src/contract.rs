//! Checks values against schemas that peers provide, without false positives.

use std::sync::Arc;

use mcp_core::{Revision, Revisions};
use mcp_json::{Limits, Node, Span, Tape};
use mcp_jsonrpc::ErrorCode;
use mcp_schema::{Dialect, ToolSchema, ToolSchemas, Violation};

use crate::{RuleMeta, findings::Fault, violation::violation_fault};

/// The revisions that specify the dialect of a schema without `$schema`.
const WITH_DIALECT: Revisions = Revisions::from(Revision::V2025_11_25);
/// Maximum number of violations reported per message.
const SHOWN: usize = 10;
/// Keywords whose verdict may depend on what a regular expression below them matches.
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
/// Keywords whose members have names chosen by the author.
const MAPS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// A schema that values must match, compiled in every dialect it may be written in. Both the rules and
/// the contracts of live tools use it, so that the two never disagree.
///
/// Up to 2025-06-18 the specification does not define the dialect of a schema without `$schema`; such
/// a contract accepts values that match either 2020-12 or draft-07.
#[derive(Debug, Clone, Default)]
pub struct SchemaContract {
    /// Empty if the schema is unusable: invalid, too large, in an unknown dialect, or referring to
    /// other documents.
    readings: Vec<Arc<ToolSchema>>,
}

impl SchemaContract {
    /// A contract that accepts everything.
    pub(crate) const fn none() -> SchemaContract {
        SchemaContract { readings: Vec::new() }
    }

    /// Compiles a schema from a message of `revision`.
    pub fn read(schemas: &ToolSchemas, schema: Node<'_>, revision: Revision) -> SchemaContract {
        let assumed = schema.get("$schema").is_none() && !WITH_DIALECT.contains(revision);
        let older = assumed.then_some(Dialect::Draft7);
        let readings = std::iter::once(Dialect::default())
            .chain(older)
            .filter_map(|dialect| schemas.compile_as(schema, dialect).ok())
            .collect();
        SchemaContract { readings }
    }

    /// Whether `value` matches in any of the dialects.
    pub fn accepts(&self, value: Node<'_>) -> bool {
        self.readings.iter().any(|reading| reading.accepts(value))
    }

    /// Whether `value` matches in every dialect that the schema may be written in. `false` if the
    /// schema is unusable.
    pub fn definitely_accepts(&self, value: Node<'_>) -> bool {
        !self.readings.is_empty() && self.readings.iter().all(|reading| reading.accepts(value))
    }

    /// Whether `value` certainly violates the schema in every dialect.
    pub fn definitely_rejects(&self, value: Node<'_>) -> bool {
        !self.breaches(value).found.is_empty()
    }

    /// Whether it can reject anything; `false` if the schema is unusable.
    pub fn is_usable(&self) -> bool {
        !self.readings.is_empty()
    }

    /// Every violation by `value`, as `ajv` 8 lists them; empty if it is accepted. Includes
    /// uncertain ones, such as a regular expression that takes too long: enforcement must not let
    /// through what could not be judged.
    pub fn violations(&self, value: Node<'_>) -> Vec<Violation> {
        if self.accepts(value) {
            return Vec::new();
        }
        self.readings.first().map(|reading| reading.violations(value)).unwrap_or_default()
    }

    /// The certain violations by `value`.
    pub(crate) fn breaches(&self, value: Node<'_>) -> Breaches {
        let mut shown = Breaches::default();
        if self.accepts(value) {
            return shown;
        }
        for reading in &self.readings {
            let breaches = certain(reading, value);
            if breaches.found.is_empty() {
                return breaches;
            }
            if shown.found.is_empty() {
                shown = breaches;
            }
        }
        shown.found.truncate(SHOWN);
        shown
    }

    /// The certain violations by a missing value, which counts as an empty object; reported at `span`.
    pub(crate) fn breaches_by_absence(&self, span: Span) -> Breaches {
        let mut tape = Tape::new();
        let Ok(nothing) = tape.parse(b"{}", Limits::default()) else {
            return Breaches::default();
        };
        let mut breaches = self.breaches(nothing.root());
        for breach in &mut breaches.found {
            breach.span = span;
        }
        breaches
    }
}

/// How a value violates a contract.
#[derive(Debug, Default)]
pub(crate) struct Breaches {
    /// The certain violations; empty if the value matches, or may match.
    pub(crate) found: Vec<Violation>,
    /// Whether checking was abandoned because it takes too long.
    pub(crate) is_undecided: bool,
}

/// The violations of `value` that are certain.
fn certain(schema: &ToolSchema, value: Node<'_>) -> Breaches {
    let mut violations = schema.main_violations(value);
    if violations.iter().any(|violation| violation.keyword == "maxSteps") {
        return Breaches { found: Vec::new(), is_undecided: true };
    }
    let mut may_have_given_up = false;
    // Removed in 2019-09, yet many validators still support it.
    let odd = |keyword: &str| keyword == "dependencies" && schema.dialect() > Dialect::Draft7;
    violations.retain(|violation| {
        violation.keyword != "maxViolations"
            && keywords(violation).all(|keyword| {
                let is_guess = !schema.is_decisive() && CONDITIONAL.contains(&keyword);
                may_have_given_up |= is_guess;
                !odd(keyword) && !is_guess
            })
    });
    let is_undecided = violations.is_empty() && may_have_given_up;
    Breaches { found: violations, is_undecided }
}

/// The keywords that led to a violation, from the root of the schema, without the names in between.
fn keywords(violation: &Violation) -> impl Iterator<Item = &str> {
    let mut is_name = false;
    let steps = violation.schema_path.split('/').skip(1).filter(move |step| {
        let was_name = is_name;
        is_name = !was_name && MAPS.contains(step);
        !was_name
    });
    steps.chain([violation.keyword.as_str()])
}

/// Returns a fault for each breach.
pub(crate) fn faults<'v>(
    rule: &'static RuleMeta,
    breaches: &'v Breaches,
    code: ErrorCode,
    help: &'static str,
) -> impl Iterator<Item = Fault> + 'v {
    let undecided = breaches.is_undecided.then(|| {
        let message = "checking this value against its schema takes more steps than allowed";
        Fault::unjudged(rule, message).code(code.code())
    });
    let found = breaches.found.iter();
    let found =
        found.map(move |breach| violation_fault(rule, breach, "", Some(code)).or_help(help));
    found.chain(undecided)
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
        assert!(found.found.is_empty() || !contract.violations(value.root()).is_empty());
        assert_eq!(contract.definitely_rejects(value.root()), !found.found.is_empty());
        assert!(!contract.definitely_accepts(value.root()) || contract.accepts(value.root()));
        found.found.into_iter().map(|breach| breach.schema_path).collect()
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
    fn what_only_one_reading_accepts_is_sure_in_neither_way() {
        let sure = |schema: &str, value: &str, revision| {
            let mut tapes = (Tape::new(), Tape::new());
            let schema = tapes.0.parse(schema.as_bytes(), Limits::default()).unwrap();
            let value = tapes.1.parse(value.as_bytes(), Limits::default()).unwrap();
            let contract = SchemaContract::read(&ToolSchemas::default(), schema.root(), revision);
            (contract.definitely_accepts(value.root()), contract.definitely_rejects(value.root()))
        };
        let schema = r##"{"$defs":{"a":{}},"$ref":"#/$defs/a","type":"string"}"##;
        assert_eq!(sure(schema, "1", Revision::V2025_06_18), (false, false));
        assert_eq!(sure(schema, "1", Revision::LATEST), (false, true));
        assert_eq!(sure(schema, r#""a""#, Revision::V2025_06_18), (true, false));
        assert_eq!(sure(r#"{"type":"nonsense"}"#, "1", Revision::LATEST), (false, false));
    }

    #[test]
    fn before_a_dialect_was_stated_both_readings_count() {
        let old = Revision::V2025_06_18;
        // Draft-07 ignores siblings of `$ref`, 2020-12 does not.
        let schema = r##"{"$defs":{"a":{}},"$ref":"#/$defs/a","type":"string"}"##;
        assert_eq!(breaches(schema, "1", old), [""; 0]);
        assert_eq!(breaches(schema, "1", Revision::LATEST), ["#/type"]);
        let tuple = r#"{"items":[{"type":"string"}]}"#;
        assert_eq!(breaches(tuple, "[1]", old), ["#/items/0/type"]);
        assert_eq!(breaches(tuple, "[1]", Revision::LATEST), [""; 0]);
    }
}
