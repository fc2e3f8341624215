//! Lone surrogates: accepted, noticed, located.

use mcp_json::{Limits, Span, Tape};

#[track_caller]
fn check(input: &str, text: &str, expected: &[(usize, usize)]) {
    let mut tape = Tape::new();
    let document = tape.parse(input.as_bytes(), Limits::default()).unwrap();
    let spans = expected.iter().map(|(start, end)| Span { start: *start, end: *end });
    assert!(document.lone_surrogates().eq(spans), "{input}");
    assert_eq!(document.has_lone_surrogates(), !expected.is_empty(), "{input}");
    assert_eq!(document.root().as_str().unwrap(), text, "{input}");
}

#[test]
fn pairs_are_whole() {
    check(r#""\ud83d\ude00""#, "😀", &[]);
    check(r#""\uD83D\uDE00\uD83D\uDE00""#, "😀😀", &[]);
    check(r#""\\ud800""#, "\\ud800", &[]);
    check(r#""\ud7ff\ue000""#, "\u{D7FF}\u{E000}", &[]);
}

#[test]
fn halves_are_noticed() {
    check(r#""\ud800""#, "\u{FFFD}", &[(1, 7)]);
    check(r#""\udfff""#, "\u{FFFD}", &[(1, 7)]);
    check(r#""a\udc00\ud800b""#, "a\u{FFFD}\u{FFFD}b", &[(2, 8), (8, 14)]);
    check(r#""\ud800\ud83d\ude00""#, "\u{FFFD}😀", &[(1, 7)]);
    check(r#""\ud83d\ude00\ude00""#, "😀\u{FFFD}", &[(13, 19)]);
    check(r#""\ud83d\u0041""#, "\u{FFFD}A", &[(1, 7)]);
    check(r#""\ud83d\n""#, "\u{FFFD}\n", &[(1, 7)]);
    check(r#""\ud83dx\ude00""#, "\u{FFFD}x\u{FFFD}", &[(1, 7), (8, 14)]);
}

#[test]
fn pairs_may_lie_across_the_steps_of_the_scanner() {
    for before in 0..140 {
        let filler = "x".repeat(before);
        check(&format!(r#""{filler}\ud83d\ude00""#), &format!("{filler}😀"), &[]);
        let start = before + 1;
        check(
            &format!(r#""{filler}\ud83d\ud83d\ude00""#),
            &format!("{filler}\u{FFFD}😀"),
            &[(start, start + 6)],
        );
    }
}

#[test]
fn halves_in_names_are_noticed() {
    let mut tape = Tape::new();
    let document = tape.parse(br#"{"\ud800":{"\udc00":1}}"#, Limits::default()).unwrap();
    let spans = document.lone_surrogates().map(|span| span.start).collect::<Vec<_>>();
    assert_eq!(spans, [2, 12]);
}
