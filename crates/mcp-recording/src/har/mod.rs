//! Converts HAR captures of browsers and proxies to recordings, and back.
//!
//! A capture becomes the lines of a trace: the exchanges with MCP endpoints, in the order in which
//! their parts were probably observed. Findings refer to those lines; [`HarTrace::lines`] maps them
//! to lines of the capture.

mod capture;
mod order;
mod sniff;
#[cfg(test)]
mod tests;
mod write;

use std::{
    collections::{HashMap, HashSet},
    io::{self, Read},
};

use bytes::Bytes;
use mcp_json::{Limits, Node, Position, SyntaxError, Tape};
use mcp_rules::{HttpEvent, SseEvent, TraceEntry, TraceWriter};
use mcp_transport::http::sse::{Decoded, Decoder, Event};

use self::{
    capture::{Exchange, Part},
    order::Period,
};
pub use sniff::sniff;
pub use write::HarWriter;

/// A capture as a trace.
#[derive(Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart")]
pub struct HarTrace {
    /// The lines.
    pub text: Vec<u8>,
    /// For each line of the trace, the number of the line of the capture that it comes from.
    pub lines: Vec<u64>,
    /// The number of entries in the capture.
    pub entries: usize,
    /// The number of entries that are not about MCP.
    pub skipped: usize,
}

/// Why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum HarError {
    #[error("the capture could not be read")]
    Read(#[from] io::Error),
    #[error("the capture is larger than {0} bytes, and it can only be read as a whole")]
    TooLarge(usize),
    #[error("not a HAR capture: {kind}, on line {line}, column {column}", kind = .0.kind, line = .1.line, column = .1.column)]
    Syntax(SyntaxError, Position),
    #[error("not a HAR capture: `log.entries` is not an array")]
    NoEntries,
}

/// Reads a capture of at most `max_bytes`.
///
/// # Errors
///
/// If it cannot be read, is too large, or is no capture.
pub fn read(source: impl Read, max_bytes: usize) -> Result<HarTrace, HarError> {
    let mut text = Vec::new();
    source.take(max_bytes as u64 + 1).read_to_end(&mut text)?;
    if text.len() > max_bytes {
        return Err(HarError::TooLarge(max_bytes));
    }
    if text.starts_with(b"\xEF\xBB\xBF") {
        text[..3].fill(b' ');
    }
    let mut tape = Tape::new();
    let limits = Limits { max_bytes, ..Limits::default() };
    let document = tape
        .parse(&text, limits)
        .map_err(|error| HarError::Syntax(error, error.position(&text)))?;
    let entries = document.root().pointer("/log/entries").filter(|entries| entries.is_array());
    convert(&text, entries.ok_or(HarError::NoEntries)?, max_bytes)
}

fn convert(text: &[u8], entries: Node<'_>, max_bytes: usize) -> Result<HarTrace, HarError> {
    let all: Vec<Option<Exchange<'_>>> = entries.elements().map(Exchange::of).collect();
    let count = all.len();
    let mut exchanges: Vec<Exchange<'_>> = all.into_iter().flatten().collect();
    let endpoints: HashSet<String> = exchanges
        .iter()
        .filter(|exchange| is_mcp(exchange))
        .map(|exchange| exchange.endpoint().to_owned())
        .collect();
    // Preflight requests are the browser's own business.
    exchanges.retain(|exchange| {
        endpoints.contains(exchange.endpoint()) && !exchange.method.eq_ignore_ascii_case("OPTIONS")
    });
    let periods = order::periods(exchanges.iter().map(|it| (it.start, it.time)));
    let answered = answers(&exchanges, &periods);
    let mut moments = Vec::new();
    for (index, (exchange, period)) in exchanges.iter().zip(&periods).enumerate() {
        moments.extend(Moment::of(index, exchange, *period, &answered, max_bytes));
    }
    moments.sort_by(|one, other| one.time.total_cmp(&other.time));
    let mut writer = TraceWriter::new(Vec::new());
    for moment in &moments {
        moment.write(&exchanges[moment.exchange], &mut writer)?;
    }
    let offsets: Vec<usize> =
        moments.iter().map(|moment| moment.offset(&exchanges[moment.exchange])).collect();
    Ok(HarTrace {
        text: writer.into_inner(),
        lines: lines_at(text, &offsets),
        entries: count,
        skipped: count - exchanges.len(),
    })
}

/// One observed part of an exchange, and when.
struct Moment {
    time: f64,
    exchange: usize,
    what: Seen,
}

enum Seen {
    Request,
    Response,
    Event(Event),
}

impl Moment {
    /// The observed parts of an exchange, in order.
    fn of(
        exchange: usize,
        seen: &Exchange<'_>,
        period: Period,
        answered: &HashMap<Vec<u8>, f64>,
        max_bytes: usize,
    ) -> Vec<Moment> {
        let mut moments = vec![Moment { time: period.start, exchange, what: Seen::Request }];
        if seen.status == 0 {
            return moments;
        }
        let events = events_of(&seen.response, max_bytes);
        let asked: Vec<Option<Vec<u8>>> = events.iter().map(|event| asks(&event.data)).collect();
        let times = order::event_times(period, &asked, answered);
        // The head of a stream comes some time before its events; the capture does not say when.
        let head = times.first().copied().unwrap_or(period.end);
        moments.push(Moment { time: head, exchange, what: Seen::Response });
        let events = events.into_iter().zip(times);
        moments.extend(events.map(|(event, time)| Moment {
            time,
            exchange,
            what: Seen::Event(event),
        }));
        moments
    }

    fn offset(&self, exchange: &Exchange<'_>) -> usize {
        match self.what {
            Seen::Request => exchange.request.offset,
            Seen::Response | Seen::Event(_) => exchange.response.offset,
        }
    }

    fn write(&self, exchange: &Exchange<'_>, writer: &mut TraceWriter<Vec<u8>>) -> io::Result<()> {
        let number = self.exchange as u64 + 1;
        match &self.what {
            Seen::Request => {
                let Exchange { method, url, request, .. } = exchange;
                let event = HttpEvent::request(number, method, url, &request.headers);
                let started = exchange.started.as_deref().filter(|_| exchange.start.is_some());
                write_part(event, request, started, writer)
            }
            Seen::Response => {
                let response = &exchange.response;
                let event = HttpEvent::response(number, exchange.status, &response.headers);
                write_part(event, response, None, writer)
            }
            Seen::Event(event) => write_event(number, event, writer),
        }
    }
}

/// Writes a request or response with its body; that of a stream is written event by event.
fn write_part(
    event: HttpEvent<'_>,
    part: &Part<'_>,
    time: Option<&str>,
    writer: &mut TraceWriter<Vec<u8>>,
) -> io::Result<()> {
    let mut write = |event| {
        let entry = TraceEntry::http(event);
        writer.write(&time.map_or(entry, |time| entry.at(time)))
    };
    if part.body.is_empty() || part.is_of_type(EVENT_STREAM) {
        return write(event);
    }
    if !part.is_of_type("application/json") {
        return write(event.with_body(&part.body));
    }
    match Tape::new().parse(&part.body, WHATEVER_FITS) {
        Ok(document) => write(event.with_message(document.root())),
        Err(error) => write(event.with_unreadable(&part.body, error)),
    }
}

fn write_event(number: u64, event: &Event, writer: &mut TraceWriter<Vec<u8>>) -> io::Result<()> {
    let text = |field: &Option<Bytes>| {
        field.as_ref().map(|text| String::from_utf8_lossy(text).into_owned())
    };
    let (id, name) = (text(&event.id), text(&event.event));
    let retry = event.retry.and_then(|wait| u64::try_from(wait.as_millis()).ok());
    let is_dispatched = !event.data.is_empty() || id.is_some() || name.is_some();
    let data = is_dispatched.then_some(&*event.data);
    let sse = SseEvent { id: id.as_deref(), event: name.as_deref(), data, retry };
    match Tape::new().parse(&event.data, WHATEVER_FITS) {
        Ok(document) => {
            let seen = HttpEvent::event(number, SseEvent { data: None, ..sse });
            writer.write(&TraceEntry::http(seen.with_message(document.root())))
        }
        Err(_) => writer.write(&TraceEntry::http(HttpEvent::event(number, sse))),
    }
}

const EVENT_STREAM: &str = "text/event-stream";
/// Size and depth are checked when the trace is read.
const WHATEVER_FITS: Limits = Limits { max_bytes: usize::MAX, max_depth: 128 };

/// Whether the exchange shows that its URL is an MCP endpoint.
fn is_mcp(exchange: &Exchange<'_>) -> bool {
    const HEADERS: [&str; 2] = ["mcp-session-id", "mcp-protocol-version"];
    let has_header =
        |part: &Part<'_>| HEADERS.into_iter().any(|name| part.headers.get(name).is_some());
    let response = &exchange.response;
    let is_old_stream =
        || response.is_of_type(EVENT_STREAM) && response.body.starts_with(b"event: endpoint");
    has_header(&exchange.request)
        || has_header(response)
        || is_old_stream()
        || is_mcp_message(&exchange.request.body)
}

/// Whether a body is a message of MCP, rather than of another protocol on JSON-RPC.
fn is_mcp_message(body: &[u8]) -> bool {
    if memchr::memmem::find(body, b"jsonrpc").is_none() {
        return false;
    }
    let is_message = |message: Node<'_>| {
        let method = message.get("method").and_then(Node::as_str);
        message.get("jsonrpc").is_some()
            && method.is_some_and(|it| it.contains('/') || it == "initialize" || it == "ping")
    };
    Tape::new().parse(body, WHATEVER_FITS).is_ok_and(|document| {
        let root = document.root();
        is_message(root) || root.elements().any(is_message)
    })
}

/// When the client answered the server's requests, by their ids.
fn answers(exchanges: &[Exchange<'_>], periods: &[Period]) -> HashMap<Vec<u8>, f64> {
    let mut answered = HashMap::new();
    for (exchange, period) in exchanges.iter().zip(periods) {
        let mut tape = Tape::new();
        let Ok(document) = tape.parse(&exchange.request.body, WHATEVER_FITS) else { continue };
        let root = document.root();
        let is_answer = root.get("result").or(root.get("error")).is_some();
        if let Some(id) = root.get("id").filter(|_| is_answer) {
            answered.insert(id.raw().to_vec(), period.start);
        }
    }
    answered
}

/// The id of the request in the data of an event.
fn asks(data: &[u8]) -> Option<Vec<u8>> {
    let mut tape = Tape::new();
    let document = tape.parse(data, WHATEVER_FITS).ok()?;
    let root = document.root();
    root.get("method")?;
    root.get("id").map(|id| id.raw().to_vec())
}

/// The events in the body of a stream, without an incomplete last one.
fn events_of(part: &Part<'_>, max_bytes: usize) -> Vec<Event> {
    if !part.is_of_type(EVENT_STREAM) {
        return Vec::new();
    }
    let mut decoder = Decoder::new(max_bytes);
    decoder.push(Bytes::copy_from_slice(&part.body));
    let found = std::iter::from_fn(|| decoder.next_event());
    let event = |decoded| match decoded {
        Decoded::Event(event) => Some(event),
        Decoded::Skipped { .. } => None,
    };
    found.filter_map(event).collect()
}

/// The lines that offsets are on, counted from 1.
fn lines_at(text: &[u8], offsets: &[usize]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_by_key(|index| offsets[*index]);
    let mut lines = vec![1; offsets.len()];
    let (mut at, mut line) = (0, 1);
    for index in order {
        line += memchr::memchr_iter(b'\n', &text[at..offsets[index]]).count() as u64;
        at = offsets[index];
        lines[index] = line;
    }
    lines
}
