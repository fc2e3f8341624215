//! Duplicate names in one object.

use std::collections::HashSet;
use std::fmt::Write as _;

use mcp_json::{Fingerprint, Limits, Node, Tape};
use proptest::prelude::{Strategy, any, proptest};

/// Asserts the duplicates, as `name@offset`, in order.
#[track_caller]
fn check(input: &str, expected: &[&str]) {
    let mut tape = Tape::new();
    let document = tape.parse(input.as_bytes(), Limits::default()).unwrap();
    let found = document
        .duplicate_keys()
        .map(|duplicate| {
            assert!(duplicate.object.is_object());
            assert!(duplicate.first.end <= duplicate.again.start);
            format!("{}@{}", duplicate.name, duplicate.again.start)
        })
        .collect::<Vec<_>>();
    assert_eq!(found, expected, "{input}");
    assert_eq!(document.has_duplicate_keys(), !expected.is_empty(), "{input}");
}

#[test]
fn names_of_one_object_are_compared() {
    check("{}", &[]);
    check(r#"{"a":1}"#, &[]);
    check(r#"{"a":1,"b":2}"#, &[]);
    check(r#"{"a":1,"a":1}"#, &["a@7"]);
    check(r#"{"a":1,"a":2,"a":3}"#, &["a@7", "a@13"]);
    check(r#"{"":1,"":2}"#, &["@6"]);
    check(r#"{"a":1,"b":{"c":1,"a":2},"d":[{"a":1},{"a":2}]}"#, &[]);
    check(r#"{"a":{"x":1,"y":{"z":0,"z":1}},"a":2}"#, &["a@31", "z@23"]);
    check(r#"[{"a":1},{"b":1,"b":2}]"#, &["b@16"]);
    check(r#"{"a":{"a":{"a":1}},"b":"a"}"#, &[]);
}

#[test]
fn names_are_compared_unescaped() {
    check(r#"{"a":1,"\u0061":2}"#, &["a@7"]);
    check(r#"{"\u0061":1,"a":2}"#, &["a@12"]);
    check(r#"{"\/":1,"/":2}"#, &["/@8"]);
    check(r#"{"\n":1,"n":2,"\\n":3}"#, &[]);
    check(r#"{"description":1,"descr\u0069ption":2}"#, &["description@17"]);
    check(r#"{"\ud83d\ude00":1,"😀":2}"#, &["😀@18"]);
}

#[test]
fn names_that_look_alike_are_told_apart() {
    // Same length, same beginning, same end.
    check(r#"{"prefix_1_suffix":1,"prefix_2_suffix":2}"#, &[]);
    check(r#"{"aXbbbbbbbb":1,"aYbbbbbbbb":2,"aXbbbbbbbb":3}"#, &["aXbbbbbbbb@31"]);
    check(r#"{"a":1,"A":2,"ab":3,"ba":4,"aa":5}"#, &[]);
}

fn object(names: impl Iterator<Item = String>) -> String {
    let mut text = "{".to_owned();
    for name in names {
        let separator = if text.len() > 1 { "," } else { "" };
        write!(text, "{separator}\"{name}\":0").unwrap();
    }
    text + "}"
}

#[test]
fn objects_of_every_size_are_checked() {
    for size in 1..150 {
        let names = || (0..size).map(|number| format!("name{number}"));
        check(&object(names()), &[]);
        for repeated in [0, size / 2, size - 1] {
            let name = format!("name{repeated}");
            let text = object(names().chain([name.clone()]));
            let place = text.rfind(&format!("\"{name}\"")).unwrap();
            check(&text, &[&format!("{name}@{place}")]);
        }
    }
}

#[test]
fn a_million_names_are_no_burden() {
    let size = 1_000_000;
    check(&object((0..size).map(|number| number.to_string())), &[]);
    let text = object((0..size).map(|number| number.to_string()).chain(["7".to_owned()]));
    let mut tape = Tape::new();
    assert!(tape.parse(text.as_bytes(), Limits::default()).unwrap().has_duplicate_keys());
}

#[test]
fn names_made_to_collide_are_no_burden() {
    // All fingerprints are the same: equal length and equal end.
    let name = |number: usize| format!("{number:06}-the-same-end");
    check(&object((0..200_000).map(name)), &[]);
    let text = object((0..200_000).map(name).chain([name(5)]));
    let place = text.rfind(&name(5)).unwrap() - 1;
    check(&text, &[&format!("{}@{place}", name(5))]);
}

#[test]
fn a_lookup_finds_the_last() {
    let input = br#"{"a":1,"b":2,"\u0061":3}"#;
    let mut tape = Tape::new();
    let document = tape.parse(input, Limits::default()).unwrap();
    assert_eq!(document.root().get("a").and_then(Node::as_i64), Some(3));
    assert_eq!(document.root().get("b").and_then(Node::as_i64), Some(2));
    assert_eq!(document.root().len(), 3);
    assert_eq!(document.root().to_value(), serde_json::json!({"a": 3, "b": 2}));
}

/// Names from a small set, so that some are equal, in different spellings.
fn names() -> impl Strategy<Value = Vec<(String, bool)>> {
    let name = proptest::string::string_regex("[ab]{0,3}|[xy]{7,9}").unwrap();
    proptest::collection::vec((name, any::<bool>()), 0..60)
}

proptest! {
    #[test]
    fn the_flag_agrees_with_a_set(names in names()) {
        let spell = |(name, escaped): &(String, bool)| {
            if *escaped { name.replace('a', "\\u0061").replace('x', "\\u0078") } else { name.clone() }
        };
        let text = object(names.iter().map(spell));
        let mut seen = HashSet::new();
        let repeated = names.iter().filter(|(name, _)| !seen.insert(name.clone())).count();
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
        assert_eq!(document.has_duplicate_keys(), repeated > 0);
        assert_eq!(document.duplicate_keys().count(), repeated);
    }
}

#[test]
fn a_name_has_the_fingerprint_of_its_text_however_it_is_spelled() {
    for name in
        ["", "a", "id", "seven77", "eight888", "nine99999", "jsonrpc", "ä€😀", "a much longer name"]
    {
        let mut escaped = String::new();
        for unit in name.encode_utf16() {
            write!(escaped, "\\u{unit:04x}").unwrap();
        }
        for text in [
            format!("{{\"{name}\":1}}"),
            format!("{{\"{escaped}\":1}}"),
            format!("          {{\"x\":1,\"{name}\":1}}"),
        ] {
            let mut tape = Tape::new();
            let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
            let (key, _) = document.root().members().last().unwrap();
            assert_eq!(key.fingerprint(), Fingerprint::of(name), "{text}");
        }
    }
}
