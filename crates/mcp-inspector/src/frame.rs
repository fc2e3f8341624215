//! One line of a recording, as the page shows it.

use mcp_core::{Revision, Side};
use mcp_json::Node;
use mcp_jsonrpc::Envelope;
use mcp_rules::{Finding, HttpRecord, Identity, ProcessRecord, ReadLine, Record, Severity};
use serde::Serialize;

use crate::{preview, text::excerpt};

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// A JSON-RPC request.
    Request,
    /// A JSON-RPC notification.
    Notification,
    /// A response with a result.
    Result,
    /// A response with an error.
    Error,
    /// JSON that is not a message, or has contradictory members.
    Malformed,
    /// A JSON-RPC batch.
    Batch,
    /// Text that is not JSON.
    Text,
    /// The head of an HTTP request without a message.
    HttpRequest,
    /// The head of an HTTP response without a message.
    HttpResponse,
    /// An event of a stream without a message.
    Event,
    /// The end of a stream.
    End,
    /// Output of a server on its standard error.
    Stderr,
    /// The exit of a server's process.
    Exit,
    /// Text that was too long to be kept.
    TooLong,
    /// Frames missing from the recording.
    Gap,
}

/// One row of the list.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Row {
    /// The line of the recording, from 1.
    pub number: u64,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    /// Who sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Side>,
    /// What it is.
    pub kind: Kind,
    /// The method, or that of the request it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The tool, prompt or resource that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The id as it was spelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The number of messages in a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<usize>,
    /// Length of the text in bytes.
    pub bytes: u64,
    /// Milliseconds between a request and its answer; set on both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took: Option<i64>,
    /// The frame of the answer, or for an answer, of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<u64>,
    /// The frame with a finding that refers to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referred: Option<u64>,
    /// The worst severity of its findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<&'static str>,
    /// How many findings there are.
    pub findings: usize,
    /// The rules of its findings, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<&'static str>,
    /// The beginning of the part worth showing.
    pub preview: String,
    /// The conversation, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The number of the HTTP exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange: Option<u64>,
    /// The HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// `POST /mcp`, of an HTTP request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// Whether the proxy sent it on behalf of `from`.
    #[serde(skip_serializing_if = "is_false")]
    pub by_proxy: bool,
    /// Whether the proxy held it back.
    #[serde(skip_serializing_if = "is_false")]
    pub held_back: bool,
    /// Whether it was judged at all.
    #[serde(skip_serializing_if = "is_true")]
    pub judged: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_true(value: &bool) -> bool {
    *value
}

/// One line of a recording and its findings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Frame {
    /// The row in the list of frames.
    pub row: Row,
    /// The line itself.
    pub line: Vec<u8>,
    /// The findings about it.
    pub findings: Vec<Finding>,
    /// The revision that its message was checked against.
    pub revision: Option<Revision>,
}

/// Longest name or id, in characters.
const NAME: usize = 120;

impl Frame {
    /// Makes the frame of line `number`; `messages` are the identities that the observer found in
    /// it.
    pub fn of(number: u64, line: &ReadLine<'_>, messages: &[Identity]) -> Frame {
        let record = line.record();
        let mut row = match line.message() {
            Some(message) => of_message(message, messages),
            None => of_other(line, record),
        };
        row.number = number;
        if let Some(record) = record {
            surround(&mut row, record);
        }
        let revision = messages.first().map(|message| message.revision);
        Frame { row, line: line.text().to_vec(), findings: Vec::new(), revision }
    }

    /// The frame of a line that is too long to be read.
    pub(crate) fn too_long(number: u64) -> Frame {
        let mut row = empty(Kind::TooLong);
        row.number = number;
        Frame { row, line: Vec::new(), findings: Vec::new(), revision: None }
    }

    /// Approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        let findings: usize = self.findings.iter().map(finding_size).sum();
        size_of::<Frame>() + self.line.len() + self.row.preview.len() + 256 + findings
    }

    /// Adds a finding about it.
    pub(crate) fn add(&mut self, finding: Finding) {
        let is_worse = finding.severity == Severity::Error || self.row.worst.is_none();
        if is_worse {
            self.row.worst = Some(finding.severity.as_str());
        }
        if !self.row.rules.contains(&finding.rule.name) {
            self.row.rules.push(finding.rule.name);
        }
        self.findings.push(finding);
        self.row.findings = self.findings.len();
    }
}

pub(crate) fn finding_size(finding: &Finding) -> usize {
    let pointer = finding.pointer.as_ref().map_or(0, String::len);
    size_of::<Finding>() + finding.message.len() + pointer + 64
}

fn empty(kind: Kind) -> Row {
    Row {
        number: 0,
        at: None,
        from: None,
        kind,
        method: None,
        target: None,
        id: None,
        entries: None,
        bytes: 0,
        took: None,
        pair: None,
        referred: None,
        worst: None,
        findings: 0,
        rules: Vec::new(),
        preview: String::new(),
        session: None,
        exchange: None,
        status: None,
        http: None,
        by_proxy: false,
        held_back: false,
        judged: true,
    }
}

fn of_message(message: Node<'_>, identities: &[Identity]) -> Row {
    if message.is_array() {
        let mut row = empty(Kind::Batch);
        row.entries = Some(message.len());
        row.bytes = message.raw().len() as u64;
        row.preview = excerpt(message.raw(), preview::LONGEST);
        return row;
    }
    let envelope = Envelope::of(message);
    let params = message.get("params");
    let has_both = envelope.result.is_some() && envelope.error.is_some();
    let kind = match (envelope.method, envelope.id) {
        (Some(_), _) if envelope.result.is_some() || envelope.error.is_some() => Kind::Malformed,
        (Some(_), Some(_)) => Kind::Request,
        (Some(_), None) => Kind::Notification,
        (None, _) if has_both => Kind::Malformed,
        (None, _) if envelope.error.is_some() => Kind::Error,
        (None, _) if envelope.result.is_some() => Kind::Result,
        (None, _) => Kind::Malformed,
    };
    let mut row = empty(kind);
    let identity = identities.first();
    let method = identity.and_then(|identity| identity.method.as_deref());
    row.method = method.map(|method| excerpt(method.as_bytes(), NAME));
    row.id = envelope.id.map(|id| excerpt(id.raw(), NAME));
    let named = |name| params?.get(name)?.str_bytes();
    row.target = named("name").or_else(|| named("uri")).map(|name| excerpt(&name, NAME));
    row.bytes = message.raw().len() as u64;
    let payload = match kind {
        Kind::Malformed => Some(message),
        _ => envelope.result.or(envelope.error).or(params),
    };
    row.preview = payload.map(preview::of_payload).unwrap_or_default();
    row
}

/// Makes the row of a line without a message.
fn of_other(line: &ReadLine<'_>, record: Option<&Record<'_>>) -> Row {
    let Some(record) = record else { return text_row(Kind::Text, line.text()) };
    if record.is_gap {
        return empty(Kind::Gap);
    }
    match &record.process {
        Some(ProcessRecord::Stderr(text)) => return text_row(Kind::Stderr, text),
        Some(ProcessRecord::Exit { code, signal }) => {
            return text_row(Kind::Exit, exit_of(*code, *signal).as_bytes());
        }
        Some(_) | None => {}
    }
    if let Some(text) = record.text().filter(|text| !text.is_empty() || record.http.is_none()) {
        return text_row(Kind::Text, text);
    }
    let Some(http) = record.http.as_deref() else { return text_row(Kind::Text, line.text()) };
    let kind = match http {
        HttpRecord { method: Some(_), .. } => Kind::HttpRequest,
        HttpRecord { status: Some(_), .. } => Kind::HttpResponse,
        HttpRecord { sse: Some(_), .. } => Kind::Event,
        _ => Kind::End,
    };
    text_row(kind, http.body.as_deref().unwrap_or_default())
}

/// Describes how a process ended.
pub(crate) fn exit_of(code: Option<i64>, signal: Option<i64>) -> String {
    match (code, signal) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "exited".to_owned(),
    }
}

fn text_row(kind: Kind, text: &[u8]) -> Row {
    let mut row = empty(kind);
    row.bytes = text.len() as u64;
    row.preview = excerpt(text, preview::LONGEST);
    row
}

/// Adds the facts that a record states besides its message.
fn surround(row: &mut Row, record: &Record<'_>) {
    row.from = (!record.is_gap).then_some(record.from);
    row.at = record.millis;
    row.by_proxy = record.is_stand_in;
    if !record.session.is_empty() {
        row.session = Some(excerpt(&record.session, NAME));
    }
    if let Some(length) = record.skipped {
        row.kind = Kind::TooLong;
        row.bytes = length;
    }
    let Some(http) = record.http.as_deref() else { return };
    row.exchange = http.exchange;
    row.status = http.status;
    row.http = http.method.as_ref().map(|method| {
        let url = excerpt(http.url.as_bytes(), NAME);
        format!("{} {url}", excerpt(method.as_bytes(), NAME))
    });
}
