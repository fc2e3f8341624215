//! Size and depth.

use mcp_json::{Limits, SyntaxErrorKind, Tape};

fn nested(depth: usize) -> Vec<u8> {
    [vec![b'['; depth], vec![b']'; depth]].concat()
}

#[track_caller]
fn check_depth(input: &[u8], max_depth: usize, refused_at: Option<usize>) {
    let mut tape = Tape::new();
    let limits = Limits { max_depth, ..Limits::default() };
    let refused = tape.parse(input, limits).err().map(|error| {
        assert_eq!(error.kind, SyntaxErrorKind::TooDeep { limit: max_depth });
        error.offset
    });
    assert_eq!(refused, refused_at);
}

#[test]
fn depth_is_limited_where_told() {
    check_depth(b"1", 0, None);
    check_depth(b"[]", 0, Some(0));
    check_depth(b"[]", 1, None);
    check_depth(b"[[]]", 1, Some(1));
    check_depth(br#"{"a":{"b":[]}}"#, 3, None);
    check_depth(br#"{"a":{"b":[]}}"#, 2, Some(10));
    check_depth(b"[[],[],[[]]]", 3, None);
    check_depth(&nested(128), 128, None);
    check_depth(&nested(129), 128, Some(128));
    check_depth(&nested(5000), 5000, None);
    check_depth(&nested(5001), 5000, Some(5000));
    check_depth(&nested(100_000), 128, Some(128));
    check_depth(&vec![b'['; 100_000], 128, Some(128));
    check_depth(&br#"{"a":"#.repeat(100_000), 128, Some(640));
}

#[test]
fn any_depth_may_be_allowed() {
    let input = nested(100_000);
    let mut tape = Tape::new();
    let limits = Limits { max_depth: usize::MAX, ..Limits::default() };
    let document = tape.parse(&input, limits).unwrap();
    assert_eq!(document.root().span().end, input.len());
    // Deep enough, but truncated before `serde_json` would overflow the stack.
    let value = document.root().to_value();
    let depth = std::iter::successors(Some(&value), |value| value.get(0)).count();
    assert_eq!(depth, 513);
}

#[test]
fn size_is_limited() {
    let mut tape = Tape::new();
    let limits = Limits { max_bytes: 4, ..Limits::default() };
    assert!(tape.parse(b"1234", limits).is_ok());
    let error = tape.parse(b"12345", limits).unwrap_err();
    assert_eq!(error.kind, SyntaxErrorKind::TooLong { length: 5, limit: 4 });
    assert_eq!(error.offset, 4);
}
