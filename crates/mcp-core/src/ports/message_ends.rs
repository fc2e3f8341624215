/// The beginning and the end of a message that exceeded the size limit: usually enough to find its
/// id and method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageEnds {
    start: Vec<u8>,
    end: Vec<u8>,
}

impl MessageEnds {
    /// The maximum number of bytes kept at either end.
    pub const MAX_LEN: usize = 1024;

    /// The ends of a text that is complete in memory.
    pub fn of(text: &[u8]) -> MessageEnds {
        let mut ends = MessageEnds::default();
        ends.push(text);
        ends
    }

    /// Adds the next part of the text. The cost is linear in the length of the part.
    pub fn push(&mut self, part: &[u8]) {
        let room = MessageEnds::MAX_LEN.saturating_sub(self.start.len()).min(part.len());
        self.start.extend_from_slice(part.get(..room).unwrap_or_default());
        let last = part.len().saturating_sub(MessageEnds::MAX_LEN);
        self.end.extend_from_slice(part.get(last..).unwrap_or_default());
        // Not for every part: moving bytes for each of many short parts would add up.
        if self.end.len() > 2 * MessageEnds::MAX_LEN {
            self.end.drain(..self.end.len() - MessageEnds::MAX_LEN);
        }
    }

    /// The first bytes.
    pub fn start(&self) -> &[u8] {
        &self.start
    }

    /// The last bytes. In a short text they overlap the first.
    pub fn end(&self) -> &[u8] {
        let excess = self.end.len().saturating_sub(MessageEnds::MAX_LEN);
        self.end.get(excess..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_do_not_depend_on_how_the_text_is_split() {
        let text: Vec<u8> = (0..5000_u32).map(|n| (n % 251) as u8).collect();
        let whole = MessageEnds::of(&text);
        assert_eq!(whole.start(), &text[..MessageEnds::MAX_LEN]);
        assert_eq!(whole.end(), &text[text.len() - MessageEnds::MAX_LEN..]);
        for size in [1, 7, 1000, 1024, 1025, 3000] {
            let mut ends = MessageEnds::default();
            text.chunks(size).for_each(|part| ends.push(part));
            assert_eq!((ends.start(), ends.end()), (whole.start(), whole.end()), "{size}");
        }
    }

    #[test]
    fn a_short_text_is_kept_whole_at_both_edges() {
        let ends = MessageEnds::of(b"short");
        assert_eq!((ends.start(), ends.end()), (&b"short"[..], &b"short"[..]));
    }
}
