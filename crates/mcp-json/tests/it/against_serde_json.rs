//! Arbitrary bytes: accepted exactly when `serde_json` accepts them, except for known differences.

use mcp_json::{Document, Limits, Node, Tape};
use proptest::prelude::{Strategy, any, prop_oneof, proptest};
use serde_json::Value;

use crate::spelling::values;

/// `serde_json` rejects three kinds of text that are JSON: with lone surrogates, with numbers out
/// of range for `f64`, and nested 128 levels deep.
#[track_caller]
fn check(input: &[u8]) {
    let mut tape = Tape::new();
    let ours = tape.parse(input, Limits::default());
    let theirs = serde_json::from_slice::<Value>(input);
    let shown = String::from_utf8_lossy(input);
    match (ours, theirs) {
        (Ok(document), Ok(value)) => {
            assert_eq!(document.root().to_value(), value, "{shown}");
            check_spans(document.root());
            check_appended(input, &document);
        }
        (Ok(document), Err(error)) => {
            let known = document.has_lone_surrogates()
                || has(document.root(), |node| node.is_number() && node.as_f64().is_none())
                || depth(document.root()) >= 128;
            assert!(known, "only serde_json refuses {shown}: {error}");
        }
        (Err(error), Ok(_)) => panic!("only serde_json accepts {shown}: {error}"),
        (Err(error), Err(_)) => assert!(error.offset <= input.len()),
    }
}

fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    node.elements().chain(node.members().flat_map(|(name, value)| [name, value]))
}

fn has(node: Node<'_>, wanted: fn(Node<'_>) -> bool) -> bool {
    wanted(node) || children(node).any(|child| has(child, wanted))
}

fn depth(node: Node<'_>) -> usize {
    let below = children(node).map(depth).max().unwrap_or(0);
    below + usize::from(node.is_array() || node.is_object())
}

/// The text of a span parses to the same value on its own.
fn check_spans(node: Node<'_>) {
    let mut tape = Tape::new();
    let alone = tape.parse(node.raw(), Limits::default()).unwrap();
    assert_eq!(alone.root().to_value(), node.to_value());
    assert_eq!(alone.root().kind(), node.kind());
    children(node).for_each(check_spans);
}

fn check_appended(input: &[u8], expected: &Document<'_>) {
    let mut tape = Tape::new();
    tape.append(b"[1]", Limits::default()).unwrap();
    let slot = tape.append(input, Limits::default()).unwrap();
    assert_eq!(format!("{:?}", tape.document(slot, input)), format!("{expected:?}"));
}

/// Fragments of JSON, and some that are not, in any order.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 48] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b"\"",
        b"\"a\"",
        b"\"a\":",
        b"\"b\":1,",
        b"\"\"",
        b"\\",
        b"\\\\",
        b"\\\"",
        b"\\n",
        b"\\u",
        b"\\u0061",
        b"\\ud800",
        b"\\udc00",
        b"\\x",
        b"0",
        b"1",
        b"-",
        b"+",
        b".",
        b"e",
        b"E",
        b"12",
        b"1e400",
        b"-0",
        b"0.1",
        b"1e5",
        b"true",
        b"false",
        b"null",
        b"nul",
        b" ",
        b"\n",
        b"\t",
        b"\x0C",
        b"\0",
        b"\x1F",
        b"\x80",
        b"\xFF",
        b"\xC3\xA4",
        b"\xED\xA0\x80",
        b"\xEF\xBB\xBF",
        b"abcdefghijklmnopqrstuvwxyz",
    ];
    proptest::collection::vec(proptest::sample::select(&PIECES), 0..30)
        .prop_map(|pieces| pieces.concat())
}

/// Valid texts with one byte changed, removed or inserted.
fn nearly_good() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<proptest::sample::Index>(), any::<u8>(), 0..4);
    (values(), change).prop_map(|(value, (place, byte, change))| {
        let mut text = value.to_string().into_bytes();
        let at = place.index(text.len());
        match change {
            0 => text[at] = byte,
            1 => drop(text.remove(at)),
            2 => text.insert(at, byte),
            _ => text.truncate(at),
        }
        text
    })
}

proptest! {
    #[test]
    fn any_bytes_are_judged_the_same(
        input in prop_oneof![pieces(), nearly_good(), proptest::collection::vec(any::<u8>(), 0..40)],
    ) {
        check(&input);
    }
}

#[test]
fn nesting_is_judged_the_same_up_to_the_limit_of_serde_json() {
    for depth in 0..128 {
        check(&[vec![b'['; depth], b"0".to_vec(), vec![b']'; depth]].concat());
    }
}
