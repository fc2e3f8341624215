//! JSON Pointer (RFC 6901).

use std::borrow::Cow;

use crate::node::Node;

pub(crate) fn resolve<'a>(root: Node<'a>, pointer: &str) -> Option<Node<'a>> {
    if pointer.is_empty() {
        return Some(root);
    }
    pointer.strip_prefix('/')?.split('/').try_fold(root, |node, token| {
        if node.is_array() {
            return node.elements().nth(index(token)?);
        }
        node.get(&decode(token))
    })
}

/// Appends one reference token to a JSON pointer.
pub fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(character),
        }
    }
}

fn decode(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        // In this order, so that `~01` becomes `~1`.
        return Cow::Owned(token.replace("~1", "/").replace("~0", "~"));
    }
    Cow::Borrowed(token)
}

/// Digits without sign and without leading zeros.
fn index(token: &str) -> Option<usize> {
    let is_canonical = token == "0" || !token.starts_with(['0', '+']);
    if is_canonical { token.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use crate::{Limits, Node, Tape};

    #[track_caller]
    fn check(pointer: &str, expected: Option<&str>) {
        let input = br#"{"a":[10,{"b":"x"}],"":0,"/":1,"~":2,"~1":3,"m n":4,"01":5}"#;
        let mut tape = Tape::new();
        let document = tape.parse(input, Limits::default()).unwrap();
        let found = document.root().pointer(pointer).map(Node::raw);
        assert_eq!(found, expected.map(str::as_bytes));
    }

    #[test]
    fn pointers_lead_to_values() {
        check("/a/0", Some("10"));
        check("/a/1/b", Some("\"x\""));
        check("/", Some("0"));
        check("/~1", Some("1"));
        check("/~0", Some("2"));
        check("/~01", Some("3"));
        check("/m n", Some("4"));
        check("/01", Some("5"));
    }

    #[test]
    fn pointers_that_lead_nowhere() {
        for pointer in ["a", "/b", "/a/2", "/a/-", "/a/00", "/a/+1", "/a/0/x", "/a/", "/a/01"] {
            check(pointer, None);
        }
    }
}
