//! Runs a file through the engine as `plumb check` does, one line after the other.

use mcp_json::{Limits, Tape};
use mcp_rules::{Engine, Finding, Findings, Observer, Origin, Routed, Settings};
use mcp_schema::Schemas;

/// What is found in `file`, in order.
pub(crate) fn observe(file: &[u8], settings: Settings, origin: Origin) -> Vec<Finding> {
    let engine = Engine::new(Schemas::embedded(), settings);
    let mut observer = Observer::new(&engine, origin);
    let mut found = follow_lines(&engine, &mut observer, file);
    let mut judged = Vec::new();
    observer.finish(&mut judged);
    found.extend(judged.into_iter().flat_map(|judged| judged.findings));
    found
}

/// What is found in `file` if more may follow.
pub(crate) fn observe_open(file: &[u8], settings: Settings, origin: Origin) -> Vec<Finding> {
    let engine = Engine::new(Schemas::embedded(), settings);
    let mut observer = Observer::new(&engine, origin);
    follow_lines(&engine, &mut observer, file)
}

fn follow_lines(engine: &Engine, observer: &mut Observer<'_>, file: &[u8]) -> Vec<Finding> {
    let mut findings = Findings::new(engine.settings());
    let mut found = Vec::new();
    let mut judged = Vec::new();
    let mut tape = Tape::new();
    let limits = Limits { max_bytes: usize::MAX, max_depth: engine.settings().limits.depth + 1 };
    let file = file.strip_suffix(b"\n").unwrap_or(file);
    for (position, line) in file.split(|byte| *byte == b'\n').enumerate() {
        let number = position as u64 + 1;
        let document = tape.parse(line, limits);
        let value = match &document {
            Ok(document) => Ok(document.root()),
            Err(error) => Err(*error),
        };
        let routed = observer.follow(number, line, value, &mut judged);
        if let (Routed::Judge(followed), Ok(document)) = (&routed, &document) {
            findings.set_line(number);
            Observer::judge(engine, document.root(), followed, &mut findings);
            found.extend(findings.take());
        }
        found.extend(judged.drain(..).flat_map(|judged| judged.findings));
    }
    found
}
