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

/// The text that needs the most tape for its length.
fn digits(count: usize) -> String {
    format!("[{}]", vec!["1"; count].join(","))
}

#[test]
fn a_tape_gives_back_what_a_large_text_took() {
    let mut tape = Tape::new();
    let object: Vec<_> = (0..10_000).map(|name| format!("\"{name}\":1")).collect();
    for large in [digits(100_000), format!("{{{}}}", object.join(","))] {
        tape.parse(large.as_bytes(), Limits::default()).unwrap();
        assert!(tape.memory() > 100_000);
        tape.clear();
        tape.shrink_to(4096);
        assert!(tape.memory() <= 4096, "{}", tape.memory());
    }
    let usual = tape.parse(b"[1,2]", Limits::default()).unwrap();
    assert_eq!(usual.root().len(), 2);
}

#[test]
fn a_tape_within_the_bound_keeps_its_memory() {
    let mut tape = Tape::new();
    tape.parse(digits(100).as_bytes(), Limits::default()).unwrap();
    let before = tape.memory();
    tape.shrink_to(before);
    assert_eq!(tape.memory(), before);
}

#[test]
fn shrinking_leaves_documents_alone() {
    let mut tape = Tape::new();
    let text = digits(1000);
    let slot = tape.append(text.as_bytes(), Limits::default()).unwrap();
    tape.shrink_to(0);
    assert_eq!(tape.document(slot, text.as_bytes()).root().len(), 1000);
}
