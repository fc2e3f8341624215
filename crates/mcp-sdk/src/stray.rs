//! Stray lines that a server prints between its messages: only some are reported, with a count.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_core::Side;
use mcp_json::{Parsed, SyntaxError};
use mcp_jsonrpc::{Gate, Verdict};
use mcp_rules::{Finding, FindingSink};

/// The rules that stray lines violate, on standard streams and elsewhere.
const RULES: [&str; 2] = ["stdout-non-json", "message-not-json"];
/// The number of characters of a line to quote.
const MAX_QUOTED: usize = 100;

/// The stray lines so far.
#[derive(Debug, Default)]
struct Stray {
    lines: u64,
    /// The beginning of the line being judged, unless it may be a message.
    line: Option<String>,
}

/// The stray lines of one conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct StrayLines(Arc<Mutex<Stray>>);

impl StrayLines {
    /// Forwards findings to `sink`, those about stray lines rarely.
    pub(crate) fn throttled(&self, sink: FindingSink) -> FindingSink {
        throttled(sink, Arc::clone(&self.0))
    }
}

/// A client's gate that provides the text of stray lines to [`throttled`].
pub(crate) struct StrayGate {
    gate: Box<dyn Gate>,
    stray: Arc<Mutex<Stray>>,
}

impl StrayGate {
    /// `gate` reports its findings to the throttled sink of `lines`.
    pub(crate) fn new(gate: Box<dyn Gate>, lines: StrayLines) -> StrayGate {
        StrayGate { gate, stray: lines.0 }
    }
}

impl Gate for StrayGate {
    fn is_open(&self) -> bool {
        self.gate.is_open()
    }

    fn judge(&mut self, from: Side, message: &Parsed) -> Verdict {
        self.gate.judge(from, message)
    }

    fn judge_unreadable(&mut self, from: Side, text: &[u8], error: &SyntaxError) -> Verdict {
        if from == Side::Client || matches!(text.trim_ascii_start(), [b'{' | b'[', ..]) {
            return self.gate.judge_unreadable(from, text, error);
        }
        lock(&self.stray).line = Some(excerpt(text));
        let verdict = self.gate.judge_unreadable(from, text, error);
        lock(&self.stray).line = None;
        verdict
    }

    fn skipped(&mut self, from: Side, length: u64) {
        self.gate.skipped(from, length);
    }
}

/// Forwards findings, but of those about stray lines only the first, tenth, hundredth and so on.
fn throttled(sink: FindingSink, stray: Arc<Mutex<Stray>>) -> FindingSink {
    Arc::new(move |finding| {
        if !RULES.contains(&finding.rule.name) {
            return sink(finding);
        }
        let (lines, line) = {
            let mut stray = lock(&stray);
            stray.lines += 1;
            (stray.lines, stray.line.take())
        };
        if !is_power_of_ten(lines) {
            return;
        }
        let mut finding: Finding = finding.clone();
        if let Some(line) = line {
            finding.message = format!("{}: {line:?}", finding.message);
        }
        if lines > 1 {
            finding.message = format!("{} (and {} lines before it)", finding.message, lines - 1);
        }
        sink(&finding);
    })
}

fn is_power_of_ten(mut number: u64) -> bool {
    while number >= 10 && number.is_multiple_of(10) {
        number /= 10;
    }
    number == 1
}

fn excerpt(line: &[u8]) -> String {
    // A character has at most four bytes.
    let start = line.get(..4 * MAX_QUOTED).unwrap_or(line);
    let text = String::from_utf8_lossy(start);
    let text = text.trim();
    let mut quoted: String = text.chars().take(MAX_QUOTED).collect();
    if quoted.len() < text.len() {
        quoted.push('…');
    }
    quoted
}

fn lock(stray: &Mutex<Stray>) -> MutexGuard<'_, Stray> {
    stray.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for StrayGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StrayGate").field("gate", &self.gate).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use mcp_core::Framing;
    use mcp_json::Limits;

    use super::*;
    use crate::Validation;

    #[test]
    fn stray_lines_are_reported_at_powers_of_ten() {
        assert!(RULES.iter().all(|rule| mcp_rules::rule(rule).is_some()));
        let messages: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&messages);
        let validation = Validation::enforce()
            .on_finding(move |finding| sink.lock().unwrap().push(finding.message.clone()));
        let mut gate = validation.gate(Side::Client, Framing::Lines, None);
        for number in 1..=2000 {
            let line = Bytes::from(format!("line {number}"));
            let error = Parsed::parse(line.clone(), Limits::default()).unwrap_err();
            let verdict = gate.judge_unreadable(Side::Server, &line, &error);
            assert_eq!(verdict.refusals.len(), 1);
        }
        let messages = messages.lock().unwrap();
        assert_eq!(messages.len(), 4, "{messages:#?}");
        assert!(messages[0].ends_with(r#": "line 1""#), "{messages:#?}");
        assert!(
            messages[3].ends_with(r#": "line 1000" (and 999 lines before it)"#),
            "{messages:#?}"
        );
    }

    #[test]
    fn long_lines_are_truncated() {
        assert_eq!(excerpt(b" short \n"), "short");
        assert_eq!(excerpt("ä".repeat(500).as_bytes()).chars().count(), MAX_QUOTED + 1);
    }
}
