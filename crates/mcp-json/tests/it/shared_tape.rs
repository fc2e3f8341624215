//! Many texts on one tape.

use mcp_json::{Limits, Tape};

const LINES: [&str; 6] =
    ["[1,2,{\"a\":3}]", "true", "{\"b\":{},\"b\":1}", "\"\\ud800\"", "[[[[]]]]", " 7 "];

#[test]
fn appended_texts_read_as_if_parsed_alone() {
    let mut tape = Tape::new();
    let slots = LINES.map(|line| tape.append(line.as_bytes(), Limits::default()).unwrap());
    for (line, slot) in LINES.iter().zip(slots) {
        let mut alone = Tape::new();
        let expected = alone.parse(line.as_bytes(), Limits::default()).unwrap();
        let document = tape.document(slot, line.as_bytes());
        assert_eq!(format!("{document:?}"), format!("{expected:?}"));
        assert_eq!(document.root().to_value(), expected.root().to_value());
        assert_eq!(document.root().span(), expected.root().span());
        assert_eq!(document.has_duplicate_keys(), expected.has_duplicate_keys());
        assert_eq!(document.has_lone_surrogates(), expected.has_lone_surrogates());
    }
}

#[test]
fn an_error_leaves_no_trace() {
    let mut tape = Tape::new();
    let first = tape.append(b"[1,2]", Limits::default()).unwrap();
    for wrong in ["[1,{\"a\":[2", "", "[", "{\"a\":1,\"a\":1,}"] {
        tape.append(wrong.as_bytes(), Limits::default()).unwrap_err();
    }
    let second = tape.append(b"{\"x\":[]}", Limits::default()).unwrap();
    let mut clean = Tape::new();
    assert_eq!(clean.append(b"[1,2]", Limits::default()).unwrap(), first);
    assert_eq!(clean.append(b"{\"x\":[]}", Limits::default()).unwrap(), second);
    assert_eq!(tape.document(first, b"[1,2]").root().len(), 2);
    assert!(tape.document(second, b"{\"x\":[]}").root().get("x").is_some());
}

#[test]
#[should_panic(expected = "the input is the one that was parsed")]
fn a_slot_belongs_to_its_input() {
    let mut tape = Tape::new();
    let slot = tape.append(b"[1,2]", Limits::default()).unwrap();
    tape.document(slot, b"[1,2,3]");
}
