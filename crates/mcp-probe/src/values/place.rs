//! The places of a value, with the schema that applies to each.

use serde_json::Value;

use super::{
    document::Document,
    shape::{Branches, Shape},
};

/// Maximum number of places of a value.
const PLACES: usize = 256;
/// Maximum depth of a place.
const DEPTH: usize = 12;
/// Maximum number of elements of an array.
const ELEMENTS: usize = 2;
/// Maximum combinations of alternatives to try for a place.
const BRANCHES: usize = 16;

/// A place in a value.
#[derive(Debug)]
pub(super) struct Place<'s, 'v> {
    /// A JSON pointer.
    pub(super) pointer: String,
    pub(super) value: &'v Value,
    pub(super) shape: Shape<'s>,
}

/// The places of a value, outer ones first.
pub(super) fn places<'s, 'v>(document: Document<'s>, value: &'v Value) -> Vec<Place<'s, 'v>> {
    let mut places: Vec<Place<'s, 'v>> = Vec::new();
    let mut pending = std::collections::VecDeque::new();
    pending.push_back((String::new(), value, vec![document.root()], 0));
    while let Some((pointer, value, schemas, depth)) = pending.pop_front() {
        if places.len() >= PLACES {
            break;
        }
        let mut combinations = (0..BRANCHES).filter_map(|number| {
            let shape = Shape::of(document, &schemas, &mut Branches::Nth(number))?;
            shape.admits(value).then_some(shape)
        });
        let Some(shape) = combinations.next() else { continue };
        if depth < DEPTH {
            for (name, member) in value.as_object().into_iter().flatten() {
                if let Some(schemas) = shape.member(name) {
                    let pointer = format!("{pointer}/{}", token(name));
                    pending.push_back((pointer, member, schemas, depth + 1));
                }
            }
            let elements = value.as_array().into_iter().flatten().enumerate();
            for (index, element) in elements.take(ELEMENTS) {
                let schemas = shape.element(index);
                pending.push_back((format!("{pointer}/{index}"), element, schemas, depth + 1));
            }
        }
        places.push(Place { pointer, value, shape });
    }
    places
}

/// Escapes a name for a JSON pointer.
pub(crate) fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Replaces the value at a place, or removes it if `by` is `None`.
pub(super) fn replaced(value: &Value, pointer: &str, by: Option<Value>) -> Option<Value> {
    let Some((parent, token)) = pointer.rsplit_once('/') else { return by };
    let mut changed = value.clone();
    match (changed.pointer_mut(parent)?, by) {
        (Value::Object(members), by) => {
            let name = token.replace("~1", "/").replace("~0", "~");
            match by {
                Some(by) => members.insert(name, by),
                None => members.remove(&name),
            };
        }
        (Value::Array(elements), by) => {
            let index: usize = token.parse().ok()?;
            match by {
                Some(by) => *elements.get_mut(index)? = by,
                None if index < elements.len() => drop(elements.remove(index)),
                None => return None,
            }
        }
        _ => return None,
    }
    Some(changed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_place_has_its_shape() {
        let schema = json!({
            "properties": {
                "a/b": { "$ref": "#/$defs/x" },
                "list": { "items": { "minimum": 3 } },
                "kind": { "oneOf": [
                    { "properties": { "k": { "const": "one" }, "n": { "type": "integer" } } },
                    { "properties": { "k": { "const": "two" }, "n": { "minLength": 5 } } },
                ] },
            },
            "$defs": { "x": { "minLength": 4 } },
        });
        let value = json!({
            "a/b": "text", "list": [3, 4, 5], "kind": { "k": "two", "n": "abcde" }, "more": 1,
        });
        let places = places(Document::new(&schema), &value);
        let pointers: Vec<&str> = places.iter().map(|place| place.pointer.as_str()).collect();
        let expected =
            ["", "/a~1b", "/kind", "/list", "/more", "/kind/k", "/kind/n", "/list/0", "/list/1"];
        assert_eq!(pointers, expected);
        assert_eq!(places[1].shape.min_length, 4);
        assert_eq!(places[6].shape.min_length, 5, "the alternative that the value is of");
    }

    #[test]
    fn a_place_can_be_replaced_or_removed() {
        let value = json!({ "a/b": [1, 2], "c": 3 });
        let change = |pointer, by| replaced(&value, pointer, by).unwrap_or_default();
        assert_eq!(change("/a~1b/1", Some(json!("x"))), json!({ "a/b": [1, "x"], "c": 3 }));
        assert_eq!(change("/a~1b/0", None), json!({ "a/b": [2], "c": 3 }));
        assert_eq!(change("/c", None), json!({ "a/b": [1, 2] }));
        assert_eq!(change("", Some(json!(7))), json!(7));
        assert_eq!(change("/c/d", Some(json!(7))), Value::Null);
        assert_eq!(change("/new", Some(json!(7))), json!({ "a/b": [1, 2], "c": 3, "new": 7 }));
    }
}
