//! Valid values.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    Values,
    make::{Maker, Style},
    place::{Place, places, replaced, token},
    shape::Types,
    text,
};
use crate::Random;

/// Maximum number of `enum` values, and of examples, to try for one place.
const NAMED: usize = 8;
/// Maximum length of an array that a schema merely allows.
const ELEMENTS: u64 = 100;
/// Maximum number of failed attempts.
const FAILURES: usize = 8;
/// Maximum combinations of alternatives to try.
const BRANCHES: usize = 4;

/// A valid value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Valid {
    /// The value.
    pub(crate) value: Value,
    /// Why it is worth trying.
    pub(crate) reason: Reason,
}

/// Why a value is worth trying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It is a sample argument given by the user.
    Given,
    /// The schema names it as an example or as the default.
    Example,
    /// It has what is required and nothing else.
    Least,
    /// It has all members.
    Full,
    /// It lacks the optional member at this pointer, and only that.
    Without(String),
    /// It has one of the special values for the place at this pointer.
    Edge(String),
    /// It is random.
    Any,
}

pub(super) fn valid(values: &Values, random: &mut Random, most: usize) -> Vec<Valid> {
    let mut kept = Kept { values, seen: BTreeSet::new(), tried: 0, most, found: Vec::new() };
    for keyword in ["examples", "default"] {
        let named = values.schema.get(keyword);
        let named = named.map(|named| named.as_array().map_or(std::slice::from_ref(named), |n| n));
        for example in named.unwrap_or_default().iter().take(NAMED) {
            kept.add(example.clone(), &Reason::Example);
        }
    }
    if let Some(least) = values.least(random) {
        kept.add(least, &Reason::Least);
    }
    let full = values.full(random);
    if let Some(full) = full {
        kept.add(full.clone(), &Reason::Full);
        for (pointer, value) in without(values, &full) {
            kept.add(value, &Reason::Without(pointer));
        }
        let places = places(values.document(), &full);
        for place in &places {
            for edge in edges(place) {
                if let Some(value) = replaced(&full, &place.pointer, Some(edge)) {
                    kept.add(value, &Reason::Edge(place.pointer.clone()));
                }
            }
        }
    }
    for branch in 1..BRANCHES {
        let made = Maker::new(values.document(), Style::Full, Some(branch), random).root();
        if let Some(value) = made {
            kept.add(value, &Reason::Any);
        }
    }
    // After a few failures, generation is given up.
    let mut failures = 0;
    while !kept.is_full() && failures < FAILURES {
        match Maker::new(values.document(), Style::Any, None, random).root() {
            Some(value) => kept.add(value, &Reason::Any),
            None => failures += 1,
        }
    }
    kept.found
}

/// Variants of a value without one optional member each, with the pointer to it. Some may be
/// invalid.
pub(super) fn without(values: &Values, base: &Value) -> Vec<(String, Value)> {
    let places = places(values.document(), base);
    let optional = places.iter().flat_map(|place| {
        let members = place.value.as_object().into_iter().flatten();
        members
            .filter(|(name, _)| !place.shape.required.contains(name.as_str()))
            .map(|(name, _)| format!("{}/{}", place.pointer, token(name)))
    });
    optional
        .filter_map(|pointer| Some((pointer.clone(), replaced(base, &pointer, None)?)))
        .collect()
}

/// The values kept so far.
struct Kept<'k> {
    values: &'k Values,
    seen: BTreeSet<String>,
    tried: usize,
    most: usize,
    found: Vec<Valid>,
}

impl Kept<'_> {
    /// Keeps a value if it is new and valid.
    fn add(&mut self, value: Value, reason: &Reason) {
        self.tried += 1;
        if !self.is_full() && self.seen.insert(value.to_string()) && self.values.accepts(&value) {
            self.found.push(Valid { value, reason: reason.clone() });
        }
    }

    /// Whether it is time to stop.
    fn is_full(&self) -> bool {
        self.found.len() >= self.most || self.tried >= self.most * 4 + 64
    }
}

/// Values at the edges of what is valid at a place; some may be invalid.
fn edges(place: &Place<'_, '_>) -> Vec<Value> {
    let shape = &place.shape;
    if shape.constant.is_some() {
        return Vec::new();
    }
    if let Some(options) = &shape.options {
        let last = options.iter().rev().take(1);
        return options.iter().take(NAMED).chain(last).map(|option| (*option).clone()).collect();
    }
    let examples = shape.examples.iter().copied().chain(shape.default);
    let mut edges: Vec<Value> = examples.take(NAMED).cloned().collect();
    let has = |types| shape.types.has(types) && shape.types != Types::ALL;
    if has(Types::STRING) {
        edges.extend(text::edges(shape).into_iter().map(Value::String));
    }
    if has(Types::INTEGER) {
        edges.extend(shape.range.edges());
    }
    if has(Types::BOOLEAN) {
        edges.extend([json!(true), json!(false)]);
    }
    if has(Types::NULL) {
        edges.push(Value::Null);
    }
    if let Value::Array(elements) = place.value {
        for count in [Some(shape.min_items), shape.max_items].into_iter().flatten() {
            edges.extend(repeated(elements, count));
        }
    }
    edges
}

/// Repeats elements up to `count`; `None` if that is too many or there are no elements.
pub(super) fn repeated(elements: &[Value], count: u64) -> Option<Value> {
    if count > ELEMENTS || (count > 0 && elements.is_empty()) {
        return None;
    }
    let count = usize::try_from(count).ok()?;
    Some(Value::Array(elements.iter().cycle().take(count).cloned().collect()))
}
