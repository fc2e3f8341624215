//! Invalid values that break exactly one constraint.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    Values,
    place::{Place, places, replaced, token},
    shape::Types,
    text,
    valid::repeated,
};

/// Maximum number of changes to try.
const TRIED: usize = 512;

/// An invalid value, and how it was derived from a valid one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Broken {
    /// The value.
    pub(crate) value: Value,
    /// The changed place, as a JSON pointer.
    pub(crate) pointer: String,
    /// The keyword that is broken.
    pub(crate) keyword: &'static str,
    /// The value before; `None` if absent.
    pub(crate) before: Option<Value>,
    /// The value now; `None` if absent.
    pub(crate) after: Option<Value>,
}

pub(super) fn broken(values: &Values, base: &Value, most: usize) -> Vec<Broken> {
    let mut seen = BTreeSet::new();
    let mut found: Vec<(usize, Broken)> = Vec::new();
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let places = places(values.document(), base);
    for change in places.iter().flat_map(changes).take(TRIED) {
        let Change { pointer, keyword, after } = change;
        let Some(value) = replaced(base, &pointer, after.clone()) else { continue };
        if !seen.insert(value.to_string()) || !values.refuses(&value) {
            continue;
        }
        let before = base.pointer(&pointer).cloned();
        let count = counts.entry(keyword).or_default();
        found.push((*count, Broken { value, pointer, keyword, before, after }));
        *count += 1;
    }
    // A stable sort keeps outer places first.
    found.sort_by_key(|(count, _)| *count);
    found.into_iter().take(most).map(|(_, broken)| broken).collect()
}

struct Change {
    pointer: String,
    keyword: &'static str,
    after: Option<Value>,
}

/// Changes at a place that should violate its schema.
fn changes(place: &Place<'_, '_>) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut change = |pointer: String, keyword, after| {
        changes.push(Change { pointer, keyword, after });
    };
    let shape = &place.shape;
    let here = || place.pointer.clone();
    let member = |name: &str| format!("{}/{}", place.pointer, token(name));
    if let Value::Object(members) = place.value {
        for name in shape.required.iter().filter(|name| members.contains_key(**name)) {
            change(member(name), "required", None);
        }
        if shape.is_closed {
            change(member("plumb_extra"), "additionalProperties", Some(json!("plumb")));
        } else if shape.max_properties == Some(members.len() as u64) {
            change(member("plumb_extra"), "maxProperties", Some(json!("plumb")));
        }
    }
    for wrong in wrong_types(place) {
        change(here(), "type", Some(wrong));
    }
    if let Some(constant) = shape.constant {
        change(here(), "const", Some(unlike(constant)));
    }
    if let Some(option) = shape.options.as_ref().and_then(|options| options.first()) {
        change(here(), "enum", Some(unlike(option)));
    }
    match place.value {
        Value::Number(_) => {
            for (keyword, outside) in shape.range.outside() {
                change(here(), keyword, Some(outside));
            }
        }
        Value::String(before) => {
            let shorter = shape.min_length.checked_sub(1).filter(|length| *length <= text::LONGEST);
            let short = shorter.and_then(|length| text::of_length(before, length));
            change_text(&mut change, here(), "minLength", short);
            let longer = shape.max_length.and_then(|most| most.checked_add(1));
            let word = if before.is_empty() { "plumb" } else { before };
            let long = longer.and_then(|length| text::of_length(word, length));
            change_text(&mut change, here(), "maxLength", long);
            if !shape.patterns.is_empty() {
                for text in ["!", "plumb plumb", "", "\u{1}"] {
                    change_text(&mut change, here(), "pattern", Some(text.to_owned()));
                }
            }
        }
        Value::Array(elements) => {
            let fewer = shape.min_items.checked_sub(1);
            if let Some(fewer) = fewer.and_then(|count| repeated(elements, count)) {
                change(here(), "minItems", Some(fewer));
            }
            let more = shape.max_items.and_then(|most| most.checked_add(1));
            if let Some(more) = more.and_then(|count| repeated(elements, count)) {
                change(here(), "maxItems", Some(more));
            }
            if let (true, Some(first)) = (shape.is_unique, elements.first()) {
                change(here(), "uniqueItems", Some(json!([first, first])));
            }
        }
        _ => {}
    }
    changes
}

fn change_text(
    change: &mut impl FnMut(String, &'static str, Option<Value>),
    pointer: String,
    keyword: &'static str,
    text: Option<String>,
) {
    if let Some(text) = text {
        change(pointer, keyword, Some(Value::String(text)));
    }
}

/// Values of other types: plain ones that cannot be converted to the right type, the current value
/// with one level of nesting more or less, and a fraction for an integer.
fn wrong_types(place: &Place<'_, '_>) -> Vec<Value> {
    // The arguments themselves must be an object, or the request is malformed.
    if place.shape.types == Types::ALL || place.pointer.is_empty() {
        return Vec::new();
    }
    let nested = match place.value {
        Value::Array(elements) if elements.len() == 1 => elements[0].clone(),
        Value::Array(_) => json!({ "items": place.value }),
        value => json!([value]),
    };
    let plain = [json!("plumb"), json!({ "plumb": true }), json!(7.5), json!([]), Value::Null];
    let is_wrong = |value: &Value| !place.shape.types.has(Types::of(value));
    let mut wrong: Vec<Value> = plain.into_iter().filter(is_wrong).take(1).collect();
    wrong.extend(Some(nested).filter(is_wrong));
    let whole = place.value.as_i64().and_then(|whole| i32::try_from(whole).ok());
    wrong.extend(whole.map(|whole| json!(f64::from(whole) + 0.5)).filter(is_wrong));
    wrong
}

/// A different value of the same type.
fn unlike(value: &Value) -> Value {
    match value {
        Value::String(_) => json!("plumb-none-of-these"),
        Value::Number(number) => json!(number.as_f64().unwrap_or_default().floor() + 7919.0),
        Value::Bool(value) => json!(!value),
        Value::Null => json!("plumb"),
        Value::Array(_) => json!(["plumb-none-of-these"]),
        Value::Object(_) => json!({ "plumb": "none of these" }),
    }
}
