use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

/// The fields between two blank lines, without comments.
///
/// Values are the raw bytes: nothing here requires them to be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the format")]
pub struct Event {
    /// Its type; absent means `message`.
    pub event: Option<Bytes>,
    /// Its lines, joined by line feeds. Empty in an event that only carries an id.
    pub data: Bytes,
    /// The id to resume from; an empty one clears earlier ones.
    pub id: Option<Bytes>,
    /// How long to wait before reconnecting.
    pub retry: Option<Duration>,
}

impl Event {
    /// An event with `data` only.
    pub fn of(data: Bytes) -> Event {
        Event { data, ..Event::default() }
    }

    /// Appends the encoded event to `out`, with the blank line that ends it.
    ///
    /// Any line break in the data starts a new line, so a carriage return comes back as a line
    /// feed. An `event` or `id` that cannot be written (with a line break or NUL in it) is left
    /// out.
    pub fn encode(&self, out: &mut BytesMut) {
        out.reserve(self.data.len() + 32);
        if let Some(event) = self.event.as_deref().filter(|text| is_one_line(text)) {
            put_field(out, b"event: ", event);
        }
        if let Some(id) = self.id.as_deref().filter(|text| is_one_line(text)) {
            put_field(out, b"id: ", id);
        }
        if let Some(retry) = self.retry {
            put_field(out, b"retry: ", retry.as_millis().to_string().as_bytes());
        }
        let mut rest: &[u8] = &self.data;
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let (line, tail) = rest.split_at(end);
            put_field(out, b"data: ", line);
            rest = tail.strip_prefix(b"\r\n").unwrap_or_else(|| tail.get(1..).unwrap_or_default());
        }
        put_field(out, b"data: ", rest);
        out.put_u8(b'\n');
    }
}

fn is_one_line(text: &[u8]) -> bool {
    memchr::memchr3(b'\n', b'\r', 0, text).is_none()
}

fn put_field(out: &mut BytesMut, name: &[u8], value: &[u8]) {
    out.put_slice(name);
    out.put_slice(value);
    out.put_u8(b'\n');
}
