use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

use mcp_core::MessageEnds;

use super::{
    Event,
    block::{Block, Lines},
};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// The maximum number of bytes before the data of a line: a byte order mark and `data: `.
const NAME_LENGTH: usize = 9;

/// What a [`Decoder`] finds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an event is kept or skipped")]
pub enum Decoded {
    /// An event.
    Event(Event),
    /// An event whose lines were longer than allowed.
    Skipped {
        /// How long they were.
        length: u64,
        /// How its data begins and ends.
        ends: MessageEnds,
    },
}

/// Splits a stream of bytes into events.
///
/// Anything after the last blank line when the stream ends is not an event and is discarded.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// What was pushed and not processed yet.
    chunk: Bytes,
    /// The beginning of an incomplete line.
    partial: BytesMut,
    /// The current line, if it is too long to be kept.
    overlong: Option<Overlong>,
    at_start: bool,
    after_carriage_return: bool,
    block: Block,
    last_id: Option<Bytes>,
    retry: Option<Duration>,
}

/// A line that is too long to be kept, as far as it has come.
#[derive(Debug)]
struct Overlong {
    length: u64,
    is_comment: bool,
    /// The start and end of the field's value.
    ends: MessageEnds,
}

impl Decoder {
    /// A decoder of a new stream that keeps events of up to `limit` bytes.
    pub fn new(limit: usize) -> Decoder {
        Decoder {
            limit,
            chunk: Bytes::new(),
            partial: BytesMut::new(),
            overlong: None,
            at_start: true,
            after_carriage_return: false,
            block: Block::default(),
            last_id: None,
            retry: None,
        }
    }

    /// Adds bytes. Call it when [`Decoder::next_event`] has nothing left.
    pub fn push(&mut self, chunk: Bytes) {
        if self.chunk.is_empty() {
            self.chunk = chunk;
        } else {
            let mut both = BytesMut::with_capacity(self.chunk.len() + chunk.len());
            both.put_slice(&self.chunk);
            both.put_slice(&chunk);
            self.chunk = both.freeze();
        }
    }

    /// The next event among the bytes pushed so far.
    pub fn next_event(&mut self) -> Option<Decoded> {
        while let Some(line) = self.next_line() {
            match line {
                Line::Text(text) if text.is_empty() => {
                    if let Some(decoded) = self.dispatch() {
                        return Some(decoded);
                    }
                }
                Line::Text(text) => self.take_field(&text),
                Line::TooLong(line) => {
                    self.block.skip(line.length, &[line.ends.start(), line.ends.end()]);
                }
            }
        }
        None
    }

    /// Starts a new connection that continues the same stream: anything unfinished is discarded,
    /// the last id and retry time are kept.
    pub fn restart(&mut self) {
        *self =
            Decoder { last_id: self.last_id.take(), retry: self.retry, ..Decoder::new(self.limit) };
    }

    /// The id of the last event that has one: where to resume. Also `None` after an empty id.
    pub fn last_id(&self) -> Option<&Bytes> {
        self.last_id.as_ref()
    }

    /// How many bytes of an incomplete event are buffered.
    pub fn held(&self) -> usize {
        self.chunk.len() + self.partial.len() + self.block.held()
    }

    /// Discards the incomplete event; it will be returned as [`Decoded::Skipped`].
    pub fn skip_event(&mut self) {
        let name = self.name_of_data();
        let partial = std::mem::take(&mut self.partial);
        if !partial.is_empty() && self.overlong.is_none() {
            let mut ends = MessageEnds::default();
            ends.push(partial.get(name..).unwrap_or_default());
            let is_comment = partial.first() == Some(&b':');
            self.overlong = Some(Overlong { length: partial.len() as u64, is_comment, ends });
        }
        self.block.skip_all();
    }

    /// The maximum size of an event, in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The last retry time the stream has named, whether or not its event was complete.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn next_line(&mut self) -> Option<Line> {
        if self.after_carriage_return && !self.chunk.is_empty() {
            self.after_carriage_return = false;
            if self.chunk.first() == Some(&b'\n') {
                let _ = self.chunk.split_to(1);
            }
        }
        let Some(end) = memchr::memchr2(b'\n', b'\r', &self.chunk) else {
            let rest = std::mem::take(&mut self.chunk);
            self.keep(&rest);
            return None;
        };
        let head = self.chunk.split_to(end);
        self.after_carriage_return = self.chunk.first() == Some(&b'\r');
        let _ = self.chunk.split_to(1);
        Some(self.finish_line(head))
    }

    /// Keeps the beginning of a line, as far as it may become part of an event.
    fn keep(&mut self, part: &[u8]) {
        if let Some(overlong) = &mut self.overlong {
            overlong.length += part.len() as u64;
            overlong.ends.push(part);
        } else if self.partial.len() + part.len() <= self.line_limit() {
            self.partial.put_slice(part);
        } else {
            self.partial.put_slice(part.get(..NAME_LENGTH).unwrap_or(part));
            let name = self.name_of_data();
            let mut ends = MessageEnds::default();
            ends.push(self.partial.get(name..).unwrap_or_default());
            ends.push(part.get(NAME_LENGTH..).unwrap_or_default());
            self.overlong = Some(Overlong {
                length: (self.partial.len() + part.len().saturating_sub(NAME_LENGTH)) as u64,
                is_comment: self.partial.first() == Some(&b':'),
                ends,
            });
            self.partial = BytesMut::new();
        }
    }

    /// A line of data has its name before it, and the first one perhaps a byte order mark.
    fn line_limit(&self) -> usize {
        self.limit.saturating_add(BYTE_ORDER_MARK.len() + b"data: ".len())
    }

    /// How many bytes of the line that begins with `partial` come before its data.
    fn name_of_data(&self) -> usize {
        let mark = if self.at_start && self.partial.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        let line = self.partial.get(mark..).unwrap_or_default();
        let name = [&b"data: "[..], b"data:"].into_iter().find(|name| line.starts_with(name));
        mark + name.map_or(0, <[u8]>::len)
    }

    fn finish_line(&mut self, head: Bytes) -> Line {
        let is_whole = self.partial.is_empty() && self.overlong.is_none();
        let line = if is_whole && head.len() <= self.line_limit() {
            head
        } else {
            self.keep(&head);
            self.partial.split().freeze()
        };
        let at_start = std::mem::take(&mut self.at_start);
        match self.overlong.take() {
            None if at_start && line.starts_with(BYTE_ORDER_MARK) => {
                Line::Text(line.slice(BYTE_ORDER_MARK.len()..))
            }
            None => Line::Text(line),
            // Its content does not matter.
            Some(comment) if comment.is_comment => Line::Text(Bytes::from_static(b":")),
            Some(overlong) => Line::TooLong(overlong),
        }
    }

    fn take_field(&mut self, line: &Bytes) {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (name, rest) = line.split_at(colon);
        let blank = usize::from(rest.get(1) == Some(&b' '));
        let value = line.slice((colon + 1 + blank).min(line.len())..);
        match name {
            b"data" => self.block.add_data(value, self.limit),
            b"event" => self.block.event.event = Some(value).filter(|kind| !kind.is_empty()),
            b"id" if memchr::memchr(0, &value).is_none() => self.block.event.id = Some(value),
            b"retry" => match milliseconds(&value) {
                Some(wait) => {
                    self.retry = Some(wait);
                    self.block.event.retry = Some(wait);
                }
                None => return,
            },
            _ => return,
        }
        self.block.any_field = true;
    }

    fn dispatch(&mut self) -> Option<Decoded> {
        let block = std::mem::take(&mut self.block);
        if let Some(id) = &block.event.id {
            // Kept for the whole stream, so it is copied to avoid keeping a chunk alive.
            self.last_id = Some(Bytes::copy_from_slice(id)).filter(|id| !id.is_empty());
        }
        if let Some(ends) = block.too_long {
            return Some(Decoded::Skipped { length: block.length, ends });
        }
        if !block.any_field {
            return None;
        }
        let data = match block.lines {
            Lines::None => Bytes::new(),
            Lines::One(line) => line,
            Lines::Many(lines) => lines.freeze(),
        };
        Some(Decoded::Event(Event { data, ..block.event }))
    }
}

enum Line {
    Text(Bytes),
    TooLong(Overlong),
}

/// Anything but digits is ignored; a number that overflows becomes the maximum.
fn milliseconds(text: &[u8]) -> Option<Duration> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let count = text
        .iter()
        .fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    Some(Duration::from_millis(count))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(text: &[u8], limit: usize) -> Vec<Decoded> {
        decode_chunks([text], limit)
    }

    fn decode_chunks<'t>(chunks: impl IntoIterator<Item = &'t [u8]>, limit: usize) -> Vec<Decoded> {
        let mut decoder = Decoder::new(limit);
        let mut found = Vec::new();
        for chunk in chunks {
            decoder.push(Bytes::copy_from_slice(chunk));
            found.extend(std::iter::from_fn(|| decoder.next_event()));
        }
        found
    }

    #[track_caller]
    fn data_of(text: &str) -> Vec<String> {
        decode(text.as_bytes(), 1000)
            .into_iter()
            .map(|decoded| match decoded {
                Decoded::Event(event) => String::from_utf8_lossy(&event.data).into_owned(),
                Decoded::Skipped { length, .. } => format!("skipped {length}"),
            })
            .collect()
    }

    #[test]
    fn every_line_break_ends_a_line() {
        assert_eq!(data_of("data: a\n\ndata: b\r\rdata: c\r\n\r\n"), ["a", "b", "c"]);
        assert_eq!(data_of("data: a\rdata: b\r\ndata:  c\n\n"), ["a\nb\n c"]);
    }

    #[test]
    fn comments_unknown_fields_and_blank_lines_are_no_events() {
        assert_eq!(data_of(":\n\n: ping\r\n\n\n\nfoo: bar\n\nretry: soon\n\n"), [""; 0]);
        assert_eq!(data_of(": ping\ndata: a\nfoo\n:\n\n"), ["a"]);
    }

    #[test]
    fn a_byte_order_mark_counts_only_at_the_start() {
        assert_eq!(data_of("\u{feff}data: a\n\n\u{feff}data: b\n\n"), ["a"]);
    }

    #[test]
    fn an_event_can_be_given_up_before_its_end() {
        for beginning in ["data: a\ndata: b\ndata: c", "event: x\n", "data: a"] {
            let mut decoder = Decoder::new(1000);
            decoder.push(Bytes::from_static(beginning.as_bytes()));
            assert_eq!(decoder.next_event(), None);
            assert!(decoder.held() > 0);
            decoder.skip_event();
            assert_eq!(decoder.held(), 0, "{beginning}");
            decoder.push(Bytes::from_static(b"dd\n\ndata: e\n\n"));
            assert!(matches!(decoder.next_event(), Some(Decoded::Skipped { .. })), "{beginning}");
            let next = Event::of(Bytes::from_static(b"e"));
            assert_eq!(decoder.next_event(), Some(Decoded::Event(next)));
        }
        let mut between = Decoder::new(1000);
        between.skip_event();
        between.push(Bytes::from_static(b"data: e\n\n"));
        assert!(matches!(between.next_event(), Some(Decoded::Event(_))), "none was at hand");
    }

    #[test]
    fn a_field_without_colon_is_empty() {
        assert_eq!(data_of("data\n\n"), [""]);
        assert_eq!(data_of("data\ndata\n\n"), ["\n"]);
    }

    #[test]
    fn an_unfinished_event_never_comes_out() {
        assert_eq!(data_of("data: a\n\ndata: b\n"), ["a"]);
    }

    #[test]
    fn a_priming_event_says_where_the_stream_stands() {
        let mut decoder = Decoder::new(100);
        decoder.push(Bytes::from_static(b"id: 7\nretry: 500\ndata:\n\nid: a\0b\n\nid: 8\n"));
        let event = Event {
            id: Some(Bytes::from_static(b"7")),
            retry: Some(Duration::from_millis(500)),
            ..Event::default()
        };
        assert_eq!(decoder.next_event(), Some(Decoded::Event(event)));
        assert_eq!(decoder.next_event(), None);
        assert_eq!(decoder.last_id(), Some(&Bytes::from_static(b"7")));
        decoder.push(Bytes::from_static(b"\n"));
        assert!(decoder.next_event().is_some());
        assert_eq!(decoder.last_id(), Some(&Bytes::from_static(b"8")));
        decoder.push(Bytes::from_static(b"id\n\nretry:2\nretry:x\nretry:-1\n"));
        assert!(decoder.next_event().is_some() && decoder.next_event().is_none());
        assert_eq!(decoder.last_id(), None);
        assert_eq!(decoder.retry(), Some(Duration::from_millis(2)));
    }

    #[test]
    fn a_waiting_time_beyond_all_measure_is_long() {
        let digits = "9".repeat(100);
        let found = decode(format!("retry: {digits}\n\n").as_bytes(), 1000);
        let [Decoded::Event(event)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(event.retry, Some(Duration::from_millis(u64::MAX)));
    }

    #[test]
    fn an_event_beyond_the_limit_is_skipped_up_to_its_end() {
        let good = Decoded::Event(Event::of(Bytes::from_static(b"0123456789")));
        let text = b"data: 0123456789\n\ndata: 0123456789a\n\ndata: 0123456789\n\n";
        let found = decode(text, 10);
        assert_eq!((&found[0], skipped(&found[1]), &found[2]), (&good, (11, "0123456789a"), &good));
        let lines = b"data: 01234\ndata: 56789\ndata: a\n\ndata: 0123456789\n\n";
        let found = decode(lines, 10);
        assert_eq!((skipped(&found[0]), &found[1]), ((11, "01234\n56789\na"), &good));
    }

    /// The length and the beginning of something that was skipped.
    #[track_caller]
    fn skipped(decoded: &Decoded) -> (u64, &str) {
        let Decoded::Skipped { length, ends } = decoded else { panic!("{decoded:?}") };
        (*length, std::str::from_utf8(ends.start()).unwrap().trim())
    }

    #[test]
    fn how_a_skipped_event_begins_and_ends_is_kept() {
        for field in ["data: ", "data:", "\u{feff}data: "] {
            let text = format!("{field}{{\"id\":1,{}}}end\n\n", "x".repeat(9000));
            for size in [1, 7, 100, 20_000] {
                let found = decode_chunks(text.as_bytes().chunks(size), 100);
                let [Decoded::Skipped { ends, .. }] = &found[..] else { panic!("{found:?}") };
                assert!(ends.start().trim_ascii_start().starts_with(b"{\"id\":1,x"), "{field}");
                assert!(ends.end().ends_with(b"x}end"), "{field} {size}");
            }
        }
    }

    #[test]
    fn a_comment_of_any_length_is_ignored() {
        let text = format!("data: a\n:{}\n\n", "x".repeat(5000));
        let chunks = text.as_bytes().chunks(7);
        assert_eq!(
            decode_chunks(chunks, 100),
            [Decoded::Event(Event::of(Bytes::from_static(b"a")))]
        );
    }

    #[test]
    fn little_is_kept_of_a_line_without_end() {
        let mut decoder = Decoder::new(100);
        for _ in 0..10_000 {
            decoder.push(Bytes::from_static(b"data: 0123456789"));
            assert_eq!(decoder.next_event(), None);
            assert!(decoder.partial.len() <= decoder.line_limit());
        }
        decoder.push(Bytes::from_static(b"\n\n"));
        assert_eq!(skipped(&decoder.next_event().unwrap()).0, 160_000);
    }

    #[test]
    fn one_line_of_data_shares_the_chunk() {
        let chunk = Bytes::from(b"data: {}\n\n".to_vec());
        let start = chunk.as_ptr();
        let mut decoder = Decoder::new(100);
        decoder.push(chunk);
        let Some(Decoded::Event(event)) = decoder.next_event() else { panic!("no event") };
        assert_eq!(event.data.as_ptr(), start.wrapping_add(6));
    }

    #[test]
    fn what_cannot_be_written_on_one_line_is_left_out() {
        let mut out = BytesMut::new();
        let event = Event {
            event: Some(Bytes::from_static(b"a\ndata: b")),
            id: Some(Bytes::from_static(b"1\0")),
            ..Event::of(Bytes::from_static(b"x\r\ny\rz"))
        };
        event.encode(&mut out);
        assert_eq!(&out[..], b"data: x\ndata: y\ndata: z\n\n");
    }

    fn stream_text() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\n\n".to_vec()),
            Just(b"data".to_vec()),
            Just(b"data: ".to_vec()),
            Just(b"id: ".to_vec()),
            Just(b"event:".to_vec()),
            Just(b"retry: 12".to_vec()),
            Just(b":".to_vec()),
            Just(BYTE_ORDER_MARK.to_vec()),
            proptest::collection::vec(any::<u8>(), 0..30),
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    fn event() -> impl Strategy<Value = Event> {
        (
            proptest::option::of("[^\n\r\0]{1,8}"),
            "[^\r]{0,40}",
            proptest::option::of("[^\n\r\0]{0,8}"),
            proptest::option::of(0u64..100_000),
        )
            .prop_map(|(event, data, id, retry)| Event {
                event: event.map(Bytes::from),
                data: Bytes::from(data),
                id: id.map(Bytes::from),
                retry: retry.map(Duration::from_millis),
            })
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            text in stream_text(),
            limit in 0usize..60,
            sizes in proptest::collection::vec(1usize..20, 1..50),
        ) {
            let mut rest = &text[..];
            let mut chunks = Vec::new();
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, tail) = rest.split_at((*size).min(rest.len()));
                chunks.push(chunk);
                rest = tail;
            }
            prop_assert_eq!(decode_chunks(chunks, limit), decode(&text, limit));
        }

        #[test]
        fn what_is_encoded_comes_back(events in proptest::collection::vec(event(), 0..5)) {
            let mut text = BytesMut::new();
            for event in &events {
                event.encode(&mut text);
            }
            let events: Vec<_> = events.into_iter().map(Decoded::Event).collect();
            prop_assert_eq!(decode(&text, 1000), events);
        }
    }
}
