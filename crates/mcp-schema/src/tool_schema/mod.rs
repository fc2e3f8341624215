//! Tool `inputSchema` and `outputSchema`: checked when seen, compiled when first used, kept by content.
//!
//! A tool schema comes from a peer and is treated as such: nothing is fetched for it, and its size,
//! its nesting, its regular expressions and the work of checking a value against it are limited.
//! Exceeding a limit is an error here or a violation there, never a wait.
//!
//! Regular expressions run on an engine that is linear in the text. Those that need look-around or
//! back-references go to a backtracking engine with a step limit; a match that exceeds it counts as
//! undecided and the value as not fitting.
//!
//! `format` is an annotation, the default in 2020-12, in every dialect.

mod cache;
mod dialect;
mod error;
mod meta_check;

pub use cache::{CacheLimits, ToolSchemas};
pub use dialect::Dialect;
pub use error::ToolSchemaError;

use std::sync::OnceLock;

use mcp_json::{Limits, Node, Tape};
use serde_json::Value;

use crate::ajv::Checklist;
use crate::program::WalkOutcome;
use crate::report;
use crate::runtime::RuntimeSchema;
use crate::survey::{Fault, Names, Survey};
use crate::violation::Violation;

/// Size limits of a tool schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolSchemaLimits {
    /// Maximum size of its JSON text in bytes.
    pub max_bytes: usize,
    /// Maximum nesting of its JSON text.
    pub max_depth: usize,
}

impl Default for ToolSchemaLimits {
    /// 1 MiB, 64 levels.
    fn default() -> Self {
        ToolSchemaLimits { max_bytes: 1 << 20, max_depth: 64 }
    }
}

/// A compiled tool schema. Immutable and shareable.
#[derive(Debug)]
pub struct ToolSchema {
    dialect: Dialect,
    runtime: RuntimeSchema,
    text: Box<[u8]>,
    /// Compiled from the text when first needed; `None` if it cannot be.
    checklist: OnceLock<Option<Checklist>>,
}

impl ToolSchema {
    /// Compiles the schema at `node`; [`ToolSchemas`] does this once per content.
    ///
    /// `default` is the dialect of a schema without `$schema`.
    ///
    /// # Errors
    ///
    /// Why it cannot be used; in most cases that is the peer's fault.
    pub fn compile(
        node: Node<'_>,
        default: Dialect,
        limits: ToolSchemaLimits,
    ) -> Result<ToolSchema, ToolSchemaError> {
        if !node.is_object() {
            return Err(ToolSchemaError::NotObject);
        }
        let bytes = node.raw().len();
        if bytes > limits.max_bytes {
            return Err(ToolSchemaError::TooLarge { bytes, limit: limits.max_bytes });
        }
        if is_deeper(node, limits.max_depth) {
            return Err(ToolSchemaError::TooDeep { limit: limits.max_depth });
        }
        let dialect = dialect_of(node, default)?;
        let document = node.to_value();
        let violations = meta_violations(dialect, &document, node);
        if !violations.is_empty() {
            return Err(ToolSchemaError::Invalid { violations });
        }
        let survey = Survey::of(&Names::of(&document), "")?;
        let runtime = RuntimeSchema::compile(&document, "", dialect.draft(), survey)
            .map_err(|error| compile_error(&error, node))?;
        Ok(ToolSchema { dialect, runtime, text: node.raw().into(), checklist: OnceLock::new() })
    }

    /// The dialect it is written in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Whether `node` fits. Returns `false` for a value that takes too long to judge.
    pub fn accepts(&self, node: Node<'_>) -> bool {
        self.runtime.accepts(node)
    }

    /// Why `node` does not fit, in the words of `ajv` 8 with `allErrors`; empty if it fits.
    ///
    /// Everything is listed, in `ajv`'s order: for a union the errors of each branch and then the
    /// union itself. Paths, keyword, params and message are those of `ajv`. Paths start at `node`,
    /// spans refer to the document, and there are at most [`MAX_VIOLATIONS`](crate::MAX_VIOLATIONS)
    /// and a marker.
    ///
    /// `format` is an annotation here. For schemas of draft-04, those with dynamic references or
    /// several `$id`s, and values for which the list takes too many steps, the list is that of
    /// [`main_violations`](ToolSchema::main_violations) instead.
    pub fn violations(&self, node: Node<'_>) -> Vec<Violation> {
        match self.runtime.judge(node) {
            WalkOutcome::Accepted => Vec::new(),
            WalkOutcome::Undecided => vec![Violation::undecided(node)],
            WalkOutcome::Rejected => {
                let found = self.checklist().and_then(|list| list.explain(node));
                let found = found.filter(|found| !found.is_empty());
                found.unwrap_or_else(|| self.runtime.violations(node))
            }
        }
    }

    /// The same for people, one violation per error: for a union only what is wrong with the branch
    /// that was meant, or with all of them. In document order.
    pub fn main_violations(&self, node: Node<'_>) -> Vec<Violation> {
        let mut main = self.runtime.violations(node);
        if main.iter().any(|violation| is_empty(&violation.params)) {
            // One of the two engines leaves `params` empty.
            let all = self.violations(node);
            for violation in main.iter_mut().filter(|violation| is_empty(&violation.params)) {
                let same = |other: &&Violation| {
                    other.keyword == violation.keyword
                        && other.instance_path == violation.instance_path
                };
                if let Some(same) = all.iter().find(same) {
                    violation.params = same.params.clone();
                }
            }
        }
        main
    }

    fn checklist(&self) -> Option<&Checklist> {
        let compile = || {
            let mut tape = Tape::new();
            // Parsing succeeded with these limits when the schema was compiled.
            let limits = Limits { max_bytes: usize::MAX, max_depth: usize::MAX };
            let schema = tape.parse(&self.text, limits).ok()?;
            let document = schema.root().to_value();
            let survey = Survey::of(&Names::of(&document), "").ok()?;
            Checklist::compile(schema.root(), self.dialect.draft(), survey.patterns()).ok()
        };
        self.checklist.get_or_init(compile).as_ref()
    }

    /// Whether a rejection is certain, except for values that take too long to judge (keyword
    /// `maxSteps`). Not so for a schema with look-around or back-references: a match that takes too
    /// long counts as no match, and the two are indistinguishable.
    pub fn is_decisive(&self) -> bool {
        self.runtime.is_decisive()
    }

    /// Whether it runs on the fast path.
    #[cfg(test)]
    fn is_program(&self) -> bool {
        matches!(self.runtime, RuntimeSchema::Program(_))
    }
}

/// Whether the schema at `node` is certainly valid; if `false`, [`ToolSchema::compile`] has to
/// decide.
fn is_plainly_valid(node: Node<'_>, default: Dialect, limits: ToolSchemaLimits) -> bool {
    let span = node.span();
    node.is_object()
        && span.end - span.start <= limits.max_bytes
        && dialect_of(node, default)
            .is_ok_and(|dialect| meta_check::is_valid(node, dialect, limits.max_depth))
}

fn dialect_of(node: Node<'_>, default: Dialect) -> Result<Dialect, ToolSchemaError> {
    match node.get("$schema").and_then(Node::as_str) {
        None => Ok(default),
        Some(uri) => Dialect::from_uri(&uri)
            .ok_or_else(|| ToolSchemaError::UnknownDialect { dialect: uri.into_owned() }),
    }
}

fn is_empty(params: &Value) -> bool {
    params.as_object().is_none_or(serde_json::Map::is_empty)
}

fn is_deeper(node: Node<'_>, levels: usize) -> bool {
    if node.is_empty() {
        return false;
    }
    levels == 0
        || node.elements().any(|element| is_deeper(element, levels - 1))
        || node.members().any(|(_, member)| is_deeper(member, levels - 1))
}

/// Violations of the meta-schema. For a large schema only the first, as the list is built before it
/// can be truncated.
fn meta_violations(dialect: Dialect, document: &Value, node: Node<'_>) -> Vec<Violation> {
    const LARGE: usize = 64 << 10;
    let validator = dialect.meta_validator();
    if node.raw().len() > LARGE {
        let error = validator.validate(document).err();
        report::from_errors(error.into_iter(), node)
    } else {
        report::from_errors(validator.iter_errors(document), node)
    }
}

/// The error for a schema that fits the meta-schema but does not compile: a bad expression, or a
/// reference that only the compiler could follow.
fn compile_error(error: &jsonschema::ValidationError<'_>, node: Node<'_>) -> ToolSchemaError {
    use jsonschema::error::ValidationErrorKind as Kind;
    if let Kind::Referencing(reason) = error.kind() {
        return ToolSchemaError::Reference { reason: reason.to_string() };
    }
    let pointer = error.schema_path().as_str();
    let at = node.pointer(pointer).unwrap_or(node);
    ToolSchemaError::Invalid { violations: vec![Violation::unusable(at, pointer)] }
}

impl From<Fault> for ToolSchemaError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::External { reference } => ToolSchemaError::ExternalRef { reference },
            Fault::Dangling { reference } => ToolSchemaError::DanglingRef { reference },
            Fault::Endless { pointer } => ToolSchemaError::EndlessRef { pointer },
            Fault::Chain { pointer } => ToolSchemaError::TooIntricate { pointer },
            Fault::Patterns { pointer } => ToolSchemaError::CostlyPatterns { pointer },
        }
    }
}

#[cfg(test)]
mod tests;
