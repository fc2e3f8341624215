//! The errors that `ajv` 8 gives with `allErrors`, for people who know them.
//!
//! Whether a value fits is decided elsewhere. Once it does not, [`Checklist::explain`] walks the
//! schema in the order in which `ajv` looks at keywords, and lists everything that it would list:
//! each branch of a union before the union itself, one entry for each property that is missing or
//! too many, `params` filled for every keyword. `scripts/ajv` holds it to the original; what
//! differs on purpose is listed in `tests/ajv/differences.json`.
//!
//! Invariants:
//! - Members of the schema and of the value are visited in the order of JavaScript.
//! - A keyword that is not understood completely makes [`Checklist::compile`] decline.
//! - The walk spends from a budget of steps and reports a bounded number of violations.

mod array;
mod canonical;
mod compile;
mod evaluated;
mod in_place;
mod keywords;
mod object;
mod order;
mod scalar;
mod walk;
mod wording;

use std::collections::HashSet;

use jsonschema::Validator;
use mcp_json::{Node, SchemaNode, TapeJson};
use serde_json::Value;

use crate::program::{Allowance, Number, Pattern, Types};

/// A schema as lists of keywords, in the order of `ajv`.
#[derive(Debug)]
pub(crate) struct Checklist {
    schemas: Vec<Schema>,
    /// Whether anything asks what other keywords have looked at.
    tracks: bool,
}

/// Index into [`Checklist::schemas`]; the root is the first.
type Index = u32;
const ROOT: Index = 0;

#[derive(Debug)]
enum Schema {
    /// `true`, or without a keyword.
    Anything,
    /// `false`.
    Nothing,
    Keywords(Box<Keywords>),
}

/// The keywords of one schema, by the kind of value that they look at.
#[derive(Debug, Default)]
struct Keywords {
    kind: Option<Kind>,
    in_place: Vec<InPlace>,
    number: Vec<NumberRule>,
    string: Vec<StringRule>,
    array: Vec<ArrayRule>,
    object: Vec<ObjectRule>,
}

/// The keyword `type`.
#[derive(Debug)]
struct Kind {
    types: Types,
    /// As it is written.
    written: Value,
    /// If there is one type, and keywords for it: when these have their turn. The fault is then
    /// reported in their place.
    place: Option<u8>,
}

/// A subschema and what leads to it in the path of the schema: `properties/count`.
#[derive(Debug)]
struct Branch {
    schema: Index,
    step: Box<str>,
}

#[derive(Debug)]
enum InPlace {
    Reference {
        schema: Index,
        /// The path that its keywords have: the reference as it is written, where that leads to
        /// the schema by itself.
        path: Box<str>,
    },
    Const(Literal),
    Enum {
        options: HashSet<Box<str>>,
        allowed: Value,
    },
    Not(Index),
    AnyOf(Vec<Branch>),
    OneOf(Vec<Branch>),
    AllOf(Vec<Branch>),
    If {
        condition: Index,
        then: Option<Index>,
        otherwise: Option<Index>,
    },
}

/// A value of the schema.
#[derive(Debug)]
struct Literal {
    canonical: Box<str>,
    value: Value,
}

#[derive(Debug)]
enum NumberRule {
    Bound { keyword: &'static str, comparison: &'static str, limit: Number, written: Value },
    MultipleOf { divisor: Value, judge: Box<Judge> },
}

#[derive(Debug)]
enum StringRule {
    Length(Bound),
    Pattern(Expression),
}

/// `minLength`, `maxItems` and their like.
#[derive(Debug, Clone, Copy)]
struct Bound {
    keyword: &'static str,
    is_maximum: bool,
    limit: u64,
}

#[derive(Debug)]
enum ArrayRule {
    Length(Bound),
    /// `prefixItems`, or a list in `items`.
    Prefix(Vec<Branch>),
    /// `items` for all of them.
    Items(Index),
    /// `items` after `prefixItems`, or `additionalItems`.
    Rest {
        keyword: &'static str,
        from: usize,
        schema: Index,
    },
    Contains {
        schema: Index,
        min: u64,
        max: Option<u64>,
    },
    Unique {
        /// Whether `items` says that they are scalars of some types: `ajv` then looks for
        /// duplicates in another order.
        scalars: Option<Types>,
    },
    Unevaluated(Index),
}

#[derive(Debug)]
enum ObjectRule {
    Size(Bound),
    Required(Vec<Box<str>>),
    PropertyNames(Index),
    Additional {
        schema: Index,
        declared: HashSet<Box<str>>,
        patterns: Vec<Expression>,
    },
    /// `dependentRequired`, or the lists of `dependencies`.
    DependentRequired {
        keyword: &'static str,
        dependencies: Vec<Dependency>,
    },
    /// `dependentSchemas`, or the schemas of `dependencies`.
    DependentSchemas(Vec<(Box<str>, Branch)>),
    Properties(Vec<(Box<str>, Branch)>),
    Patterns(Vec<(Expression, Branch)>),
    Unevaluated(Index),
}

/// A property that needs others.
#[derive(Debug)]
struct Dependency {
    property: Box<str>,
    needed: Vec<Box<str>>,
    /// The names in one text, cut if it is very long.
    joined: Box<str>,
}

/// A regular expression.
#[derive(Debug)]
struct Expression {
    source: Box<str>,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    Linear(Pattern),
    /// Look-around and back-references.
    Backtracking(Box<Judge>),
}

/// What one attempt of a backtracking expression may cost in steps.
const BACKTRACKING_STEPS: u64 = 10_000;

impl Expression {
    /// Whether the text of a string matches. What cannot be paid for does not.
    fn matches(&self, text: Node<'_>, allowance: &mut Allowance) -> bool {
        match &self.engine {
            Engine::Linear(pattern) => {
                allowance.spend(pattern.steps(text))
                    && text.str_bytes().is_some_and(|bytes| pattern.is_match(&bytes))
            }
            Engine::Backtracking(judge) => {
                allowance.spend(BACKTRACKING_STEPS + text.raw().len() as u64) && judge.accepts(text)
            }
        }
    }
}

/// One keyword on the engine that decides about it elsewhere, so that both say the same.
#[derive(Debug)]
struct Judge(Validator<TapeJson>);

impl Judge {
    fn accepts(&self, node: Node<'_>) -> bool {
        self.0.is_valid(SchemaNode::from(node))
    }
}

#[cfg(test)]
mod tests;
