//! Replaces parts of a text, leaving all other bytes unchanged.

use std::collections::BTreeSet;

use bytes::Bytes;
use mcp_json::{Node, Span};

/// Replaces parts of a text, which must not overlap.
pub(crate) fn with_parts(text: &[u8], mut parts: Vec<(Span, Bytes)>) -> Bytes {
    parts.sort_by_key(|(span, _)| span.start);
    let mut out = Vec::with_capacity(text.len() + 32);
    let mut copied = 0;
    for (span, new) in parts {
        out.extend_from_slice(text.get(copied..span.start).unwrap_or_default());
        out.extend_from_slice(&new);
        copied = span.end;
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    out.into()
}

/// The parts of a text to cut so that an array loses these elements, with their commas.
pub(crate) fn without_elements(array: Node<'_>, gone: &BTreeSet<usize>) -> Vec<(Span, Bytes)> {
    let spans: Vec<Span> = array.elements().map(Node::span).collect();
    let last_kept = (0..spans.len()).rev().find(|index| !gone.contains(index));
    let mut parts = Vec::new();
    let mut remove = |start, end| parts.push((Span { start, end }, Bytes::new()));
    for (index, span) in spans.iter().enumerate() {
        match (spans.get(index + 1), last_kept) {
            // The comma after it goes with it.
            (Some(next), Some(kept)) if index < kept => {
                if gone.contains(&index) {
                    remove(span.start, next.start);
                }
            }
            // No element is kept after it, so the comma before it goes.
            (_, Some(kept)) => {
                if let (true, Some(last)) = (index == kept, spans.last()) {
                    remove(span.end, last.end);
                }
            }
            (_, None) => {
                remove(span.start, spans.get(index + 1).map_or(span.end, |next| next.start));
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_are_replaced_wherever_they_are() {
        let span = |start, end| Span { start, end };
        let parts = vec![(span(4, 5), Bytes::from("55")), (span(0, 1), Bytes::from("x"))];
        assert_eq!(with_parts(b"a b c", parts), "x b 55");
        assert_eq!(with_parts(b"a", Vec::new()), "a");
    }

    fn cut(text: &str, gone: &[usize]) -> String {
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
        let parts = without_elements(document.root(), &gone.iter().copied().collect());
        String::from_utf8(with_parts(text.as_bytes(), parts).to_vec()).unwrap()
    }

    #[test]
    fn elements_go_with_one_comma() {
        let text = "[ 1 ,  2,3 , 4 ]";
        assert_eq!(cut(text, &[]), text);
        assert_eq!(cut(text, &[0]), "[ 2,3 , 4 ]");
        assert_eq!(cut(text, &[1]), "[ 1 ,  3 , 4 ]");
        assert_eq!(cut(text, &[3]), "[ 1 ,  2,3 ]");
        assert_eq!(cut(text, &[1, 2, 3]), "[ 1 ]");
        assert_eq!(cut(text, &[0, 2]), "[ 2,4 ]");
        assert_eq!(cut(text, &[0, 1, 2, 3]), "[  ]");
        assert_eq!(cut("[]", &[]), "[]");
    }

    proptest! {
        #[test]
        fn what_is_left_is_what_was_kept(kept in prop::collection::vec(any::<bool>(), 0..8)) {
            let numbers: Vec<String> = (0..kept.len()).map(|index| format!("{{\"a\": {index} }}")).collect();
            let text = format!("[{}]", numbers.join(" , "));
            let gone: Vec<usize> = (0..kept.len()).filter(|index| !kept[*index]).collect();
            let left: serde_json::Value = serde_json::from_str(&cut(&text, &gone)).unwrap();
            let whole: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
            let expected: Vec<_> = whole.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(value, _)| value).collect();
            prop_assert_eq!(left, serde_json::Value::from(expected));
        }
    }
}
