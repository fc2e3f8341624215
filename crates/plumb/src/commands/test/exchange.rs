//! The messages around a failure.

use mcp_core::Side;
use mcp_json::{Limits, Tape};
use mcp_probe::{Failure, Phase};
use mcp_rules::message_of;
use serde_json::Value;

const LIMITS: Limits = Limits { max_bytes: usize::MAX, max_depth: 1024 };
/// Maximum lines of an exchange to show.
const LINES: u64 = 4;
/// Maximum lines of a walk, which is shown from its beginning.
const CONVERSATION: u64 = 60;
/// Maximum lines of a conversation to repeat from its beginning.
const SNIPPET: u64 = 40;

/// A line of a conversation.
pub(super) struct ShownLine {
    pub(super) line: u64,
    pub(super) from: Side,
    /// The message exactly as sent, as far as it is text; or a description of the HTTP part.
    pub(super) text: String,
    pub(super) is_message: bool,
}

impl ShownLine {
    pub(super) fn arrow(&self) -> &'static str {
        match self.from {
            Side::Client => "→",
            Side::Server => "←",
        }
    }
}

/// The lines up to that of the failure; for a walk, all of them.
pub(super) fn of(failure: &Failure, phase: Phase) -> Vec<ShownLine> {
    let Some(line) = failure.finding.line else { return Vec::new() };
    let most = if phase == Phase::Stateful { CONVERSATION } else { LINES };
    let first = line.saturating_sub(most - 1).max(1);
    (first..=line).filter_map(|number| said(failure, number)).collect()
}

/// The messages of the client up to the failure, if they are not too many.
pub(super) fn of_client(failure: &Failure) -> Option<Vec<String>> {
    let last = last_line(failure);
    (last <= SNIPPET).then(|| said_by_client(failure, 1, last).map(|said| said.text).collect())
}

/// The client messages that reproduce a failure in a conversation shared by several probes: the
/// opening, and everything from the failing request on.
pub(super) fn opening_and_call(failure: &Failure) -> Vec<String> {
    let last = last_line(failure);
    let all: Vec<ShownLine> = said_by_client(failure, 1, last).collect();
    let opens = |said: &&ShownLine| {
        let method = method_of(&said.text);
        matches!(method.as_deref(), Some("initialize" | "notifications/initialized"))
    };
    let mut first = call_of(failure, &all, last).unwrap_or(last);
    first = first.min(failure.finding.related.as_ref().map_or(first, |related| {
        // If the two are far apart, use the one at fault.
        if first.saturating_sub(related.line) < SNIPPET { related.line } else { first }
    }));
    let opening = all.iter().filter(opens).take_while(|said| said.line < first);
    let call = all.iter().filter(|said| said.line >= first);
    opening.chain(call).map(|said| said.text.clone()).collect()
}

/// The line of the request that a failure is about: the one it is on, the one that is answered
/// there, or else the last one before it.
fn call_of(failure: &Failure, all: &[ShownLine], last: u64) -> Option<u64> {
    let there: Value = serde_json::from_str(&said(failure, last)?.text).unwrap_or_default();
    let answered = there.get("id").filter(|_| there.get("method").is_none());
    let is_it = |said: &&ShownLine| {
        let message: Value = serde_json::from_str(&said.text).unwrap_or_default();
        message.get("method").is_some() && message.get("id").is_some_and(|id| Some(id) == answered)
    };
    let call = all.iter().rev().find(is_it).or(all.last())?;
    Some(call.line)
}

fn last_line(failure: &Failure) -> u64 {
    failure.finding.line.unwrap_or(failure.recording.len() as u64)
}

fn said_by_client(failure: &Failure, first: u64, last: u64) -> impl Iterator<Item = ShownLine> {
    (first..=last)
        .filter_map(|number| said(failure, number))
        .filter(|said| said.from == Side::Client && said.is_message)
}

fn method_of(text: &str) -> Option<String> {
    let message: Value = serde_json::from_str(text).ok()?;
    Some(message["method"].as_str()?.to_owned())
}

/// The message on a line.
pub(super) fn said(failure: &Failure, number: u64) -> Option<ShownLine> {
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
    Some(ShownLine { line: number, from, text, is_message })
}

/// Describes an HTTP part without a message.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_probe::Recording;
    use mcp_rules::{Engine, Finding, Settings, Severity, TraceEntry, behaviour};
    use mcp_schema::Schemas;

    use super::*;

    /// A conversation that `before` other calls have used, with a failure on its last line.
    fn shared(before: u64, last: &[(Side, &str)]) -> Failure {
        let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
        let recording = Arc::new(Recording::new("x", engine));
        let add = |from, text: &str| recording.add(&TraceEntry::stdio(from, text.as_bytes()));
        add(Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
        add(Side::Server, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        add(Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        for id in 2..2 + before {
            let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            add(Side::Client, &ping);
            add(Side::Server, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
        for (from, text) in last {
            add(*from, text);
        }
        let rule = &behaviour::UNKNOWN_METHOD_ACCEPTED;
        let mut finding = Finding::new(rule, Severity::Error, "x");
        finding.line = Some(recording.len() as u64);
        Failure { finding, recording, stderr: None }
    }

    const CALL: &str = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call"}"#;
    const CANCEL: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":"c","result":{}}"#;
    const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;

    /// What is repeated after the handshake.
    #[track_caller]
    fn check(last: &[(Side, &str)], expected: &[&str]) {
        let said = opening_and_call(&shared(100, last));
        let methods: Vec<_> = said.iter().take(2).filter_map(|text| method_of(text)).collect();
        assert_eq!(methods, ["initialize", "notifications/initialized"]);
        assert_eq!(said[2..], *expected);
    }

    #[test]
    fn of_a_long_conversation_the_handshake_and_the_failing_call_are_repeated() {
        assert_eq!(of_client(&shared(100, &[])), None);
        check(&[(Side::Client, CALL), (Side::Server, ANSWER)], &[CALL]);
        check(&[(Side::Client, CALL)], &[CALL]);
        check(&[(Side::Client, CALL), (Side::Server, LOG)], &[CALL]);
        let cancelled = [(Side::Client, CALL), (Side::Client, CANCEL), (Side::Server, ANSWER)];
        check(&cancelled, &[CALL, CANCEL]);
        check(&[(Side::Client, "not JSON")], &["not JSON"]);
    }

    #[test]
    fn a_short_conversation_is_repeated_as_it_was() {
        let failure = shared(1, &[(Side::Client, CALL), (Side::Server, ANSWER)]);
        let said = of_client(&failure).unwrap();
        assert_eq!((said.len(), said[3].as_str()), (4, CALL));
    }
}
