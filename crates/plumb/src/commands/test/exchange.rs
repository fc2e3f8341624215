//! What was said before a failure.

use mcp_core::Side;
use mcp_json::{Limits, Tape};
use mcp_probe::{Failure, Phase};
use mcp_rules::message_of;
use serde_json::Value;

const LIMITS: Limits = Limits { max_bytes: usize::MAX, max_depth: 1024 };
/// Lines of an exchange that are shown.
const LINES: u64 = 4;
/// Lines of a conversation that is shown from its beginning.
const CONVERSATION: u64 = 60;
/// Lines that are looked at for what the client has said.
const SNIPPET: u64 = 40;

/// A line of a conversation.
pub(super) struct Said {
    pub(super) line: u64,
    pub(super) from: Side,
    /// The message as it was sent, to the byte as far as it is text; or what carried it.
    pub(super) text: String,
    pub(super) is_message: bool,
}

impl Said {
    pub(super) fn arrow(&self) -> &'static str {
        match self.from {
            Side::Client => "→",
            Side::Server => "←",
        }
    }
}

/// The lines up to that of the failure. Of a walk through everything, that is all of it.
pub(super) fn of(failure: &Failure, phase: Phase) -> Vec<Said> {
    let Some(line) = failure.finding.line else { return Vec::new() };
    let most = if phase == Phase::Stateful { CONVERSATION } else { LINES };
    let first = line.saturating_sub(most - 1).max(1);
    (first..=line).filter_map(|number| said(failure, number)).collect()
}

/// What the client has said up to the failure, as far as that is not much.
pub(super) fn of_client(failure: &Failure) -> Vec<String> {
    let last = failure.finding.line.unwrap_or(failure.recording.len() as u64).min(SNIPPET);
    (1..=last)
        .filter_map(|number| said(failure, number))
        .filter(|said| said.from == Side::Client && said.is_message)
        .map(|said| said.text)
        .collect()
}

/// What is on a line.
pub(super) fn said(failure: &Failure, number: u64) -> Option<Said> {
    let line = failure.recording.line(number)?;
    let record: Value = serde_json::from_slice(&line).ok()?;
    let from = if record["from"] == "client" { Side::Client } else { Side::Server };
    let mut tape = Tape::new();
    let document = tape.parse(&line, LIMITS).ok()?;
    let (text, is_message) = match (message_of(document.root()), record["raw"].as_str()) {
        (Some(message), _) => (String::from_utf8_lossy(message.raw()).into_owned(), true),
        (None, Some(raw)) => (raw.to_owned(), true),
        (None, None) => (format!("HTTP {}", http_of(&record["http"])), false),
    };
    Some(Said { line: number, from, text, is_message })
}

/// What is worth showing of an exchange without a message.
fn http_of(http: &Value) -> String {
    let parts = ["method", "status", "sse", "body", "end"].iter().filter_map(|name| {
        let value = http.get(name)?;
        Some(match (*name, value) {
            ("end", Value::Bool(true)) => "end of the response".to_owned(),
            ("end", value) => format!("end of the response: {}", text_of(value)),
            ("sse", value) => format!("event {}", text_of(value)),
            (_, value) => text_of(value),
        })
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
