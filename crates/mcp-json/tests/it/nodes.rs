//! Properties of nodes and access to their children.

use mcp_json::{Kind, Limits, Node, Tape};

const INPUT: &[u8] = br#" {"null": null, "yes": true, "no": false, "int": -12, "big": 10000000000000000001,
 "one": 1.0, "exp": 1e2, "half": 0.5, "text": "a\tb", "list": [1, [2], {"x": 3}], "empty": [], "none": {} } "#;

#[track_caller]
fn with(key: &str, check: impl FnOnce(Node<'_>)) {
    let mut tape = Tape::new();
    let document = tape.parse(INPUT, Limits::default()).unwrap();
    check(document.root().get(key).unwrap());
}

#[test]
fn kinds_follow_the_spelling() {
    for (key, kind) in [
        ("null", Kind::Null),
        ("yes", Kind::Bool),
        ("no", Kind::Bool),
        ("int", Kind::Integer),
        ("big", Kind::Integer),
        ("one", Kind::Decimal),
        ("exp", Kind::Decimal),
        ("half", Kind::Decimal),
        ("text", Kind::String),
        ("list", Kind::Array),
        ("empty", Kind::Array),
        ("none", Kind::Object),
    ] {
        with(key, |node| {
            assert_eq!(node.kind(), kind, "{key}");
            assert_eq!(node.is_null(), kind == Kind::Null);
            assert_eq!(node.is_number(), matches!(kind, Kind::Integer | Kind::Decimal));
            assert_eq!(node.is_string(), kind == Kind::String);
            assert_eq!(node.is_array(), kind == Kind::Array);
            assert_eq!(node.is_object(), kind == Kind::Object);
            assert_eq!(node.number_literal().is_some(), node.is_number());
            assert_eq!(node.as_str().is_some(), node.is_string());
            assert_eq!(node.str_bytes().is_some(), node.is_string());
            assert_eq!(node.as_bool().is_some(), kind == Kind::Bool);
        });
    }
}

#[test]
fn numbers_are_exact() {
    with("int", |node| {
        assert_eq!((node.as_i64(), node.as_u64()), (Some(-12), None));
    });
    with("big", |node| {
        assert_eq!(node.as_i64(), None);
        assert_eq!(node.as_u64(), Some(10_000_000_000_000_000_001));
        assert!(node.is_integer());
    });
    with("one", |node| {
        assert_eq!((node.as_i64(), node.as_f64()), (None, Some(1.0)));
        assert!(node.is_integer());
        assert_eq!(node.number_literal(), Some("1.0"));
    });
    with("exp", |node| assert!(node.is_integer()));
    with("half", |node| assert!(!node.is_integer()));
    with("text", |node| assert!(!node.is_integer()));
}

#[test]
fn strings_are_compared_unescaped() {
    with("text", |node| {
        assert_eq!(node.as_str().unwrap(), "a\tb");
        assert_eq!(&*node.str_bytes().unwrap(), b"a\tb");
        assert!(node.str_eq("a\tb"));
        assert!(!node.str_eq(r"a\tb"));
        assert_eq!(node.raw(), br#""a\tb""#);
    });
    with("int", |node| assert!(!node.str_eq("-12")));
}

#[test]
fn children_are_walked() {
    with("list", |node| {
        assert_eq!((node.len(), node.is_empty()), (3, false));
        let raws = node.elements().map(Node::raw).collect::<Vec<_>>();
        assert_eq!(raws, [&b"1"[..], b"[2]", br#"{"x": 3}"#]);
        assert_eq!(node.members().count(), 0);
        assert!(node.get("x").is_none());
        assert_eq!(node.pointer("/2/x").and_then(Node::as_i64), Some(3));
    });
    with("empty", |node| {
        assert_eq!((node.len(), node.elements().count()), (0, 0));
    });
    with("none", |node| {
        assert_eq!((node.is_empty(), node.members().count()), (true, 0));
    });
    with("text", |node| {
        assert!(node.is_empty());
        assert_eq!((node.len(), node.elements().count(), node.members().count()), (0, 0, 0));
    });
}

#[test]
fn the_root_knows_all_members() {
    let mut tape = Tape::new();
    let document = tape.parse(INPUT, Limits::default()).unwrap();
    let root = document.root();
    assert_eq!(root.index(), 0);
    assert_eq!(root.len(), 12);
    assert_eq!((root.span().start, root.span().end), (1, INPUT.len() - 1));
    let names = root.members().map(|(name, _)| name.as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(names[..4], ["null", "yes", "no", "int"]);
    assert_eq!(root.to_value(), serde_json::from_slice::<serde_json::Value>(INPUT).unwrap());
    assert_eq!(document.input(), INPUT);
}

#[test]
fn lengths_that_no_entry_can_hold_are_counted() {
    for length in [65_534, 65_535, 65_536, 100_000] {
        let array = format!("[{}0]", "0,".repeat(length - 1));
        let members = (0..length).map(|key| format!("\"{key}\":0")).collect::<Vec<_>>();
        let object = format!("{{{}}}", members.join(","));
        for input in [array, object] {
            let mut tape = Tape::new();
            let document = tape.parse(input.as_bytes(), Limits::default()).unwrap();
            assert_eq!(document.root().len(), length);
            assert!(!document.root().is_empty());
        }
    }
}
