//! Conversations that share an endpoint do not affect each other.

use std::fs;

use mcp_rules::{RecordingInfo, Settings};
use proptest::prelude::*;
use serde_json::Value;

use crate::{observe::observe, traces::root};

/// A clean conversation over HTTP, with its own exchanges and session.
fn conversation(name: &str, number: u64) -> Vec<String> {
    let path = root().join("conversations").join(name);
    let text = fs::read_to_string(path).expect("a readable trace");
    let text = text.replace("9f1c2b7e-5d34", &format!("9f1c2b7e-{number:04}"));
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("a record");
        let exchange = &mut line["http"]["exchange"];
        *exchange = (exchange.as_u64().expect("a number") + 1000 * number).into();
        line.to_string()
    });
    lines.collect()
}

/// Interleaves several conversations, each in its own order. Each pick decides whose turn it is.
fn interleaved(conversations: &[Vec<String>], picks: &[usize]) -> String {
    let mut rest: Vec<_> = conversations.iter().map(|lines| lines.iter()).collect();
    let mut file = String::new();
    let mut turns = picks.iter().cycle();
    while rest.iter().any(|lines| lines.len() > 0) {
        let turn = turns.next().map_or(0, |pick| pick % rest.len());
        let next = (turn..rest.len()).chain(0..turn).find_map(|index| rest[index].next());
        file.extend(next.into_iter().flat_map(|line| [line.as_str(), "\n"]));
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conversations_on_one_endpoint_are_as_clean_as_alone(
        order in Just([0, 1, 2, 3]).prop_shuffle(),
        count in 2..=4_usize,
        picks in proptest::collection::vec(0..4_usize, 1..160),
    ) {
        let names = ["2025-03-26-http", "2025-06-18-http", "2025-11-25-http", "2026-07-28-http"];
        let conversations: Vec<_> = order[..count]
            .iter()
            .map(|index| conversation(&format!("{}.jsonl", names[*index]), *index as u64))
            .collect();
        let file = interleaved(&conversations, &picks);
        let found = observe(file.as_bytes(), Settings::default(), RecordingInfo::default());
        prop_assert!(found.is_empty(), "{file}\n{found:#?}");
    }
}
