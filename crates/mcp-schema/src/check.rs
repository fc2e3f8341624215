//! The small predicates that generated validators use on nodes.

use std::borrow::Cow;

use mcp_json::{Kind, Node};

/// The bytes of a member's name.
#[inline]
pub(crate) fn text(name: Node<'_>) -> Cow<'_, [u8]> {
    name.str_bytes().unwrap_or_default()
}

/// Whether `node` is a string whose text satisfies `fits`.
#[inline]
pub(crate) fn text_is(node: Node<'_>, fits: impl FnOnce(&[u8]) -> bool) -> bool {
    node.str_bytes().is_some_and(|text| fits(&text))
}

#[inline]
pub(crate) fn is_boolean(node: Node<'_>) -> bool {
    node.kind() == Kind::Bool
}

/// Whether the number `node` is `bound` or more.
pub(crate) fn at_least(node: Node<'_>, bound: i32) -> bool {
    value(node) >= f64::from(bound)
}

/// Whether the number `node` is `bound` or less.
pub(crate) fn at_most(node: Node<'_>, bound: i32) -> bool {
    value(node) <= f64::from(bound)
}

/// The value of a number; infinite if out of range for `f64`.
fn value(number: Node<'_>) -> f64 {
    match number.as_f64() {
        Some(value) => value,
        None if number.raw().starts_with(b"-") => f64::NEG_INFINITY,
        None => f64::INFINITY,
    }
}

/// Whether `node` is an object in which every value satisfies `fits`.
#[inline]
pub(crate) fn every_value<'a>(node: Node<'a>, fits: impl Fn(Node<'a>) -> bool) -> bool {
    node.is_object() && node.members().all(|(_, value)| fits(value))
}
