//! The small questions that the generated validators ask of a node.

use std::borrow::Cow;

use mcp_json::{Kind, Node};

/// The text of a member's name.
#[inline]
pub(crate) fn text(name: Node<'_>) -> Cow<'_, [u8]> {
    name.str_bytes().unwrap_or_default()
}

/// Whether `node` is a string for whose text `fits` holds.
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

/// The value of a number; what exceeds every `f64` is infinite.
fn value(number: Node<'_>) -> f64 {
    match number.as_f64() {
        Some(value) => value,
        None if number.raw().starts_with(b"-") => f64::NEG_INFINITY,
        None => f64::INFINITY,
    }
}

/// Whether `node` is an object and `fits` holds for every value in it.
#[inline]
pub(crate) fn every_value<'a>(node: Node<'a>, fits: impl Fn(Node<'a>) -> bool) -> bool {
    node.is_object() && node.members().all(|(_, value)| fits(value))
}
