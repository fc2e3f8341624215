//! The errors that `ajv` 8 reports with `allErrors`, for people used to them.
//!
//! Whether a value fits is decided elsewhere. If it does not, [`Checklist::explain`] walks the
//! schema in the order in which `ajv` evaluates keywords, and lists everything that it would list:
//! each branch of a union before the union itself, one entry per missing or unexpected property,
//! `params` filled in for every keyword. `scripts/ajv` compares it with the original; intentional
//! differences are listed in `tests/ajv/differences.json`.
//!
//! Invariants:
//! - Members of the schema and of the value are visited in JavaScript's order.
//! - A keyword that is not understood completely makes [`Checklist::compile`] decline.
//! - The walk has a budget of steps and reports a bounded number of violations.

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

/// A schema as lists of keywords, in `ajv`'s order.
#[derive(Debug)]
pub(crate) struct Checklist {
    schemas: Vec<Schema>,
    /// Whether any keyword needs to know what others have evaluated.
    tracks: bool,
}

/// Index into [`Checklist::schemas`]; the root is at 0.
type Index = u32;
const ROOT: Index = 0;

#[derive(Debug)]
enum Schema {
    /// `true`, or an object without keywords.
    Anything,
    /// `false`.
    Nothing,
    Keywords(Box<Keywords>),
}

/// The keywords of one schema, by the type of value they apply to.
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
    /// As written in the schema.
    written: Value,
    /// If there is exactly one type, and keywords for it: their position. The type error is then
    /// reported there.
    place: Option<u8>,
}

/// A subschema and its step in the schema path: `properties/count`.
#[derive(Debug)]
struct Branch {
    schema: Index,
    step: Box<str>,
}

#[derive(Debug)]
enum InPlace {
    Reference {
        schema: Index,
        /// Schema path of its keywords: the reference as written, where that leads to the schema by
        /// itself.
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

/// A value in the schema.
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

/// `minLength`, `maxItems` and the like.
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
    /// `items` for all elements.
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
        /// The types, if `items` allows only scalars of certain types: `ajv` then looks for
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

/// A property that requires others.
#[derive(Debug)]
struct Dependency {
    property: Box<str>,
    needed: Vec<Box<str>>,
    /// The names joined into one text, truncated if very long.
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

/// Step limit for one attempt of a backtracking expression.
const BACKTRACKING_STEPS: u64 = 10_000;

impl Expression {
    /// Whether the text of a string matches. Counts as no match if over budget.
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

/// One keyword on the engine that decides it elsewhere, so that both agree.
#[derive(Debug)]
struct Judge(Validator<TapeJson>);

impl Judge {
    fn accepts(&self, node: Node<'_>) -> bool {
        self.0.is_valid(SchemaNode::from(node))
    }
}

#[cfg(test)]
mod tests;
