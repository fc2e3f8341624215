//! A live view of messages: one line for each, followed by its findings.

mod clock;

use std::fmt::Write as _;

use mcp_core::Side;
use mcp_json::Node;
use mcp_jsonrpc::Envelope;
use mcp_rules::{Finding, HttpRecord, ProcessRecord, ReadLine, Severity};

use crate::{
    message_name::MessageName,
    style::Palette,
    text::{head, visible, width},
};

/// Columns for the name of a message. Longer names push the rest to the right.
const NAME: usize = 28;
/// Columns for an id.
const ID: usize = 6;
/// Maximum characters shown of a name or id.
const LONGEST: usize = 60;
/// Minimum columns for a preview.
const SHORTEST_PREVIEW: usize = 8;
/// Bytes of text to make a preview from: enough for any terminal.
const PREVIEW_BYTES: usize = 2048;

/// A message or another observed event, ready for display.
#[derive(Debug, Clone, Default)]
pub(crate) struct LiveEntry<'a> {
    /// Milliseconds since 1970.
    pub(crate) millis: Option<i64>,
    pub(crate) from: Option<Side>,
    /// `tools/call`, `result of tools/call`, `POST /mcp`.
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    /// Length of the message in bytes.
    pub(crate) bytes: usize,
    /// The part of its text worth showing.
    pub(crate) preview: &'a [u8],
}

impl<'a> LiveEntry<'a> {
    /// Describes a line of a recording; `answered` is the method of the request that it answers, if
    /// known.
    pub(crate) fn of(line: &ReadLine<'a>, answered: Option<&str>) -> LiveEntry<'a> {
        let record = line.record();
        if let Some(record) = record.filter(|record| record.is_gap) {
            let shown = LiveEntry {
                name: "(some messages are missing here)".to_owned(),
                ..LiveEntry::default()
            };
            return LiveEntry { millis: record.millis, ..shown };
        }
        if let Some(process) = record.and_then(|record| record.process.as_ref()) {
            let millis = record.and_then(|record| record.millis);
            return LiveEntry { millis, from: Some(Side::Server), ..LiveEntry::process(process) };
        }
        let http = record.and_then(|record| record.http.as_deref());
        let text = record.and_then(|record| record.text());
        let shown = match (line.message(), http, text) {
            (Some(message), ..) => LiveEntry::message(message, answered),
            (None, Some(http), _) => LiveEntry::http(http),
            (None, None, Some(text)) => LiveEntry::text(text),
            (None, None, None) => LiveEntry::text(line.text()),
        };
        match record {
            Some(record) => {
                let bytes = record.skipped.and_then(|bytes| usize::try_from(bytes).ok());
                let name = bytes.map_or(shown.name, |_| "too long to be recorded".to_owned());
                let preview = if bytes.is_some() { b"" } else { shown.preview };
                let bytes = bytes.unwrap_or(shown.bytes);
                let (from, millis) = (Some(record.from), record.millis);
                LiveEntry { from, millis, name, bytes, preview, id: shown.id }
            }
            None => shown,
        }
    }

    /// Standard error or exit of a process.
    fn process(process: &'a ProcessRecord<'a>) -> LiveEntry<'a> {
        match process {
            ProcessRecord::Stderr(text) => LiveEntry {
                name: "standard error".to_owned(),
                bytes: text.len(),
                preview: text,
                ..LiveEntry::default()
            },
            ProcessRecord::Exit { code: Some(code), .. } => {
                LiveEntry { name: format!("exited with code {code}"), ..LiveEntry::default() }
            }
            ProcessRecord::Exit { signal: Some(signal), .. } => {
                LiveEntry { name: format!("ended by signal {signal}"), ..LiveEntry::default() }
            }
            _ => LiveEntry { name: "exited".to_owned(), ..LiveEntry::default() },
        }
    }

    /// A message or a batch; `answered` is the method of the request that it answers, if known.
    pub(crate) fn message(message: Node<'a>, answered: Option<&str>) -> LiveEntry<'a> {
        let bytes = message.raw().len();
        if message.is_array() {
            let name = format!("batch of {}", message.len());
            return LiveEntry { name, bytes, preview: message.raw(), ..LiveEntry::default() };
        }
        let name = MessageName::of(message);
        let envelope = Envelope::of(message);
        let payload = envelope.result.or(envelope.error).or(message.get("params"));
        let title = name.without_id(answered);
        // If it is not a message, preview all of it.
        let preview = match payload {
            _ if title.is_empty() => message.raw(),
            Some(payload) => payload.raw(),
            None => b"",
        };
        let name_shown = if title.is_empty() { "not a message".to_owned() } else { title };
        LiveEntry { name: name_shown, id: name.id, bytes, preview, ..LiveEntry::default() }
    }

    /// HTTP without a message.
    pub(crate) fn http(http: &'a HttpRecord<'_>) -> LiveEntry<'a> {
        let name = match (&http.method, http.status, &http.sse) {
            (Some(method), ..) => format!("{method} {}", http.url),
            (None, Some(status), _) => format!("HTTP {status}"),
            (None, None, Some(_)) => "event".to_owned(),
            (None, None, None) if http.ends => "end of the stream".to_owned(),
            (None, None, None) => "HTTP".to_owned(),
        };
        let data = http.sse.as_ref().and_then(|sse| sse.data.as_deref());
        let preview = http.body.as_deref().or(data).unwrap_or_default();
        LiveEntry { name, bytes: preview.len(), preview, ..LiveEntry::default() }
    }

    /// Text that is not JSON.
    pub(crate) fn text(text: &'a [u8]) -> LiveEntry<'a> {
        LiveEntry {
            name: "not JSON".to_owned(),
            bytes: text.len(),
            preview: text,
            ..LiveEntry::default()
        }
    }
}

/// How messages are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LiveView {
    pub(crate) palette: Palette,
    /// Columns to fill.
    pub(crate) width: usize,
}

impl LiveView {
    /// Formats one line for the message and one for each finding; `line` is its number in the
    /// recording.
    pub(crate) fn show(&self, passing: &LiveEntry<'_>, line: u64, findings: &[Finding]) -> String {
        let Palette { bold, dim, .. } = self.palette;
        let mut plain = String::new();
        if let Some(millis) = passing.millis {
            let _ = write!(plain, "{} ", clock::time_of_day(millis));
        }
        plain.push_str(match passing.from {
            Some(Side::Client) => "→ ",
            Some(Side::Server) => "← ",
            None => "· ",
        });
        let mut text = format!("{dim}{plain}{dim:#}");
        let name = shortened(&passing.name);
        let id = passing.id.as_deref().map(shortened).unwrap_or_default();
        let _ = write!(text, "{bold}{name}{bold:#}{}", spaces(NAME, &name));
        let _ = write!(text, " {id}{}", spaces(ID, &id));
        let size = size_of(passing.bytes);
        let _ = write!(text, " {size:>8} ");
        let mut used = width(&plain) + width(&name).max(NAME) + width(&id).max(ID) + 11;
        let (style, word) = self.verdict(findings);
        let _ = write!(text, "{style}{word:<7}{style:#}");
        used += 8;
        let room = self.width.saturating_sub(used);
        let preview = &passing.preview[..passing.preview.len().min(PREVIEW_BYTES)];
        let preview = String::from_utf8_lossy(preview);
        let preview = visible(preview.trim());
        if !preview.is_empty() && room >= SHORTEST_PREVIEW {
            let is_cut = width(&preview) > room || passing.preview.len() > PREVIEW_BYTES;
            let shown = if is_cut { head(&preview, room - 1) } else { &preview };
            let ellipsis = if is_cut { "…" } else { "" };
            let _ = write!(text, " {dim}{shown}{ellipsis}{dim:#}");
        }
        let mut text = text.trim_end().to_owned();
        text.push('\n');
        for finding in findings {
            text.push_str(&self.finding(line, finding));
        }
        text
    }

    /// Formats one line about a finding. It names the line that the finding is about unless that is
    /// `line`.
    pub(crate) fn finding(&self, line: u64, finding: &Finding) -> String {
        let style = match finding.severity {
            Severity::Error => self.palette.error,
            Severity::Warning => self.palette.warning,
        };
        let (severity, rule) = (finding.severity, finding.rule.name);
        let mut text = format!("    {style}{severity}[{rule}]{style:#}");
        if let Some(side) = finding.at_fault {
            let _ = write!(text, " by the {side}");
        }
        let _ = write!(text, ": {}", visible(&finding.message));
        if let Some(pointer) = finding.pointer.as_deref().filter(|pointer| !pointer.is_empty()) {
            let _ = write!(text, " at {}", visible(pointer));
        }
        if let Some(other) = finding.line.filter(|other| *other != line) {
            let _ = write!(text, " (line {other})");
        }
        text.push('\n');
        text
    }

    fn verdict(&self, findings: &[Finding]) -> (anstyle::Style, &'static str) {
        match findings.iter().map(|finding| finding.severity).max() {
            Some(Severity::Error) => (self.palette.error, "error"),
            Some(Severity::Warning) => (self.palette.warning, "warning"),
            None => (self.palette.good, "ok"),
        }
    }
}

fn shortened(text: &str) -> String {
    let shown = visible(text);
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}

fn spaces(columns: usize, text: &str) -> String {
    " ".repeat(columns.saturating_sub(width(text)))
}

/// `142 B`, `1.5 KiB`, `16.0 MiB`.
fn size_of(bytes: usize) -> String {
    let tenths = |unit: usize| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", tenths(1024)),
        _ => format!("{} MiB", tenths(1_048_576)),
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    fn shown(text: &str, answered: Option<&str>, columns: usize) -> String {
        let view = LiveView { palette: Palette::plain(), width: columns };
        let mut tape = Tape::new();
        let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
        let mut passing = LiveEntry::message(document.root(), answered);
        passing.from = Some(Side::Client);
        passing.millis = Some(1_764_068_400_123);
        view.show(&passing, 1, &[])
    }

    #[test]
    fn a_message_is_one_line() {
        let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}"#;
        let expected = "11:00:00.123 → tools/call                   3          71 B ok      {\"name\":\"echo\"}\n";
        assert_eq!(shown(call, None, 100), expected);
        assert_eq!(width(shown(call, None, 80).trim_end()), 80);
        let answer = r#"{"jsonrpc":"2.0","id":"a","result":{}}"#;
        assert!(shown(answer, Some("ping"), 100).contains("result of ping"));
        assert!(shown("[1,2]", None, 100).contains("batch of 2"));
        assert!(shown("{\"a\":1}", None, 100).contains("not a message"));
    }

    #[test]
    fn nothing_a_peer_sends_moves_the_cursor_or_takes_a_second_line() {
        let hostile = format!(
            r#"{{"id":"\u001b[2J","method":"a\n\u202eb{}","params":"\r\u001b\u0007"}}"#,
            "x".repeat(5000)
        );
        for columns in [0, 40, 100, 1000] {
            let line = shown(&hostile, None, columns);
            assert_eq!(line.matches('\n').count(), 1);
            assert!(!line.trim_end().contains(mcp_core::is_invisible), "{line:?}");
            assert!(line.len() < 1000);
        }
    }

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 1023, 1024, 1536, 1_048_576, 20_000_000].map(size_of);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "19.0 MiB"]);
    }
}
