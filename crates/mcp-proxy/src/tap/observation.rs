use std::{borrow::Cow, fmt::Write as _, ops::Range, sync::Arc, time::SystemTime};

use bytes::Bytes;
use mcp_core::Side;
use mcp_json::{Limits, Tape};
use mcp_jsonrpc::Envelope;
use mcp_rules::{HttpEvent, HttpPart, SseEvent, TraceEntry, TraceWriter};

use super::SentHeaders;
use crate::{
    http::{Encoding, Undecoded},
    respond::PROXY,
};

/// Something that passes the proxy, to be recorded and judged.
#[derive(Debug, Clone)]
pub struct Observation {
    from: Side,
    traffic: Traffic,
    /// How its body is compressed, and how long the text may be.
    encoding: Option<(Encoding, usize)>,
    /// How long the text was, if it was too long to be kept.
    skipped: Option<u64>,
    pub(super) session: Option<Arc<str>>,
    /// The id of the session it belongs to, if replicas share what they know of it.
    kept_in: Option<Arc<str>>,
    /// Whether its exchange may open such a session.
    opens: bool,
    pub(super) upstream: Option<Arc<str>>,
    by_proxy: bool,
    /// The line that it is passed on instead of.
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

/// The part of an HTTP exchange that is observed.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Request { method: String, url: String, headers: SentHeaders },
    Response { status: u16, headers: SentHeaders },
    Event(Event),
    End,
}

/// An event of a stream, without its data.
#[derive(Debug, Clone, Default)]
pub(crate) struct Event {
    pub(crate) id: Option<Bytes>,
    pub(crate) name: Option<Bytes>,
    pub(crate) retry: Option<u64>,
}

impl Observation {
    /// A line that a side writes to its stream, without the line break.
    pub fn stdio(from: Side, text: impl Into<Bytes>) -> Observation {
        Observation::new(from, Traffic::Stdio { text: text.into(), ends: false })
    }

    /// The last bytes on a side's stream, if no line break follows them.
    pub fn unterminated(from: Side, text: impl Into<Bytes>) -> Observation {
        Observation::new(from, Traffic::Stdio { text: text.into(), ends: true })
    }

    /// A line that a server writes to its standard error, without the line break.
    pub fn stderr(text: impl Into<Bytes>) -> Observation {
        Observation::new(Side::Server, Traffic::Stderr { text: text.into() })
    }

    /// The process of a server has ended, with this code or by this signal.
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

    /// Its body is compressed: what is judged and recorded is the text, up to `limit` bytes.
    #[must_use]
    pub(crate) fn encoded(mut self, encoding: Option<Encoding>, limit: usize) -> Observation {
        self.encoding = encoding.map(|encoding| (encoding, limit));
        self
    }

    /// Stands for a text of this many bytes, which is too long to be kept.
    #[must_use]
    pub fn skipping(mut self, length: u64) -> Observation {
        self.skipped = Some(length);
        self
    }

    /// Names the conversation it belongs to, if there are several.
    #[must_use]
    pub fn in_session(mut self, session: Option<Arc<str>>) -> Observation {
        self.session = session;
        self
    }

    /// Names the session by the id that the server gave it. Replicas share what they know of it.
    #[must_use]
    pub(crate) fn kept_in(mut self, session: Option<Arc<str>>) -> Observation {
        self.kept_in = session;
        self
    }

    /// The proxy has sent it in the place of the side that it is from.
    #[must_use]
    pub fn by_proxy(mut self) -> Observation {
        self.by_proxy = true;
        self
    }

    /// The proxy passes it on instead of what that line of the recording shows.
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

    /// The session of which replicas share what they know, if it is of one.
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

    /// Says that its exchange may open a session.
    #[must_use]
    pub(crate) fn opening(mut self, opens: bool) -> Observation {
        self.opens = opens;
        self
    }

    /// Whether replicas may share what they know of its session.
    pub(super) fn is_shared(&self) -> bool {
        self.kept_in.is_some() || self.opens
    }

    /// Whether it is the beginning of an answer.
    pub(super) fn is_response(&self) -> bool {
        matches!(self.traffic, Traffic::Http { part: Part::Response { .. }, .. })
    }

    /// Whether it is the beginning of an answer that the server gives to what it accepts.
    pub(super) fn is_success(&self) -> bool {
        let Traffic::Http { part: Part::Response { status, .. }, .. } = &self.traffic else {
            return false;
        };
        (200..300).contains(status) && !self.by_proxy
    }

    /// The name of the server that it is from or for, if there are several.
    pub fn upstream(&self) -> Option<&Arc<str>> {
        self.upstream.as_ref()
    }

    /// Whether the proxy has sent it in the place of the side that it is from.
    pub fn is_by_proxy(&self) -> bool {
        self.by_proxy
    }

    /// How many bytes of text it carries.
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

    /// Adds to an entry what does not depend on the kind of traffic.
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

    /// About how much memory it takes.
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

/// Writes observations as lines of a recording. Keeps its buffers.
#[derive(Debug)]
pub(super) struct Scribe {
    writer: TraceWriter<Vec<u8>>,
    tape: Tape,
    limits: Limits,
    clock: Clock,
}

/// Times as text. Those of one second have the same beginning.
#[derive(Debug, Default)]
struct Clock {
    second: u64,
    text: String,
}

impl Clock {
    fn show(&mut self, at: SystemTime) -> &str {
        /// The length of a time without its microseconds.
        const SECOND: usize = "1970-01-01T00:00:00.".len();
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        if self.second == since.as_secs() && self.text.len() > SECOND {
            self.text.truncate(SECOND);
            // A string takes everything.
            let _ = write!(self.text, "{:06}Z", since.subsec_micros());
        } else {
            self.second = since.as_secs();
            self.text = humantime::format_rfc3339_micros(at).to_string();
        }
        &self.text
    }
}

/// Buffers beyond this are given back.
const KEPT_BUFFER: usize = 64 << 10;

impl Scribe {
    pub(super) fn new(limits: Limits) -> Scribe {
        let writer = TraceWriter::new(Vec::new()).with_depth(limits.max_depth);
        Scribe { writer, tape: Tape::new(), limits, clock: Clock::default() }
    }

    /// The line for an observation, presuming that its message is ordinary, and where that is in it;
    /// `None` if there is no message, or it cannot be ordinary.
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
        let Scribe { writer, tape, limits, clock } = self;
        let time = clock.show(*at);
        let mut place = 0..0;
        let mut write = |entry: TraceEntry<'_>| {
            let written = writer.write_optimistic(&observation.complete(entry).at(time), message);
            // A vector takes everything.
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

    /// Takes the buffer of a line back, for the next one.
    pub(super) fn reuse(&mut self, mut line: Vec<u8>) {
        if line.capacity() <= KEPT_BUFFER {
            line.clear();
            *self.writer.get_mut() = line;
        }
    }

    /// The line for an observation, without the line break.
    pub(super) fn line(&mut self, observation: &Observation) -> Vec<u8> {
        let Observation { from, traffic, at, .. } = observation;
        let Scribe { writer, tape, limits, clock } = self;
        let time = clock.show(*at);
        let mut write = |entry: TraceEntry<'_>| {
            // A vector takes everything.
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
                    _ => Err(Undecoded::Broken),
                };
                let body = match &decoded {
                    Ok(text) => Some(text),
                    // It is recorded by the length that it has at least.
                    Err(Undecoded::TooLong) => None,
                    Err(Undecoded::Broken) => body.as_ref(),
                };
                let too_long = observation.encoding.filter(|_| decoded == Err(Undecoded::TooLong));
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

    /// The line that stands for lost ones.
    pub(super) fn gap(&mut self, lost: u64) -> Vec<u8> {
        let _ = self.writer.write(&TraceEntry::gap(lost));
        self.take()
    }

    fn take(&mut self) -> Vec<u8> {
        let mut line = std::mem::take(self.writer.get_mut());
        line.pop();
        if line.len() > KEPT_BUFFER {
            *self = Scribe::new(self.limits);
        }
        line
    }
}

/// Makes the event that an observation of HTTP shows.
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
            // Empty data is an event too; other data is shown as the message, or as the body.
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
    // Few messages have the word in them, and only these are parsed for it.
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
