use bytes::{BufMut as _, Bytes, BytesMut};
use mcp_core::MessageEnds;

use super::Event;

/// The lines since the last blank one.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) event: Event,
    pub(super) lines: Lines,
    pub(super) any_field: bool,
    pub(super) length: u64,
    /// How the data begins and ends, if it is too long.
    pub(super) too_long: Option<MessageEnds>,
}

#[derive(Debug, Default)]
pub(super) enum Lines {
    #[default]
    None,
    One(Bytes),
    Many(BytesMut),
}

impl Block {
    pub(super) fn add_data(&mut self, line: Bytes, limit: usize) {
        let joint = u64::from(!matches!(self.lines, Lines::None));
        let length = self.length + joint + line.len() as u64;
        if self.too_long.is_some() || length > limit as u64 {
            return self.skip(line.len() as u64, &[&line]);
        }
        self.length += joint + line.len() as u64;
        self.lines = match std::mem::take(&mut self.lines) {
            Lines::None => Lines::One(line),
            Lines::One(first) => {
                let mut lines = BytesMut::with_capacity(first.len() + line.len() + 1);
                lines.put_slice(&first);
                lines.put_u8(b'\n');
                lines.put_slice(&line);
                Lines::Many(lines)
            }
            Lines::Many(mut lines) => {
                lines.put_u8(b'\n');
                lines.put_slice(&line);
                Lines::Many(lines)
            }
        };
    }

    /// How many bytes it keeps.
    pub(super) fn held(&self) -> usize {
        let lines = match &self.lines {
            Lines::None => 0,
            Lines::One(line) => line.len(),
            Lines::Many(lines) => lines.len(),
        };
        let [event, id] = [&self.event.event, &self.event.id].map(|field| field.as_ref());
        lines + event.map_or(0, Bytes::len) + id.map_or(0, Bytes::len)
    }

    /// Discards the lines so far, if they are the beginning of an event.
    pub(super) fn skip_all(&mut self) {
        if self.any_field {
            self.skip(0, &[]);
            (self.event.event, self.event.id) = (None, None);
        }
    }

    /// Discards a line of this many bytes and those before it, except for their beginning and end.
    pub(super) fn skip(&mut self, length: u64, line: &[&[u8]]) {
        self.length += length;
        let ends = self.too_long.get_or_insert_default();
        match std::mem::take(&mut self.lines) {
            Lines::None => {}
            Lines::One(before) => ends.push(&before),
            Lines::Many(before) => ends.push(&before),
        }
        ends.push(b"\n");
        for part in line {
            ends.push(part);
        }
    }
}
