//! Turns failures into located findings.

use std::sync::Arc;

use mcp_core::Revision;
use mcp_json::{Limits, Tape};
use mcp_probe::{Failure, Recording};
use mcp_rules::message_of;
use serde_json::Value;

use crate::{
    message_name::MessageName,
    report::{Excerpt, Located},
};

const LIMITS: Limits = Limits { max_bytes: usize::MAX, max_depth: 1024 };

/// Locates the failures of one probe.
pub(super) struct Locator {
    file: Arc<str>,
}

impl Locator {
    pub(super) fn new(probe: &str, revision: Revision) -> Locator {
        Locator { file: format!("{probe}@{revision}").into() }
    }

    /// The name used in place of a file: probe and revision.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn locate(&self, failure: &Failure) -> Located {
        let mut finding = failure.finding.clone();
        let excerpt = finding.line.and_then(|line| excerpt(&failure.recording, line, &finding));
        let related = finding
            .related
            .as_ref()
            .and_then(|related| excerpt_of(&failure.recording, related.line, None, None));
        if finding.line.is_none() {
            finding.line = Some(1);
        }
        Located { file: Arc::clone(&self.file), finding, excerpt, related }
    }
}

fn excerpt(recording: &Recording, line: u64, finding: &mcp_rules::Finding) -> Option<Excerpt> {
    excerpt_of(recording, line, finding.span, finding.method)
}

fn excerpt_of(
    recording: &Recording,
    line: u64,
    span: Option<mcp_json::Span>,
    method: Option<&str>,
) -> Option<Excerpt> {
    let text = recording.line(line)?;
    let mut tape = Tape::new();
    let document = tape.parse(&text, LIMITS).ok()?;
    if let Some(message) = message_of(document.root()) {
        let title = MessageName::of(message).title(method);
        return Some(Excerpt::new(message.raw(), span, title));
    }
    let record: Value = serde_json::from_slice(&text).ok()?;
    let raw = record["raw"].as_str().or(record.pointer("/http/sse/data").and_then(Value::as_str));
    Some(match raw {
        Some(raw) => Excerpt::new(raw.as_bytes(), span, String::new()),
        None => Excerpt::new(record["http"].to_string().as_bytes(), None, String::new()),
    })
}
