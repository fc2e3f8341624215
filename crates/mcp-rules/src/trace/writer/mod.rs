//! Writes lines of a recording.

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::HashMap,
    io::{self, Write},
    ops::Range,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_core::Side;
use mcp_json::{Document, Limits, Tape};

use crate::{Headers, HttpEvent, HttpPart, SseEvent};

/// An observation to record.
#[derive(Debug, Clone, Copy)]
pub struct TraceEntry<'a> {
    from: Side,
    traffic: Traffic<'a>,
    time: Option<&'a str>,
    session: Option<&'a str>,
    skipped: Option<u64>,
    by: Option<&'a str>,
    replaces: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
enum Traffic<'a> {
    Stdio { text: &'a [u8], ends: bool },
    WebSocket { text: &'a [u8] },
    Http(HttpEvent<'a>),
    Gap { lost: u64 },
    Stderr { text: &'a [u8] },
    Exit { code: Option<i32>, signal: Option<i32> },
}

impl<'a> TraceEntry<'a> {
    /// A line that a side writes to its stream, without the line break.
    pub fn stdio(from: Side, text: &'a [u8]) -> TraceEntry<'a> {
        TraceEntry::new(from, Traffic::Stdio { text, ends: false })
    }

    /// The last bytes on a side's stream, if no line break follows them.
    pub fn unterminated(from: Side, text: &'a [u8]) -> TraceEntry<'a> {
        TraceEntry::new(from, Traffic::Stdio { text, ends: true })
    }

    /// A message over WebSocket.
    pub fn web_socket(from: Side, text: &'a [u8]) -> TraceEntry<'a> {
        TraceEntry::new(from, Traffic::WebSocket { text })
    }

    /// A line that a server writes to its standard error, without the line break.
    pub fn stderr(text: &'a [u8]) -> TraceEntry<'a> {
        TraceEntry::new(Side::Server, Traffic::Stderr { text })
    }

    /// The exit of a server's process, with this code or by this signal.
    pub fn exit(code: Option<i32>, signal: Option<i32>) -> TraceEntry<'a> {
        TraceEntry::new(Side::Server, Traffic::Exit { code, signal })
    }

    /// An observation of HTTP. Its line and its time in milliseconds are not written.
    pub fn http(event: HttpEvent<'a>) -> TraceEntry<'a> {
        TraceEntry::new(event.from, Traffic::Http(event))
    }

    /// Sets who sent it in place of its side.
    #[must_use]
    pub fn sent_by(self, by: &'a str) -> TraceEntry<'a> {
        TraceEntry { by: Some(by), ..self }
    }

    /// Sets the number of the line that it replaces, which was not passed on.
    #[must_use]
    pub fn replacing(self, line: u64) -> TraceEntry<'a> {
        TraceEntry { replaces: Some(line), ..self }
    }

    /// A gap: this many observations, of any conversation and either side, are missing here.
    pub fn gap(lost: u64) -> TraceEntry<'a> {
        TraceEntry::new(Side::Client, Traffic::Gap { lost })
    }

    fn new(from: Side, traffic: Traffic<'a>) -> TraceEntry<'a> {
        let (time, session, skipped, by, replaces) = (None, None, None, None, None);
        TraceEntry { from, traffic, time, session, skipped, by, replaces }
    }

    /// Sets the time, in RFC 3339 format.
    #[must_use]
    pub fn at(self, time: &'a str) -> TraceEntry<'a> {
        TraceEntry { time: Some(time), ..self }
    }

    /// Sets the name of the conversation it belongs to, if a recording has several.
    #[must_use]
    pub fn in_session(self, session: &'a str) -> TraceEntry<'a> {
        TraceEntry { session: Some(session), ..self }
    }

    /// Replaces the text by its length in bytes, as it is too long to be kept.
    #[must_use]
    pub fn skipping(self, length: u64) -> TraceEntry<'a> {
        TraceEntry { skipped: Some(length), ..self }
    }
}

/// Writes a recording, one line per entry.
///
/// A message is written as `msg` if the reader gets the same bytes back and its spelling is
/// ordinary, otherwise as `raw`, or as `rawBase64` if it is not UTF-8.
///
/// ```
/// use mcp_core::Side;
/// use mcp_rules::{TraceEntry, TraceWriter};
///
/// let mut writer = TraceWriter::new(Vec::new());
/// writer.write(&TraceEntry::stdio(Side::Client, br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#))?;
/// writer.write(&TraceEntry::stdio(Side::Server, b"starting up").in_session("a"))?;
/// let lines = [
///     r#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#,
///     r#"{"from":"server","session":"a","raw":"starting up"}"#,
///     "",
/// ];
/// assert_eq!(writer.into_inner(), lines.join("\n").into_bytes());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TraceWriter<W> {
    out: W,
    line: Vec<u8>,
    tape: Tape,
    /// The maximum nesting of messages written as `msg`.
    max_depth: usize,
}

impl<W: Write> TraceWriter<W> {
    /// Creates a writer that writes to `out`, with one call per line.
    pub fn new(out: W) -> TraceWriter<W> {
        let max_depth = Limits::default().max_depth;
        TraceWriter { out, line: Vec::new(), tape: Tape::new(), max_depth }
    }

    /// Sets the maximum nesting of messages written as `msg`. Deeper ones are written as `raw`, so
    /// that readers with that limit can still read the line.
    #[must_use]
    pub fn with_depth(self, max_depth: usize) -> TraceWriter<W> {
        TraceWriter { max_depth, ..self }
    }

    /// Writes one line.
    ///
    /// # Errors
    ///
    /// If writing to `out` fails.
    pub fn write(&mut self, entry: &TraceEntry<'_>) -> io::Result<()> {
        self.begin(entry);
        match entry.traffic {
            Traffic::Stdio { text, ends } => {
                self.message_of(entry, text);
                if ends {
                    self.line.extend_from_slice(br#","end":true"#);
                }
            }
            Traffic::WebSocket { text } => {
                self.member("transport", "ws");
                self.message_of(entry, text);
            }
            Traffic::Http(event) => {
                self.http(&event);
                if let Some(length) = entry.skipped {
                    self.number("skipped", length);
                }
            }
            Traffic::Gap { lost } => self.number("lost", lost),
            Traffic::Stderr { text } => match entry.skipped {
                // Without a `skipped` member, by which readers could mistake the line for a message.
                Some(length) => self.member("stderr", &format!("({length} bytes)")),
                None => self.exact("stderr", "stderrBase64", text),
            },
            Traffic::Exit { code, signal } => {
                let member = |name: &str, value: Option<i32>| {
                    value.map(|value| format!("\"{name}\":{value}"))
                };
                let members = [member("code", code), member("signal", signal)];
                let members: Vec<String> = members.into_iter().flatten().collect();
                self.line.extend_from_slice(br#","exit":{"#);
                self.line.extend_from_slice(members.join(",").as_bytes());
                self.line.push(b'}');
            }
        }
        self.line.extend_from_slice(b"}\n");
        self.out.write_all(&self.line)
    }

    /// Writes a line on the presumption that `message` can be written as `msg`, and returns where in
    /// the line it is: to parse the line afterwards takes less time than to look at the message
    /// first. If [`LineReader::parse_optimistic`](crate::LineReader::parse_optimistic) does not confirm it, the line has
    /// to be replaced by the one that is written for the entry with this message. The entry itself
    /// has none: what it shows are HTTP, or nothing but who has sent it.
    ///
    /// # Errors
    ///
    /// If writing to `out` fails.
    pub fn write_optimistic(
        &mut self,
        entry: &TraceEntry<'_>,
        message: &[u8],
    ) -> io::Result<Range<usize>> {
        self.begin(entry);
        match entry.traffic {
            Traffic::WebSocket { .. } => self.member("transport", "ws"),
            Traffic::Http(event) => self.http(&event),
            Traffic::Stdio { .. }
            | Traffic::Gap { .. }
            | Traffic::Stderr { .. }
            | Traffic::Exit { .. } => {}
        }
        self.line.extend_from_slice(br#","msg":"#);
        let start = self.line.len();
        self.line.extend_from_slice(message);
        let end = self.line.len();
        self.line.extend_from_slice(b"}\n");
        self.out.write_all(&self.line)?;
        Ok(start..end)
    }

    /// Writes the members that all kinds of entries have in common.
    fn begin(&mut self, entry: &TraceEntry<'_>) {
        self.line.clear();
        self.line.extend_from_slice(match entry.from {
            Side::Client => br#"{"from":"client""#,
            Side::Server => br#"{"from":"server""#,
        });
        if let Some(time) = entry.time {
            self.member("ts", time);
        }
        if let Some(session) = entry.session {
            self.member("session", session);
        }
        if let Some(by) = entry.by {
            self.member("by", by);
        }
        if let Some(line) = entry.replaces {
            self.number("replaces", line);
        }
    }

    /// The underlying writer.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Returns the underlying writer.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Writes the text of an entry, or its length if it was skipped.
    fn message_of(&mut self, entry: &TraceEntry<'_>, text: &[u8]) {
        match entry.skipped {
            Some(length) => self.number("skipped", length),
            None => self.message(text),
        }
    }

    /// Writes a text that is a message, or meant to be one.
    fn message(&mut self, text: &[u8]) {
        let limits = Limits { max_bytes: usize::MAX, max_depth: self.max_depth };
        let is_plain = self.tape.parse(text, limits).is_ok_and(|document| is_plain(&document));
        self.text(text, is_plain);
    }

    fn text(&mut self, text: &[u8], is_plain: bool) {
        if is_plain {
            self.line.extend_from_slice(br#","msg":"#);
            self.line.extend_from_slice(text);
        } else {
            self.exact("raw", "rawBase64", text);
        }
    }

    /// Writes exact bytes, under `name` if they are UTF-8, otherwise under `name_of_base64`.
    fn exact(&mut self, name: &str, name_of_base64: &str, text: &[u8]) {
        match std::str::from_utf8(text) {
            Ok(text) => self.member(name, text),
            Err(_) => self.member(name_of_base64, &BASE64_STANDARD.encode(text)),
        }
    }

    fn http(&mut self, event: &HttpEvent<'_>) {
        self.line.extend_from_slice(br#","http":{"exchange":"#);
        self.line.extend_from_slice(event.exchange.to_string().as_bytes());
        let mut body = event.body.filter(|_| event.message.is_none() && event.error.is_none());
        let mut unread = event.body.filter(|_| event.message.is_none() && event.error.is_some());
        match event.part {
            HttpPart::Request { method, url, headers } => {
                self.member("method", method);
                self.member("url", url);
                self.headers(headers);
            }
            HttpPart::Response { status, headers } => {
                self.line.extend_from_slice(br#","status":"#);
                self.line.extend_from_slice(status.to_string().as_bytes());
                self.headers(headers);
            }
            HttpPart::Event(sse) => {
                // Anything but a message goes into `data`, if that can hold it.
                let text = sse.data.or(body.take()).or(unread.take());
                let text = text.filter(|_| event.message.is_none());
                let data = text.and_then(|text| std::str::from_utf8(text).ok());
                unread = text.filter(|_| data.is_none());
                self.sse(sse, data);
            }
            HttpPart::End => self.line.extend_from_slice(br#","end":true"#),
        }
        if let Some(body) = body {
            self.exact("body", "bodyBase64", body);
        }
        self.line.push(b'}');
        if let Some(message) = event.message {
            // Surrounding whitespace is part of the text.
            let document = message.document();
            if message.index() == 0 {
                self.text(document.input(), is_plain(document));
            } else {
                self.message(message.raw());
            }
        }
        if let Some(text) = unread {
            self.message(text);
        }
    }

    fn sse(&mut self, sse: SseEvent<'_>, data: Option<&str>) {
        self.line.extend_from_slice(br#","sse":{"#);
        let before = self.line.len();
        for (name, value) in [("id", sse.id), ("event", sse.event), ("data", data)] {
            if let Some(value) = value {
                self.member(name, value);
            }
        }
        if let Some(retry) = sse.retry {
            self.line.extend_from_slice(br#","retry":"#);
            self.line.extend_from_slice(retry.to_string().as_bytes());
        }
        if self.line.len() > before {
            self.line.remove(before); // The first comma.
        }
        self.line.push(b'}');
    }

    /// Repeated headers become an array.
    fn headers(&mut self, headers: &Headers<'_>) {
        if !headers.are_recorded() {
            return;
        }
        let all: Vec<(Cow<'_, str>, Cow<'_, str>)> = headers.iter().collect();
        self.line.extend_from_slice(br#","headers":{"#);
        if all.len() > FEW {
            self.many_headers(all);
        } else {
            // For few headers, comparing pairs is faster than building a map.
            for (position, (name, value)) in all.iter().enumerate() {
                let is_same = |other: &&(Cow<'_, str>, Cow<'_, str>)| other.0 == *name;
                if all[..position].iter().any(|other| is_same(&other)) {
                    continue;
                }
                let others = all[position + 1..].iter().filter(is_same);
                let others = others.map(|(_, value)| &**value);
                self.header(position == 0, name, value, others);
            }
        }
        self.line.push(b'}');
    }

    fn many_headers(&mut self, all: Vec<(Cow<'_, str>, Cow<'_, str>)>) {
        let mut groups: Vec<(Cow<'_, str>, Vec<Cow<'_, str>>)> = Vec::new();
        let mut by_name: HashMap<Cow<'_, str>, usize> = HashMap::new();
        for (name, value) in all {
            let group = *by_name.entry(name.clone()).or_insert_with(|| {
                groups.push((name, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(value);
        }
        for (position, (name, values)) in groups.iter().enumerate() {
            if let [value, others @ ..] = values.as_slice() {
                self.header(position == 0, name, value, others.iter().map(|value| &**value));
            }
        }
    }

    fn header<'v>(
        &mut self,
        is_first: bool,
        name: &str,
        value: &str,
        others: impl Iterator<Item = &'v str>,
    ) {
        if !is_first {
            self.line.push(b',');
        }
        self.string(name);
        self.line.push(b':');
        let start = self.line.len();
        self.string(value);
        let mut is_array = false;
        for other in others {
            self.line.push(b',');
            self.string(other);
            is_array = true;
        }
        if is_array {
            self.line.insert(start, b'[');
            self.line.push(b']');
        }
    }

    fn member(&mut self, name: &str, value: &str) {
        self.line.extend_from_slice(b",\"");
        self.line.extend_from_slice(name.as_bytes());
        self.line.extend_from_slice(b"\":");
        self.string(value);
    }

    fn number(&mut self, name: &str, value: u64) {
        self.line.extend_from_slice(b",\"");
        self.line.extend_from_slice(name.as_bytes());
        self.line.extend_from_slice(b"\":");
        self.line.extend_from_slice(value.to_string().as_bytes());
    }

    fn string(&mut self, text: &str) {
        serde_json::to_writer(&mut self.line, text).expect("a vector takes everything");
    }
}

/// Up to this many headers are compared pairwise.
const FEW: usize = 32;

/// Whether a text can be embedded as it is: the reader gets the same bytes back, and other JSON
/// parsers would lose nothing.
fn is_plain(document: &Document<'_>) -> bool {
    let text = document.input();
    document.root().raw().len() == text.len()
        && !text.contains(&b'\n')
        && !text.contains(&b'\r')
        && !document.has_duplicate_keys()
        && !document.has_lone_surrogates()
}
