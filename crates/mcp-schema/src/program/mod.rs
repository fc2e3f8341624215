//! A schema as a flat program over tape nodes.
//!
//! [`Program::compile`] lowers the common part of JSON Schema to an array of [`Schema`]s that refer
//! to each other by index, so a recursive schema is just an index. The same array serves two walks:
//! [`Program::accepts`], which is all a valid message pays for, and [`Program::explain`], which
//! walks again to report what is wrong and where, up to a bounded number of violations. The pointer
//! of each schema in its document is stored separately, as only `explain` needs it.
//!
//! Invariants:
//! - A keyword that is not understood completely makes `compile` decline. The caller then uses the
//!   `jsonschema` crate, so that a verdict never rests on half a schema.
//! - Both walks have a step budget and a depth limit. Running out is [`WalkOutcome::Undecided`],
//!   never acceptance.

mod allowance;
mod check;
mod compile;
mod explain;
mod name;
mod number;
mod pattern;
mod union;

pub(crate) use allowance::Allowance;
pub(crate) use check::{characters, types_of};
pub(crate) use number::Number;
pub(crate) use pattern::{Pattern, Patterns, TooCostly};

use name::Name;

/// The result of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkOutcome {
    Accepted,
    Rejected,
    /// The budget ran out before there was a verdict.
    Undecided,
}

/// Step budget of a walk over a value of `bytes` bytes.
///
/// A schema that visits every part of the value a few times stays far below it; one that multiplies
/// alternatives by elements, or nests recursion, does not.
pub(crate) fn step_budget(bytes: usize) -> u64 {
    2_000_000 + 8 * bytes as u64
}

/// See the [module docs](self).
#[derive(Debug)]
pub(crate) struct Program {
    schemas: Vec<Schema>,
    /// JSON pointer of each schema in its document.
    pointers: Vec<Box<str>>,
}

/// Index into [`Program::schemas`].
type Index = u32;
const ROOT: Index = 0;

/// One subschema. The keywords for each type of value are boxed, as most schemas have one type.
#[derive(Debug)]
struct Schema {
    types: Types,
    /// Nothing but `types` constrains anything, as in most properties of most tools.
    bare: bool,
    object: Option<Box<ObjectRules>>,
    array: Option<Box<ArrayRules>>,
    string: Option<Box<StringRules>>,
    number: Option<Box<NumberRules>>,
    logic: Option<Box<Logic>>,
}

impl Schema {
    const ANYTHING: Schema = Schema {
        types: Types::ALL,
        bare: true,
        object: None,
        array: None,
        string: None,
        number: None,
        logic: None,
    };

    /// Whether it accepts everything.
    fn is_trivial(&self) -> bool {
        self.bare && self.types == Types::ALL
    }
}

#[derive(Debug)]
struct ObjectRules {
    /// Sorted by name.
    properties: Box<[Property]>,
    /// The number of required properties.
    required: usize,
    additional: Additional,
    min: u64,
    max: u64,
}

#[derive(Debug)]
struct Property {
    name: Name,
    schema: Index,
    /// Whether it is in `properties`, not only in `required`.
    declared: bool,
    required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Additional {
    Anything,
    Nothing,
    Schema(Index),
}

#[derive(Debug)]
struct ArrayRules {
    items: Option<Index>,
    min: u64,
    max: u64,
}

#[derive(Debug)]
struct StringRules {
    min: u64,
    max: u64,
    pattern: Option<Pattern>,
}

#[derive(Debug, Default)]
struct NumberRules {
    minimum: Option<Number>,
    maximum: Option<Number>,
    exclusive_minimum: Option<Number>,
    exclusive_maximum: Option<Number>,
    /// The first and the last integer within the limits, if both are integers: most numbers need no
    /// other comparison.
    integers: Option<(i64, i64)>,
}

#[derive(Debug, Default)]
struct Logic {
    reference: Option<Index>,
    constant: Option<Literal>,
    options: Option<Box<[Literal]>>,
    all_of: Box<[Index]>,
    any_of: Option<Box<[Index]>>,
    one_of: Option<Box<[Index]>>,
}

/// A scalar in `enum` or `const`.
#[derive(Debug, Clone, PartialEq)]
enum Literal {
    Null,
    Bool(bool),
    Number(Number),
    String(Box<str>),
}

/// A set of JSON types; `number` is both of the last two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Types = Types(0);
    pub(crate) const NULL: Types = Types(1);
    pub(crate) const BOOLEAN: Types = Types(2);
    pub(crate) const STRING: Types = Types(4);
    pub(crate) const ARRAY: Types = Types(8);
    pub(crate) const OBJECT: Types = Types(16);
    pub(crate) const INTEGER: Types = Types(32);
    pub(crate) const FRACTION: Types = Types(64);
    pub(crate) const NUMBER: Types = Types(32 | 64);
    pub(crate) const ALL: Types = Types(127);

    pub(crate) fn named(name: &str) -> Option<Types> {
        Some(match name {
            "null" => Types::NULL,
            "boolean" => Types::BOOLEAN,
            "string" => Types::STRING,
            "array" => Types::ARRAY,
            "object" => Types::OBJECT,
            "integer" => Types::INTEGER,
            "number" => Types::NUMBER,
            _ => return None,
        })
    }

    pub(crate) const fn union(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    /// Whether the sets intersect.
    pub(crate) const fn meets(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    /// The type names a schema would use, in a fixed order.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let number = if self.0 & Types::NUMBER.0 == Types::NUMBER.0 {
            ("number", Types::NUMBER)
        } else {
            ("integer", Types::INTEGER)
        };
        [
            ("null", Types::NULL),
            ("boolean", Types::BOOLEAN),
            number,
            ("string", Types::STRING),
            ("array", Types::ARRAY),
            ("object", Types::OBJECT),
        ]
        .into_iter()
        .filter(|(_, types)| self.meets(*types))
        .map(|(name, _)| name)
        .collect()
    }
}

#[cfg(test)]
mod tests;
