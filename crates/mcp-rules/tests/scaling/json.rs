//! The tape and the envelope.

use mcp_json::{Limits, Parsed, Tape, locate};
use mcp_jsonrpc::{Envelope, Incoming};

use crate::law;

fn limits() -> Limits {
    Limits { max_bytes: usize::MAX, max_depth: usize::MAX }
}

fn parsed(text: &str) -> Parsed {
    Parsed::parse(text.to_owned().into(), limits()).unwrap()
}

fn list(count: usize, entry: impl Fn(usize) -> String) -> String {
    (0..count).map(entry).collect::<Vec<_>>().join(",")
}

#[test]
fn parsing_follows_the_text() {
    let parse = |text: &String| Tape::new().parse(text.as_bytes(), limits()).map(drop);
    law("depth", 5000, |n| format!("{}{}", "[".repeat(n), "]".repeat(n)), parse);
    law("open depth", 5000, |n| "{\"a\":[".repeat(n), parse);
    law("numbers", 5000, |n| format!("[{}]", "0,".repeat(n) + "0"), parse);
    law("names", 5000, |n| format!("{{{}}}", list(n, |i| format!("\"{i}\":1"))), parse);
    law("one name", 5000, |n| format!("{{{}}}", list(n, |_| "\"a\":1".into())), parse);
    // The same length, and the same last eight bytes.
    let alike = |i| format!("\"{i:08}abcdefgh\":1");
    law("names alike", 5000, |n| format!("{{{}}}", list(n, alike)), parse);
    let escaped = |i| format!("\"{i:08}\\u0061bcdefgh\":1");
    law("escaped names alike", 5000, |n| format!("{{{}}}", list(n, escaped)), parse);
    let small = |_| format!("{{{}}}", list(30, escaped));
    law("small objects", 200, |n| format!("[{}]", list(n, small)), parse);
    law("long name", 100_000, |n| format!("{{\"{}\":1}}", "x".repeat(n)), parse);
}

#[test]
fn looking_back_follows_the_text() {
    law(
        "duplicates",
        5000,
        |n| parsed(&format!("{{{}}}", list(n, |_| "\"a\":1".into()))),
        |parsed| parsed.document().duplicate_keys().count(),
    );
    law(
        "duplicates everywhere",
        5000,
        |n| parsed(&format!("[{}]", list(n, |_| "{\"a\":1,\"a\":1}".into()))),
        |parsed| parsed.document().duplicate_keys().count(),
    );
    law(
        "lone surrogates",
        5000,
        |n| parsed(&format!("[{}]", list(n, |_| "\"\\ud800\"".into()))),
        |parsed| parsed.document().lone_surrogates().count(),
    );
    law(
        "places",
        2000,
        |n| parsed(&format!("{{\"{}\":[{}]}}", "x".repeat(1000), list(n, |_| "1".into()))),
        |parsed| {
            let document = parsed.document();
            let (_, items) = document.root().members().next().unwrap();
            let spans: Vec<_> = items.elements().map(mcp_json::Node::span).collect();
            locate(document.root(), &spans)
        },
    );
    law(
        "deep places",
        1000,
        |n| parsed(&format!("{}{}", "[1,".repeat(n) + "1", "]".repeat(n))),
        |parsed| {
            let document = parsed.document();
            let mut node = document.root();
            let mut spans = Vec::new();
            while let Some(inner) = node.elements().nth(1) {
                spans.push(inner.span());
                node = inner;
            }
            spans.len()
        },
    );
    law(
        "levels",
        5000,
        |n| parsed(&format!("[{}]", list(n, |_| "[[1]]".into()))),
        |parsed| parsed.document().root().is_deeper_than(3),
    );
}

#[test]
fn envelopes_and_batches_follow_the_text() {
    let read = |parsed: &Parsed| drop(Incoming::read(parsed));
    let call = |i: usize| format!(r#"{{"jsonrpc":"2.0","id":{i},"method":"ping"}}"#);
    law("batch", 1000, |n| parsed(&format!("[{}]", list(n, call))), read);
    let broken = |i: usize| format!(r#"{{"jsonrpc":"2.0","id":"{i}\ud800","method":"\ud800"}}"#);
    law("lone surrogates", 1000, |n| parsed(&format!("[{}]", list(n, broken))), read);
    law("no messages", 1000, |n| parsed(&format!("[{}]", list(n, |_| "0".into()))), read);
    let long =
        |n: usize| format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(n));
    law("long id", 100_000, |n| parsed(&long(n)), read);
    let digits =
        |n: usize| format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, "1".repeat(n));
    law("long number", 100_000, |n| parsed(&digits(n)), read);
    law(
        "members",
        5000,
        |n| parsed(&format!("{{{}}}", list(n, |i| format!("\"id\":{i}")))),
        |parsed| Envelope::of(parsed.document().root()).faults(),
    );
}
