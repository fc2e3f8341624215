//! Copies of nodes as `serde_json` values.

use serde_json::{Map, Number, Value};

use crate::node::{Kind, Node};

/// Maximum depth of a value. Dropping a `serde_json` value recurses, so a deeper one could overflow
/// the stack where it is least expected.
const MAX_DEPTH: usize = 512;

pub(crate) fn build(node: Node<'_>) -> Value {
    build_within(node, MAX_DEPTH)
}

fn build_within(node: Node<'_>, levels: usize) -> Value {
    match node.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(node.as_bool() == Some(true)),
        Kind::Integer | Kind::Decimal => Value::Number(number(node)),
        Kind::String => Value::String(node.as_str().unwrap_or_default().into_owned()),
        Kind::Array | Kind::Object if levels == 0 => Value::Null,
        Kind::Array => node.elements().map(|element| build_within(element, levels - 1)).collect(),
        Kind::Object => {
            let mut members = Map::new();
            for (name, value) in node.members() {
                let name = name.as_str().unwrap_or_default().into_owned();
                members.insert(name, build_within(value, levels - 1));
            }
            Value::Object(members)
        }
    }
}

/// The number, as close as `serde_json` can represent it.
pub(crate) fn number(node: Node<'_>) -> Number {
    let is_negative = node.raw().starts_with(b"-");
    match (node.as_u64(), node.as_i64()) {
        (Some(value), _) if !is_negative => return value.into(),
        (_, Some(value)) if value != 0 => return value.into(),
        // Only `f64` has a negative zero.
        _ => {}
    }
    let largest = if is_negative { f64::MIN } else { f64::MAX };
    Number::from_f64(node.as_f64().unwrap_or(largest)).unwrap_or_else(|| 0.into())
}
