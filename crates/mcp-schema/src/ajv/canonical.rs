//! Canonical text: equal values have equal texts.

use std::fmt::Write as _;

use mcp_json::{Kind, Node};

use crate::program::Number;

/// A text that is the same for exactly those values that JSON Schema considers equal: `1` and
/// `1.0`, and objects regardless of member order.
///
/// Recursive: the nesting of `node` is limited where it was parsed.
pub(super) fn canonical(node: Node<'_>) -> Box<str> {
    let mut text = String::new();
    append(node, &mut text);
    text.into_boxed_str()
}

fn append(node: Node<'_>, text: &mut String) {
    match node.kind() {
        Kind::Null => text.push_str("null"),
        Kind::Bool => text.push_str(if node.as_bool() == Some(true) { "true" } else { "false" }),
        Kind::Integer | Kind::Decimal => append_number(node, text),
        Kind::String => append_string(&node.as_str().unwrap_or_default(), text),
        Kind::Array => {
            text.push('[');
            for element in node.elements() {
                append(element, text);
                text.push(',');
            }
            text.push(']');
        }
        Kind::Object => {
            let mut members: Vec<_> = node
                .members()
                .map(|(key, value)| (key.as_str().unwrap_or_default(), value))
                .collect();
            // The sort is stable: among members with the same name, the last stays last.
            members.sort_by(|one, other| one.0.cmp(&other.0));
            text.push('{');
            for (position, (name, value)) in members.iter().enumerate() {
                if members.get(position + 1).is_some_and(|next| next.0 == *name) {
                    continue;
                }
                append_string(name, text);
                text.push(':');
                append(*value, text);
                text.push(',');
            }
            text.push('}');
        }
    }
}

/// Length-prefixed, so that nothing needs escaping.
fn append_string(string: &str, text: &mut String) {
    text.push('"');
    text.push_str(&string.len().to_string());
    text.push(':');
    text.push_str(string);
}

fn append_number(node: Node<'_>, text: &mut String) {
    /// Whole doubles below this convert to integers exactly.
    const EXACT: f64 = 1e30;
    match Number::of_node(node) {
        Some(Number::Integer(value)) => text.push_str(&value.to_string()),
        Some(Number::Float(value)) if value.fract() == 0.0 && value.abs() < EXACT => {
            #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
            text.push_str(&(value as i128).to_string());
        }
        Some(Number::Float(value)) => {
            let _ = write!(text, "{value:e}");
        }
        None => text.push('0'),
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    fn canonical(text: &str) -> Box<str> {
        let mut tape = Tape::new();
        super::canonical(tape.parse(text.as_bytes(), Limits::default()).unwrap().root())
    }

    #[test]
    fn equal_values_have_equal_texts_and_others_do_not() {
        let groups: [&[&str]; 9] = [
            &["1", "1.0", "10e-1"],
            &["1.5", "15e-1"],
            &["9007199254740993"],
            &["9007199254740992", "9007199254740992.0"],
            &["\"1\""],
            &["\"a\"", r#""\u0061""#],
            &[r#"{"a":1,"b":[null]}"#, r#"{ "b":[null], "a":1.0 }"#, r#"{"a":2,"b":[null],"a":1}"#],
            &[r#"["a","b"]"#],
            &[r#"["a\",1:b"]"#],
        ];
        for (number, group) in groups.iter().enumerate() {
            for one in *group {
                assert_eq!(canonical(one), canonical(group[0]), "{one}");
                for other in groups.iter().skip(number + 1).copied().flatten() {
                    assert_ne!(canonical(one), canonical(other), "{one} {other}");
                }
            }
        }
    }
}
