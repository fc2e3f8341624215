//! Writes lines of a recording.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    io::{self, Write},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_core::Side;
use mcp_json::{Document, Limits, Tape};

use crate::{Headers, HttpEvent, HttpPart, SseEvent};

/// One observation to be recorded.
#[derive(Debug, Clone, Copy)]
pub struct TraceEntry<'a> {
    from: Side,
    traffic: Traffic<'a>,
    time: Option<&'a str>,
    session: Option<&'a str>,
}

#[derive(Debug, Clone, Copy)]
enum Traffic<'a> {
    Stdio { text: &'a [u8], ends: bool },
    WebSocket { text: &'a [u8] },
    Http(HttpEvent<'a>),
}

impl<'a> TraceEntry<'a> {
    /// What a side writes to its stream at once, without the final line break.
    pub fn stdio(from: Side, text: &'a [u8]) -> TraceEntry<'a> {
        TraceEntry {
            from,
            traffic: Traffic::Stdio { text, ends: false },
            time: None,
            session: None,
        }
    }

    /// The last bytes on the stream of a side, if no line break comes after them.
    pub fn unterminated(from: Side, text: &'a [u8]) -> TraceEntry<'a> {
        TraceEntry { from, traffic: Traffic::Stdio { text, ends: true }, time: None, session: None }
    }

    /// A message over WebSocket.
    pub fn web_socket(from: Side, text: &'a [u8]) -> TraceEntry<'a> {
        TraceEntry { from, traffic: Traffic::WebSocket { text }, time: None, session: None }
    }

    /// An observation of HTTP. Its line and its time in milliseconds are not written.
    pub fn http(event: HttpEvent<'a>) -> TraceEntry<'a> {
        TraceEntry { from: event.from, traffic: Traffic::Http(event), time: None, session: None }
    }

    /// With the time, RFC 3339.
    #[must_use]
    pub fn at(self, time: &'a str) -> TraceEntry<'a> {
        TraceEntry { time: Some(time), ..self }
    }

    /// With the name of the conversation it belongs to, where a recording has several.
    #[must_use]
    pub fn in_session(self, session: &'a str) -> TraceEntry<'a> {
        TraceEntry { session: Some(session), ..self }
    }
}

/// Writes a recording, one line for each entry.
///
/// A message is written as `msg` if the reader gets back the same bytes from it and nothing is
/// peculiar about its spelling, else as `raw`, and as `rawBase64` if it is not UTF-8.
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
}

impl<W: Write> TraceWriter<W> {
    /// Writes to `out`, with one call for each line.
    pub fn new(out: W) -> TraceWriter<W> {
        TraceWriter { out, line: Vec::new(), tape: Tape::new() }
    }

    /// Writes one line.
    ///
    /// # Errors
    ///
    /// If `out` does not take it.
    pub fn write(&mut self, entry: &TraceEntry<'_>) -> io::Result<()> {
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
        match entry.traffic {
            Traffic::Stdio { text, ends } => {
                self.message(text);
                if ends {
                    self.line.extend_from_slice(br#","end":true"#);
                }
            }
            Traffic::WebSocket { text } => {
                self.member("transport", "ws");
                self.message(text);
            }
            Traffic::Http(event) => self.http(&event),
        }
        self.line.extend_from_slice(b"}\n");
        self.out.write_all(&self.line)
    }

    /// What the lines are written to.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// What the lines were written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// A text that is a message, or meant as one.
    fn message(&mut self, text: &[u8]) {
        let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
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

    /// Exact bytes, under one name if they are UTF-8 and under the other if not.
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
                // What is no message is told by `data`, if that can hold it.
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
            // Surrounding blanks belong to the text.
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

    /// Several values of one name become an array.
    fn headers(&mut self, headers: &Headers<'_>) {
        if !headers.are_recorded() {
            return;
        }
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        for (name, value) in headers.iter() {
            let group = *by_name.entry(name).or_insert_with(|| {
                groups.push((name, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(value);
        }
        self.line.extend_from_slice(br#","headers":{"#);
        for (position, (name, values)) in groups.iter().enumerate() {
            if position > 0 {
                self.line.push(b',');
            }
            self.string(name);
            self.line.push(b':');
            match values.as_slice() {
                [value] => self.string(value),
                values => {
                    for (position, value) in values.iter().enumerate() {
                        self.line.push(if position == 0 { b'[' } else { b',' });
                        self.string(value);
                    }
                    self.line.push(b']');
                }
            }
        }
        self.line.push(b'}');
    }

    fn member(&mut self, name: &str, value: &str) {
        self.line.extend_from_slice(b",\"");
        self.line.extend_from_slice(name.as_bytes());
        self.line.extend_from_slice(b"\":");
        self.string(value);
    }

    fn string(&mut self, text: &str) {
        serde_json::to_writer(&mut self.line, text).expect("a vector takes everything");
    }
}

/// Whether a text can stand in a line as it is: the reader gets the same bytes back, and no other
/// reader of JSON would lose anything.
fn is_plain(document: &Document<'_>) -> bool {
    let text = document.input();
    document.root().raw().len() == text.len()
        && !text.contains(&b'\n')
        && !text.contains(&b'\r')
        && !document.has_duplicate_keys()
        && !document.has_lone_surrogates()
}
