//! A proxy that cannot judge as fast as traffic comes.

use std::sync::{Arc, Mutex, mpsc};

use mcp_core::Side;
use mcp_proxy::{Observation, Recorder, Tap, TapSettings};

use crate::support::engine;

const BACKLOG: usize = 1 << 20;
const PAIRS: u64 = 2000;

fn request(id: u64) -> String {
    let filler = "x".repeat(1000);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{"_meta":{{"f":"{filler}"}}}}}}"#
    )
}

#[test]
fn what_is_not_judged_in_time_is_recorded_counted_and_held_against_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.jsonl");
    let (go, gone) = mpsc::channel::<()>();
    let found = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&found);
    let tap = Tap::new(
        engine(),
        TapSettings {
            recorder: Some(Recorder::create(&path, "").unwrap()),
            watchers: vec![Box::new(move |event| {
                // The first one keeps everybody waiting.
                let _ = gone.recv();
                let rules = event.findings.iter().map(|finding| finding.rule.name);
                seen.lock().unwrap().extend(rules);
            })],
            backlog: BACKLOG,
            ..TapSettings::default()
        },
    );
    for id in 1..=PAIRS {
        tap.observe(Observation::stdio(Side::Client, request(id)));
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        tap.observe(Observation::stdio(Side::Server, answer));
    }
    drop(go);
    // After the rush there is room again.
    while tap.is_behind() {
        std::thread::yield_now();
    }
    tap.observe(Observation::stdio(Side::Client, request(PAIRS + 1)));
    let counts = tap.finish();
    assert!(counts.lost > 0 && counts.unjudged > 0, "{counts:?}");
    let record = std::fs::read_to_string(&path).unwrap();
    assert_eq!(record.lines().count() as u64, counts.lines);
    let gap = |line: &str| {
        line.strip_prefix(r#"{"from":"client","lost":"#)?.strip_suffix('}')?.parse().ok()
    };
    let gaps: Vec<u64> = record.lines().filter_map(gap).collect();
    assert_eq!(gaps.iter().sum::<u64>(), counts.lost);
    // Everything else is in the record.
    assert_eq!(counts.lines - gaps.len() as u64 + counts.lost, 2 * PAIRS + 1);
    assert!(record.len() < 2 * BACKLOG, "{} bytes waited", record.len());
    assert_eq!(*found.lock().unwrap(), [""; 0]);
}
