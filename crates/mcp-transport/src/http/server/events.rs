//! Encoding of server-sent events.

use std::{fmt, fmt::Write as _, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use memchr::memchr2;

/// A comment that keeps the stream alive.
pub(super) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

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
