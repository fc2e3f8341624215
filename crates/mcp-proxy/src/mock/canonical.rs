//! Canonical JSON: equal values become equal bytes.

use mcp_json::Node;

/// Appends `node` to `out`: members sorted by name, strings unescaped, numbers by value. Recursion
/// is fine here: the parser has limited the depth.
pub(super) fn write(node: Node<'_>, out: &mut Vec<u8>) {
    if node.is_object() {
        write_members(node, |_| true, out);
    } else if node.is_array() {
        out.push(b'[');
        for element in node.elements() {
            write(element, out);
            out.push(b',');
        }
        out.push(b']');
    } else if let Some(text) = node.str_bytes() {
        write_text(&text, out);
    } else if let Some(number) = number(node) {
        out.extend_from_slice(number.as_bytes());
    } else {
        out.extend_from_slice(node.raw());
    }
}

/// Like [`write`], for an object, with only the members whose names are `wanted`. Of members with the
/// same name the last one counts.
pub(super) fn write_members(node: Node<'_>, wanted: impl Fn(&[u8]) -> bool, out: &mut Vec<u8>) {
    let mut members: Vec<_> = node
        .members()
        .map(|(name, value)| (name.str_bytes().unwrap_or_default(), value))
        .filter(|(name, _)| wanted(name))
        .collect();
    members.sort_by(|one, other| one.0.cmp(&other.0));
    out.push(b'{');
    for (index, (name, value)) in members.iter().enumerate() {
        if members.get(index + 1).is_some_and(|next| next.0 == *name) {
            continue;
        }
        write_text(name, out);
        write(*value, out);
        out.push(b',');
    }
    out.push(b'}');
}

/// The length comes first, so that no text can look like structure.
fn write_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\"{}:", text.len()).as_bytes());
    out.extend_from_slice(text);
}

fn number(node: Node<'_>) -> Option<String> {
    let literal = node.number_literal()?;
    if !literal.contains(['.', 'e', 'E']) {
        return Some(literal.to_owned());
    }
    node.as_f64().map(|value| value.to_string())
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    fn canonical(text: &str) -> Vec<u8> {
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
        let mut out = Vec::new();
        write(document.root(), &mut out);
        out
    }

    #[test]
    fn equal_values_are_equal_bytes() {
        for (one, other) in [
            (r#"{"a":1,"b":[true,null]}"#, r#"{ "b" : [true, null], "a" : 1.0 }"#),
            (r#""a\u0062""#, r#""ab""#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            ("1e2", "100"),
        ] {
            assert_eq!(canonical(one), canonical(other), "{one} {other}");
        }
    }

    #[test]
    fn different_values_are_different_bytes() {
        for (one, other) in [
            ("1", "\"1\""),
            ("[1,2]", "[2,1]"),
            ("[[],1]", "[[1]]"),
            (r#"{"a":"b,\"1:c"}"#, r#"{"a":"b","c":""}"#),
            ("9007199254740993", "9007199254740992"),
            ("null", "{}"),
        ] {
            assert_ne!(canonical(one), canonical(other), "{one} {other}");
        }
    }
}
