//! Arbitrary bytes as a recorded file: no panic, deterministic findings, each within its message.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use mcp_rules::{
    Engine, Finding, Findings, Judged, LineReader, Observer, RecordingInfo, Routed, Settings,
};
use mcp_schema::Schemas;

fuzz_target!(|file: &[u8]| assert_eq!(observe(file), observe(file)));

fn observe(file: &[u8]) -> Vec<Finding> {
    // What it has compiled for one input serves the next, and must not change what is found.
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| Engine::new(Schemas::embedded(), Settings::default()));
    let mut observer = Observer::new(engine, RecordingInfo::default());
    let mut found = Vec::new();
    let mut judged = Vec::new();
    let mut reader = LineReader::new(&engine.settings().limits);
    for (number, line) in (1..).zip(file.split(|byte| *byte == b'\n')) {
        reader.read(line, |line| {
            let routed = observer.follow(number, line, &mut judged);
            keep(&mut judged, &mut found);
            if let Routed::Judge(followed) = routed {
                let mut findings = Findings::new(engine.settings());
                findings.set_line(number);
                line.judge(engine, &followed, &mut findings);
                let text = line.message().expect("there is something to judge").raw().to_vec();
                judged.push(Judged { text, findings: findings.take() });
                keep(&mut judged, &mut found);
            }
        });
    }
    observer.finish(&mut judged);
    keep(&mut judged, &mut found);
    found
}

fn keep(judged: &mut Vec<Judged>, found: &mut Vec<Finding>) {
    for Judged { text, findings } in judged.drain(..) {
        for finding in &findings {
            let fits =
                finding.span.is_none_or(|span| span.start <= span.end && span.end <= text.len());
            assert!(fits, "outside of its message: {finding:?}");
        }
        found.extend(findings);
    }
}
