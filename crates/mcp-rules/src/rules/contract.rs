//! Holding values to a schema that a peer has stated, without ever being wrong about it.

use std::sync::Arc;

use mcp_core::{Revision, Revisions};
use mcp_json::{Limits, Node, Span, Tape};
use mcp_schema::{Dialect, ToolSchema, Violation};

use super::payload;
use crate::{Engine, Meta, findings::Fault};

/// Where the specification says in which dialect a schema without `$schema` is written.
const WITH_DIALECT: Revisions = Revisions::from(Revision::V2025_11_25);
/// How many violations of one message are reported.
const SHOWN: usize = 10;
/// Keywords that make the fate of other keywords depend on an expression.
const CONDITIONAL: [&str; 9] = [
    "pattern",
    "patternProperties",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "anyOf",
    "oneOf",
    "not",
    "contains",
];

/// A schema as far as somebody can be held to it: in each way it may be read. Empty if it cannot
/// be judged by (invalid, too large, of an unknown dialect, referring to other documents).
#[derive(Debug, Clone, Default)]
pub(crate) struct Contract {
    readings: Vec<Arc<ToolSchema>>,
}

impl Contract {
    /// Reads a schema that a message of this revision stated.
    pub(crate) fn of(engine: &Engine, schema: Node<'_>, revision: Revision) -> Contract {
        let assumed = schema.get("$schema").is_none() && !WITH_DIALECT.contains(revision);
        let older = assumed.then_some(Dialect::Draft7);
        let readings = std::iter::once(Dialect::default())
            .chain(older)
            .filter_map(|dialect| engine.tool_schemas().compile_as(schema, dialect).ok())
            .collect();
        Contract { readings }
    }

    /// Why `value` surely breaks it; empty if it fits, or if that cannot be told.
    pub(crate) fn breaches(&self, value: Node<'_>) -> Vec<Violation> {
        if self.readings.iter().any(|reading| reading.accepts(value)) {
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
    let mut violations = schema.violations(value);
    if violations.iter().any(|violation| violation.keyword == "maxSteps") {
        return Vec::new();
    }
    violations.retain(|violation| {
        violation.keyword != "maxViolations" && (schema.is_decisive() || is_plain(violation))
    });
    violations
}

/// Whether a violation stands whatever the schema's expressions match.
fn is_plain(violation: &Violation) -> bool {
    let path = violation.schema_path.split('/');
    !path.chain([violation.keyword.as_str()]).any(|step| {
        CONDITIONAL.contains(&step) || matches!(step, "$ref" | "then" | "else" | "dependentSchemas")
    })
}

/// A fault for each breach, with the JSON pointer of the value in its message.
pub(crate) fn faults<'v>(
    rule: &'static Meta,
    breaches: &'v [Violation],
    prefix: &'v str,
    code: Option<i64>,
    help: &'static str,
) -> impl Iterator<Item = Fault> + 'v {
    breaches.iter().map(move |breach| {
        let fault = payload::violation_fault(rule, breach, prefix, None).or_help(help);
        match code {
            Some(code) => fault.code(code),
            None => fault,
        }
    })
}
