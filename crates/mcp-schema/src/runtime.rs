//! A schema that is known only at run time: a [`Program`] if it can be compiled to one, otherwise
//! the `jsonschema` crate.

use jsonschema::{Draft, PatternOptions, Validator};
use mcp_json::{Node, SchemaNode, TapeJson};
use serde_json::{Map, Value};

use crate::program::{Program, WalkOutcome, step_budget};
use crate::report;
use crate::survey::Survey;
use crate::violation::Violation;

/// The `jsonschema` crate keeps every error of every alternative until the end. Above this many
/// steps, errors are not collected.
const MAX_EXPLAINED_STEPS: u64 = 200_000;

/// See the [module docs](self).
#[derive(Debug)]
pub(crate) enum RuntimeSchema {
    Program(Program),
    Validator(Box<Fallback>),
}

#[derive(Debug)]
pub(crate) struct Fallback {
    validator: Validator<TapeJson>,
    survey: Survey,
    pointer: String,
}

impl RuntimeSchema {
    /// Compiles the schema at `pointer` of a `document` that fits its meta-schema; `survey` is its
    /// survey.
    pub(crate) fn compile(
        document: &Value,
        pointer: &str,
        draft: Draft,
        survey: Survey,
    ) -> Result<RuntimeSchema, jsonschema::ValidationError<'static>> {
        if let Ok(program) = Program::compile(document, pointer, draft, survey.patterns()) {
            return Ok(RuntimeSchema::Program(program));
        }
        let validator = if pointer.is_empty() {
            options(draft).build(document)?
        } else {
            options(draft).build(&with_root(document, pointer))?
        };
        let pointer = pointer.to_owned();
        Ok(RuntimeSchema::Validator(Box::new(Fallback { validator, survey, pointer })))
    }

    /// Whether `node` fits. Returns `false` if that cannot be decided within the budget.
    pub(crate) fn accepts(&self, node: Node<'_>) -> bool {
        self.judge(node) == WalkOutcome::Accepted
    }

    pub(crate) fn judge(&self, node: Node<'_>) -> WalkOutcome {
        match self {
            RuntimeSchema::Program(program) => program.accepts(node),
            RuntimeSchema::Validator(fallback) => {
                if !fallback.survey.is_affordable(node, step_budget(node.raw().len())) {
                    WalkOutcome::Undecided
                } else if fallback.validator.is_valid(SchemaNode::from(node)) {
                    WalkOutcome::Accepted
                } else {
                    WalkOutcome::Rejected
                }
            }
        }
    }

    /// Whether a rejection is certain; see [`ToolSchema::is_decisive`].
    ///
    /// [`ToolSchema::is_decisive`]: crate::ToolSchema::is_decisive
    pub(crate) fn is_decisive(&self) -> bool {
        match self {
            RuntimeSchema::Program(_) => true,
            RuntimeSchema::Validator(fallback) => fallback.survey.patterns().are_linear(),
        }
    }

    /// Why `node` does not fit; empty if it does.
    pub(crate) fn violations(&self, node: Node<'_>) -> Vec<Violation> {
        match self {
            RuntimeSchema::Program(program) => match program.accepts(node) {
                WalkOutcome::Accepted => Vec::new(),
                WalkOutcome::Undecided => vec![Violation::undecided(node)],
                WalkOutcome::Rejected => program.explain(node),
            },
            RuntimeSchema::Validator(fallback) => {
                if !fallback.survey.is_affordable(node, step_budget(node.raw().len())) {
                    return vec![Violation::undecided(node)];
                }
                if fallback.survey.is_affordable(node, MAX_EXPLAINED_STEPS) {
                    return report::violations(&fallback.validator, node);
                }
                if fallback.validator.is_valid(SchemaNode::from(node)) {
                    return Vec::new();
                }
                vec![Violation::unexplained(node, format!("#{}", fallback.pointer))]
            }
        }
    }
}

/// Nothing is fetched, `format` is an annotation, expressions are limited.
///
/// Expressions without look-around and back-references run on the linear engine; `fancy-regex`
/// delegates them entirely. The others backtrack, within a limit.
pub(crate) fn options(
    draft: Draft,
) -> jsonschema::ValidationOptions<'static, std::sync::Arc<dyn jsonschema::Retrieve>, TapeJson> {
    jsonschema::options_for::<TapeJson>()
        .with_draft(draft)
        .offline()
        .should_validate_formats(false)
        .should_ignore_unknown_formats(true)
        .with_pattern_options(
            PatternOptions::fancy_regex().backtrack_limit(10_000).size_limit(1 << 20),
        )
}

/// `document` with the schema at `pointer` as its root.
fn with_root(document: &Value, pointer: &str) -> Value {
    let mut members = Map::new();
    for key in ["$schema", "$defs", "definitions"] {
        if let Some(value) = document.get(key) {
            members.insert(key.into(), value.clone());
        }
    }
    members.insert("$ref".into(), format!("#{pointer}").into());
    Value::Object(members)
}
