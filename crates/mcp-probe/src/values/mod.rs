//! Values generated from JSON Schema: valid ones, ones that break exactly one constraint, and valid
//! but hostile ones.
//!
//! ```text
//! schema ─► Shape of a place (references followed, alternatives chosen, constraints merged)
//!             ├─► Maker: a value of it
//!             └─► Place of a value: its neighbours, within bounds and beyond
//!                    └─► confirmed by the validator of the rules, or not used
//! ```
//!
//! Generated values depend only on the schema and the stream of random numbers. Their number, their
//! size and the time spent are limited regardless of the schema: there are no values for one that
//! requires a billion elements.

mod broken;
mod document;
mod hostile;
mod make;
mod number;
mod pattern;
mod place;
mod shape;
mod text;
mod valid;

#[cfg(test)]
mod tests;

use mcp_core::Revision;
use mcp_json::{Limits, Tape};
use mcp_rules::SchemaContract;
use mcp_schema::{ToolSchemaError, ToolSchemas};
use serde_json::Value;

pub(crate) use self::{
    broken::Broken,
    hostile::{Hostile, texts as hostile_texts},
    place::token,
    valid::{Reason, Valid},
};
use self::{
    document::Document,
    make::{Maker, Style},
};
use crate::Random;

/// Maximum attempts to generate a value.
const ATTEMPTS: usize = 8;

/// The values for one schema.
#[derive(Debug)]
pub(crate) struct Values {
    schema: Value,
    contract: SchemaContract,
}

impl Values {
    /// Values for a schema in `revision`. `None` if the schema is unusable, so that no value can be
    /// judged.
    pub(crate) fn of(schema: &Value, revision: Revision) -> Option<Values> {
        let text = schema.to_string();
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).ok()?;
        let contract = SchemaContract::read(&ToolSchemas::default(), document.root(), revision);
        contract.is_usable().then(|| Values { schema: schema.clone(), contract })
    }

    /// The reference that makes a schema unusable, because it does not resolve or is circular.
    pub(crate) fn lost_reference(schema: &Value) -> Option<String> {
        let text = schema.to_string();
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).ok()?;
        match ToolSchemas::default().compile(document.root()).err()? {
            error @ (ToolSchemaError::DanglingRef { .. } | ToolSchemaError::EndlessRef { .. }) => {
                Some(error.to_string())
            }
            _ => None,
        }
    }

    /// Whether a value is certainly valid, in every dialect of the schema.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        judge(value, |node| self.contract.definitely_accepts(node))
    }

    /// Whether a value is certainly invalid, in every dialect of the schema. An undecidable value
    /// is neither accepted nor refused.
    pub(crate) fn refuses(&self, value: &Value) -> bool {
        judge(value, |node| self.contract.definitely_rejects(node))
    }

    /// A value with only what is required, as small as possible.
    pub(crate) fn least(&self, random: &mut Random) -> Option<Value> {
        self.make(Style::Least, random)
    }

    /// A value with all optional members, as far as possible.
    pub(crate) fn full(&self, random: &mut Random) -> Option<Value> {
        self.make(Style::Full, random)
    }

    /// A random valid value.
    pub(crate) fn any(&self, random: &mut Random) -> Option<Value> {
        self.make(Style::Any, random)
    }

    /// Up to `most` valid values, the most useful first: examples of the schema, without and with
    /// everything optional, at every bound, then random ones.
    pub(crate) fn valid(&self, random: &mut Random, most: usize) -> Vec<Valid> {
        valid::valid(self, random, most)
    }

    /// Up to `most` invalid values that differ from the valid `base` in one place. Each keyword
    /// occurs once before one occurs twice.
    pub(crate) fn broken(&self, base: &Value, most: usize) -> Vec<Broken> {
        broken::broken(self, base, most)
    }

    /// Up to `most` valid values derived from `base` that careless programs mishandle.
    pub(crate) fn hostile(&self, base: &Value, most: usize) -> Vec<Hostile> {
        hostile::hostile(self, base, most)
    }

    /// Valid variants of a value without one optional member each, with the pointer to that member.
    pub(crate) fn without(&self, base: &Value) -> Vec<(String, Value)> {
        let mut found = valid::without(self, base);
        found.retain(|(_, value)| self.accepts(value));
        found
    }

    /// Whether the schema constrains a value so tightly that a tool has no reason to refuse it:
    /// every scalar is named by the schema, is a boolean, or lies between two bounds.
    pub(crate) fn leaves_no_doubt(&self, value: &Value) -> bool {
        let places = place::places(self.document(), value);
        let is_certain = |place: &place::Place<'_, '_>| match place.value {
            Value::Object(_) | Value::Array(_) | Value::Null | Value::Bool(_) => true,
            value => {
                place.shape.names(value) || (value.is_number() && place.shape.range.is_closed())
            }
        };
        let scalars = scalars(value);
        places.iter().filter(|place| !place.value.is_object() && !place.value.is_array()).count()
            == scalars
            && places.iter().all(is_certain)
    }

    /// Pointers to the strings of `base` that may be any other string as well.
    pub(crate) fn free_texts(&self, base: &Value) -> Vec<String> {
        let places = place::places(self.document(), base);
        let texts = places.into_iter().filter(|place| place.value.is_string());
        texts
            .filter(|place| {
                let other = Value::String("plumb-7F3a &c.".to_owned());
                place.shape.format.is_none()
                    && place::replaced(base, &place.pointer, Some(other))
                        .is_some_and(|value| self.accepts(&value))
            })
            .map(|place| place.pointer)
            .collect()
    }

    /// `base` with another value at a place, if that is valid.
    pub(crate) fn with(&self, base: &Value, pointer: &str, by: Value) -> Option<Value> {
        place::replaced(base, pointer, Some(by)).filter(|value| self.accepts(value))
    }

    fn document(&self) -> Document<'_> {
        Document::new(&self.schema)
    }

    fn make(&self, style: Style, random: &mut Random) -> Option<Value> {
        (0..ATTEMPTS).find_map(|attempt| {
            // First the alternatives in order, then random ones.
            let branch = (attempt < ATTEMPTS / 2 && style != Style::Any).then_some(attempt);
            let mut maker = Maker::new(self.document(), style, branch, random);
            maker.root().filter(|value| self.accepts(value))
        })
    }
}

/// The number of scalars in a value.
fn scalars(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(scalars).sum(),
        Value::Array(elements) => elements.iter().map(scalars).sum(),
        _ => 1,
    }
}

fn judge(value: &Value, question: impl Fn(mcp_json::Node<'_>) -> bool) -> bool {
    let text = value.to_string();
    let mut tape = Tape::new();
    let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
    tape.parse(text.as_bytes(), limits).is_ok_and(|document| question(document.root()))
}
