use std::{borrow::Cow, fmt::Write as _, ops::Range, sync::Arc, time::SystemTime};

use bytes::Bytes;
use mcp_core::Side;
use mcp_json::{Limits, Tape};
use mcp_jsonrpc::Envelope;
use mcp_rules::{HttpEvent, HttpPart, SseEvent, TraceEntry, TraceWriter};

use super::SentHeaders;
use crate::{
    http::{DecodeError, Encoding},
    respond::PROXY,
};

/// A message or other event that the proxy observed, to be recorded and judged.
#[derive(Debug, Clone)]
pub struct Observation {
    from: Side,
    traffic: Traffic,
    /// The encoding of its body, and the maximum length of the text.
    encoding: Option<(Encoding, usize)>,
    /// The length of the text, if it was too long to be kept.
    skipped: Option<u64>,
    pub(super) session: Option<Arc<str>>,
    /// The session it belongs to, if replicas share session state.
    kept_in: Option<Arc<str>>,
    /// Whether its exchange may open such a session.
    opens: bool,
    pub(super) upstream: Option<Arc<str>>,
    by_proxy: bool,
    /// The line that it replaces.
    replaces: Option<u64>,
    pub(super) at: SystemTime,
}

#[derive(Debug, Clone)]
enum Traffic {
    Stdio { text: Bytes, ends: bool },
    WebSocket { text: Bytes },
    Http { exchange: u64, part: Part, body: Option<Bytes> },
    Stderr { text: Bytes },
    Exit { code: Option<i32>, signal: Option<i32> },
}

/// The observed part of an HTTP exchange.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Request { method: String, url: String, headers: SentHeaders },
    Response { status: u16, headers: SentHeaders },
    Event(Event),
    End,
}

/// The fields of a stream event, without its data.
#[derive(Debug, Clone, Default)]
pub(crate) struct Event {
    pub(crate) id: Option<Bytes>,
    pub(crate) name: Option<Bytes>,
    pub(crate) retry: Option<u64>,
}

impl Observation {
    /// A line over stdio, without the line break.
    pub fn stdio(from: Side, text: impl Into<Bytes>) -> Observation {
        Observation::new(from, Traffic::Stdio { text: text.into(), ends: false })
    }

    /// The last bytes of a stream over stdio, if no line break follows them.
    pub fn unterminated(from: Side, text: impl Into<Bytes>) -> Observation {
        Observation::new(from, Traffic::Stdio { text: text.into(), ends: true })
    }

    /// A line on a server's standard error, without the line break.
    pub fn stderr(text: impl Into<Bytes>) -> Observation {
        Observation::new(Side::Server, Traffic::Stderr { text: text.into() })
    }

    /// The exit of a server process, with this code or by this signal.
    pub fn exit(code: Option<i32>, signal: Option<i32>) -> Observation {
        Observation::new(Side::Server, Traffic::Exit { code, signal })
    }

    /// A message over WebSocket.
    pub fn web_socket(from: Side, text: impl Into<Bytes>) -> Observation {
        Observation::new(from, Traffic::WebSocket { text: text.into() })
    }

    pub(crate) fn http(from: Side, exchange: u64, part: Part, body: Option<Bytes>) -> Observation {
        Observation::new(from, Traffic::Http { exchange, part, body })
    }

    fn new(from: Side, traffic: Traffic) -> Observation {
        let at = SystemTime::UNIX_EPOCH;
        Observation {
            from,
            traffic,
            encoding: None,
            skipped: None,
            session: None,
            kept_in: None,
            opens: false,
            upstream: None,
            by_proxy: false,
            replaces: None,
            at,
        }
    }

    /// Marks its body as compressed: the decoded text is judged and recorded, up to `limit` bytes.
    #[must_use]
    pub(crate) fn encoded(mut self, encoding: Option<Encoding>, limit: usize) -> Observation {
        self.encoding = encoding.map(|encoding| (encoding, limit));
        self
    }

    /// Replaces the text by its length in bytes, since it was too long to be kept.
    #[must_use]
    pub fn skipping(mut self, length: u64) -> Observation {
        self.skipped = Some(length);
        self
    }

    /// Sets the name of its conversation, if there are several.
    #[must_use]
    pub fn in_session(mut self, session: Option<Arc<str>>) -> Observation {
        self.session = session;
        self
    }

    /// Sets the session, by the id that the server assigned, whose state replicas share.
    #[must_use]
    pub(crate) fn kept_in(mut self, session: Option<Arc<str>>) -> Observation {
        self.kept_in = session;
        self
    }

    /// Marks it as sent by the proxy on behalf of its side.
    #[must_use]
    pub fn by_proxy(mut self) -> Observation {
        self.by_proxy = true;
        self
    }

    /// Marks it as the replacement of a line of the recording.
    #[must_use]
    pub fn replacing(mut self, line: u64) -> Observation {
        self.replaces = Some(line);
        self.by_proxy()
    }

    /// Who sent it.
    pub fn from(&self) -> Side {
        self.from
    }

    /// When it was observed.
    pub fn at(&self) -> SystemTime {
        self.at
    }

    /// The number of its exchange, if it was sent over HTTP.
    pub fn exchange(&self) -> Option<u64> {
        match self.traffic {
            Traffic::Http { exchange, .. } => Some(exchange),
            Traffic::Stdio { .. }
            | Traffic::WebSocket { .. }
            | Traffic::Stderr { .. }
            | Traffic::Exit { .. } => None,
        }
    }

    /// The name of its conversation, if there are several.
    pub fn session(&self) -> Option<&Arc<str>> {
        self.session.as_ref()
    }

    /// The session whose state replicas share, if it belongs to one.
    pub(super) fn shared_session(&self) -> Option<&Arc<str>> {
        self.kept_in.as_ref()
    }

    /// Whether it is a request that may open a session.
    pub(super) fn is_initialize(&self, tape: &mut Tape, limits: Limits) -> bool {
        match &self.traffic {
            Traffic::Http { part: Part::Request { .. }, body: Some(body), .. } => {
                self.kept_in.is_none() && is_initialize(body, tape, limits)
            }
            _ => false,
        }
    }

    /// Sets whether its exchange may open a session.
    #[must_use]
    pub(crate) fn opening(mut self, opens: bool) -> Observation {
        self.opens = opens;
        self
    }

    /// Whether it may belong to a session whose state replicas share.
    pub(super) fn is_shared(&self) -> bool {
        self.kept_in.is_some() || self.opens
    }

    /// Whether it is the head of a response.
    pub(super) fn is_response(&self) -> bool {
        matches!(self.traffic, Traffic::Http { part: Part::Response { .. }, .. })
    }

    /// Whether it is the head of a successful response.
    pub(super) fn is_success(&self) -> bool {
        let Traffic::Http { part: Part::Response { status, .. }, .. } = &self.traffic else {
            return false;
        };
        (200..300).contains(status) && !self.by_proxy
    }

    /// The name of its server, if there are several.
    pub fn upstream(&self) -> Option<&Arc<str>> {
        self.upstream.as_ref()
    }

    /// Whether the proxy sent it on behalf of its side.
    pub fn is_by_proxy(&self) -> bool {
        self.by_proxy
    }

    /// Length of its text in bytes.
    pub fn bytes(&self) -> u64 {
        let kept = match &self.traffic {
            Traffic::Stdio { text, .. }
            | Traffic::WebSocket { text }
            | Traffic::Stderr { text } => text.len(),
            Traffic::Http { body, .. } => body.as_ref().map_or(0, Bytes::len),
            Traffic::Exit { .. } => 0,
        };
        self.skipped.unwrap_or(kept as u64)
    }

    /// Adds the members of an entry that do not depend on the kind of traffic.
    fn complete<'a>(&'a self, mut entry: TraceEntry<'a>) -> TraceEntry<'a> {
        if let Some(length) = self.skipped {
            entry = entry.skipping(length);
        }
        if let Some(session) = &self.session {
            entry = entry.in_session(session);
        }
        if let Some(line) = self.replaces {
            entry = entry.replacing(line);
        }
        if self.by_proxy { entry.sent_by(PROXY) } else { entry }
    }

    /// Approximate memory use in bytes.
    pub(super) fn size(&self) -> usize {
        size_of::<Observation>()
            + match &self.traffic {
                Traffic::Stdio { text, .. }
                | Traffic::WebSocket { text }
                | Traffic::Stderr { text } => text.len(),
                Traffic::Exit { .. } => 0,
                Traffic::Http { part, body, .. } => {
                    let part = match part {
                        Part::Request { url, headers, .. } => url.len() + headers.size(),
                        Part::Response { headers, .. } => headers.size(),
                        Part::Event(_) | Part::End => 0,
                    };
                    part + body.as_ref().map_or(0, Bytes::len)
                }
            }
    }
}

/// Writes observations as lines of a recording, reusing its buffers.
#[derive(Debug)]
pub(super) struct ObservationWriter {
    writer: TraceWriter<Vec<u8>>,
    tape: Tape,
    limits: Limits,
    clock: Clock,
}

/// Formats times; within a second, only the fraction changes.
#[derive(Debug, Default)]
struct Clock {
    second: u64,
    text: String,
}

impl Clock {
    fn show(&mut self, at: SystemTime) -> &str {
        /// Length of a formatted time without the microseconds.
        const SECOND: usize = "1970-01-01T00:00:00.".len();
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        if self.second == since.as_secs() && self.text.len() > SECOND {
            self.text.truncate(SECOND);
            // Writing to a string does not fail.
            let _ = write!(self.text, "{:06}Z", since.subsec_micros());
        } else {
            self.second = since.as_secs();
            self.text = humantime::format_rfc3339_micros(at).to_string();
        }
        &self.text
    }
}

/// Larger buffers are freed after use.
const KEPT_BUFFER: usize = 64 << 10;

impl ObservationWriter {
    pub(super) fn new(limits: Limits) -> ObservationWriter {
        let writer = TraceWriter::new(Vec::new()).with_depth(limits.max_depth);
        ObservationWriter { writer, tape: Tape::new(), limits, clock: Clock::default() }
    }

    /// Writes the line for an observation on the assumption that its message can be copied
    /// unchanged; returns it with the position of the message. `None` if there is no message, or it
    /// cannot be copied.
    pub(super) fn write_optimistic(
        &mut self,
        observation: &Observation,
    ) -> Option<(Vec<u8>, Range<usize>)> {
        let Observation { from, traffic, at, encoding: None, skipped: None, .. } = observation
        else {
            return None;
        };
        let message = match traffic {
            Traffic::Stdio { text, ends: false } | Traffic::WebSocket { text } => text,
            Traffic::Http { body: Some(body), .. } => body,
            Traffic::Stdio { ends: true, .. }
            | Traffic::Http { body: None, .. }
            | Traffic::Stderr { .. }
            | Traffic::Exit { .. } => return None,
        };
        if message.is_empty() || message.len() > self.limits.max_bytes {
            return None;
        }
        let ObservationWriter { writer, tape, limits, clock } = self;
        let time = clock.show(*at);
        let mut place = 0..0;
        let mut write = |entry: TraceEntry<'_>| {
            let written = writer.write_optimistic(&observation.complete(entry).at(time), message);
            // Writing to a vector does not fail.
            place = written.unwrap_or_default();
        };
        match traffic {
            Traffic::Http { exchange, part, .. } => {
                let tools = (tape, *limits);
                with_event(*from, *exchange, part, None, tools, |event| {
                    write(TraceEntry::http(event));
                });
            }
            Traffic::WebSocket { .. } => write(TraceEntry::web_socket(*from, b"")),
            _ => write(TraceEntry::stdio(*from, b"")),
        }
        Some((self.take(), place))
    }

    /// Takes back the buffer of a line for reuse.
    pub(super) fn reuse(&mut self, mut line: Vec<u8>) {
        if line.capacity() <= KEPT_BUFFER {
            line.clear();
            *self.writer.get_mut() = line;
        }
    }

    /// The line for an observation, without the line break.
    pub(super) fn line(&mut self, observation: &Observation) -> Vec<u8> {
        let Observation { from, traffic, at, .. } = observation;
        let ObservationWriter { writer, tape, limits, clock } = self;
        let time = clock.show(*at);
        let mut write = |entry: TraceEntry<'_>| {
            // Writing to a vector does not fail.
            let _ = writer.write(&observation.complete(entry).at(time));
        };
        match traffic {
            Traffic::Stdio { text, ends: false } => write(TraceEntry::stdio(*from, text)),
            Traffic::Stdio { text, ends: true } => write(TraceEntry::unterminated(*from, text)),
            Traffic::WebSocket { text } => write(TraceEntry::web_socket(*from, text)),
            Traffic::Stderr { text } => write(TraceEntry::stderr(text)),
            Traffic::Exit { code, signal } => write(TraceEntry::exit(*code, *signal)),
            Traffic::Http { exchange, part, body } => {
                let decoded = match (observation.encoding, body) {
                    (Some((encoding, limit)), Some(body)) => encoding.decode(body, limit),
                    _ => Err(DecodeError::Broken),
                };
                let body = match &decoded {
                    Ok(text) => Some(text),
                    // Recorded with its minimum length.
                    Err(DecodeError::TooLong) => None,
                    Err(DecodeError::Broken) => body.as_ref(),
                };
                let too_long =
                    observation.encoding.filter(|_| decoded == Err(DecodeError::TooLong));
                let mut write = |entry: TraceEntry<'_>| {
                    write(match too_long {
                        Some((_, limit)) => entry.skipping(limit as u64 + 1),
                        None => entry,
                    });
                };
                with_event(*from, *exchange, part, body, (tape, *limits), |event| {
                    write(TraceEntry::http(event));
                });
            }
        }
        self.take()
    }

    /// Writes the line that stands for lost observations.
    pub(super) fn gap(&mut self, lost: u64) -> Vec<u8> {
        let _ = self.writer.write(&TraceEntry::gap(lost));
        self.take()
    }

    fn take(&mut self) -> Vec<u8> {
        let mut line = std::mem::take(self.writer.get_mut());
        line.pop();
        if line.len() > KEPT_BUFFER {
            *self = ObservationWriter::new(self.limits);
        }
        line
    }
}

/// Makes the trace event for an HTTP observation.
fn with_event(
    from: Side,
    exchange: u64,
    part: &Part,
    body: Option<&Bytes>,
    (tape, limits): (&mut Tape, Limits),
    visit: impl FnOnce(HttpEvent<'_>),
) {
    let body = body.map(|body| &**body);
    let (id, name);
    let headers;
    let (part, expects_json) = match part {
        Part::Request { method, url, headers: sent } => {
            headers = sent.as_read();
            (HttpPart::Request { method, url, headers: &headers }, true)
        }
        Part::Response { status, headers: sent } => {
            headers = sent.as_read();
            let kind = headers.get("content-type");
            let start = kind.as_deref().and_then(|kind| kind.as_bytes().get(..JSON.len()));
            let is_json = start.is_some_and(|start| start.eq_ignore_ascii_case(JSON));
            (HttpPart::Response { status: *status, headers: &headers }, is_json)
        }
        Part::Event(event) => {
            (id, name) = (text_of(event.id.as_ref()), text_of(event.name.as_ref()));
            let (id, name) = (id.as_deref(), name.as_deref());
            // Empty data is recorded as data; other data as the message or the body.
            let data = body.filter(|data| data.is_empty());
            (HttpPart::Event(SseEvent { id, event: name, data, retry: event.retry }), true)
        }
        Part::End => (HttpPart::End, false),
    };
    let event = HttpEvent::new(exchange, from, part);
    let Some(body) = body.filter(|body| !body.is_empty()) else { return visit(event) };
    match tape.parse(body, limits) {
        Ok(document) => visit(event.with_message(document.root())),
        Err(error) if expects_json => visit(event.with_unreadable(body, error)),
        Err(_) => visit(event.with_body(body)),
    }
}

/// Whether a body is an `initialize` request, which may open a session.
pub(crate) fn is_initialize(body: &[u8], tape: &mut Tape, limits: Limits) -> bool {
    // Few messages contain the word, and only these need to be parsed.
    if memchr::memmem::find(body, b"\"initialize\"").is_none() {
        return false;
    }
    tape.parse(body, limits).is_ok_and(|document| {
        Envelope::of(document.root()).method.is_some_and(|method| method.str_eq("initialize"))
    })
}

fn text_of(bytes: Option<&Bytes>) -> Option<Cow<'_, str>> {
    bytes.map(|bytes| String::from_utf8_lossy(bytes))
}

const JSON: &[u8] = b"application/json";
