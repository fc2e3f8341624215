//! Encoding of server-sent events.

use std::{fmt, fmt::Write as _, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use mcp_json::Parsed;
use memchr::memchr2;

use crate::http::watch::{WatchedBody, WatchedEvent};

/// A comment that keeps the stream alive.
const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// An event as it is sent.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) text: Bytes,
    /// The message in it, if that is still parsed.
    pub(super) message: Option<Parsed>,
}

impl Event {
    /// How much memory it takes.
    pub(super) fn size(&self) -> usize {
        self.text.len() + self.message.as_ref().map_or(0, Parsed::memory)
    }

    pub(super) const KEEP_ALIVE: Event = Event { text: KEEP_ALIVE, message: None };

    /// Calls `look` with the fields of the event; not for a comment, which is not an event.
    pub(super) fn watch(&self, look: impl FnOnce(WatchedEvent<'_>)) {
        let text = str::from_utf8(&self.text).unwrap_or_default();
        let field = |name| text.lines().find_map(|line| line.strip_prefix(name));
        // Only events that were kept for resuming clients have to be decoded again.
        let unparsed = self.message.is_none().then(|| data(text)).flatten();
        if self.message.is_none() && unparsed.is_none() {
            return;
        }
        look(WatchedEvent {
            id: field("id: "),
            name: None,
            retry: field("retry: ").and_then(|retry| retry.parse().ok()),
            data: match (&self.message, &unparsed) {
                (Some(message), _) => WatchedBody::Parsed(message),
                (None, Some(data)) => WatchedBody::Text(data),
                (None, None) => WatchedBody::Nothing,
            },
        });
    }
}

/// The data of an event that was written here.
fn data(text: &str) -> Option<Bytes> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let first = lines.next()?.trim_start_matches(' ').to_owned();
    let whole = lines.fold(first, |whole, line| whole + "\n" + line.trim_start_matches(' '));
    Some(whole.into())
}

impl From<Bytes> for Event {
    fn from(text: Bytes) -> Event {
        Event { text, message: None }
    }
}

/// The id of an event: unique in its session, and identifies its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) stream: StreamId,
    /// Counts the events of the whole session.
    pub(super) sequence: u64,
}

/// A stream of a session that can be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StreamId {
    pub(super) kind: StreamKind,
    pub(super) number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamKind {
    /// The response to a POST: ends with the answer.
    Answer,
    /// Opened by GET, for the server's notifications and requests.
    Standalone,
}

impl EventId {
    pub(super) fn parse(text: &str) -> Option<EventId> {
        let kind = match text.as_bytes().first()? {
            b'p' => StreamKind::Answer,
            b'g' => StreamKind::Standalone,
            _ => return None,
        };
        let (number, sequence) = text.get(1..)?.split_once('-')?;
        let stream = StreamId { kind, number: number.parse().ok()? };
        Some(EventId { stream, sequence: sequence.parse().ok()? })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.stream.kind {
            StreamKind::Answer => 'p',
            StreamKind::Standalone => 'g',
        };
        write!(f, "{kind}{}-{}", self.stream.number, self.sequence)
    }
}

/// An event that carries a message.
pub(super) fn message_event(id: Option<EventId>, message: &[u8]) -> Bytes {
    let mut text = BytesMut::with_capacity(message.len() + 48);
    put_id(&mut text, id);
    let mut rest = message;
    // A message may have several lines; each needs its own field.
    while let Some(end) = memchr2(b'\n', b'\r', rest) {
        let (line, tail) = rest.split_at(end);
        put_data(&mut text, line);
        rest = tail.strip_prefix(b"\r\n").unwrap_or_else(|| tail.get(1..).unwrap_or_default());
    }
    put_data(&mut text, rest);
    text.put_u8(b'\n');
    text.freeze()
}

/// An event without data: it gives the client an id to resume from, and the delay before it may.
pub(super) fn priming_event(id: EventId, retry: Duration) -> Bytes {
    let mut text = BytesMut::with_capacity(48);
    put_id(&mut text, Some(id));
    write!(text, "retry: {}\ndata:\n\n", retry.as_millis()).expect("writing to memory cannot fail");
    text.freeze()
}

fn put_id(text: &mut BytesMut, id: Option<EventId>) {
    if let Some(id) = id {
        writeln!(text, "id: {id}").expect("writing to memory cannot fail");
    }
}

fn put_data(text: &mut BytesMut, line: &[u8]) {
    text.put_slice(b"data: ");
    text.put_slice(line);
    text.put_u8(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: EventId =
        EventId { stream: StreamId { kind: StreamKind::Answer, number: 3 }, sequence: 14 };

    #[test]
    fn ids_survive_the_way_there_and_back() {
        assert_eq!(EventId::parse(&ID.to_string()), Some(ID));
        assert_eq!(EventId::parse("g7-1").unwrap().stream.kind, StreamKind::Standalone);
    }

    #[test]
    fn what_is_no_id_is_none() {
        for text in
            ["", "p", "p1", "p1-", "p-1", "x1-1", "p1-1-1", "p1-99999999999999999999", "é1-1"]
        {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_line_of_a_message_gets_a_field() {
        assert_eq!(message_event(None, b"{}"), "data: {}\n\n");
        assert_eq!(
            message_event(Some(ID), b"[\r\n1,\r2\n]"),
            "id: p3-14\ndata: [\ndata: 1,\ndata: 2\ndata: ]\n\n"
        );
    }

    #[test]
    fn priming_events_have_an_id_and_no_data() {
        assert_eq!(
            priming_event(ID, Duration::from_millis(1500)),
            "id: p3-14\nretry: 1500\ndata:\n\n"
        );
    }
}
