use mcp_core::MessageEnds;
use memchr::memchr;

/// A line, or the length of one that was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// The text without the line break.
    Whole(&'a [u8]),
    /// The line was too long to be kept.
    TooLong { length: u64, ends: &'a MessageEnds },
}

/// Splits chunks of bytes into lines. Keeps at most one line.
#[derive(Debug)]
pub(crate) struct Splitter {
    limit: usize,
    partial: Vec<u8>,
    /// The length and both ends of the current line, if it is too long to be kept.
    overlong: Option<(u64, MessageEnds)>,
}

/// A buffer larger than this is freed after its line.
const KEPT_BUFFER: usize = 64 << 10;

impl Splitter {
    pub(crate) fn new(limit: usize) -> Splitter {
        Splitter { limit, partial: Vec::new(), overlong: None }
    }

    /// Takes more bytes, and passes on the lines that they complete.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut line: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.partial.is_empty() && self.overlong.is_none() && head.len() <= self.limit {
                line(Line::Whole(head));
                continue;
            }
            self.keep(head);
            self.take(&mut line);
        }
        self.keep(bytes);
    }

    /// Ends the stream, and passes on the rest without a line break, if any.
    pub(crate) fn finish(&mut self, mut line: impl FnMut(Line<'_>)) {
        if !self.partial.is_empty() || self.overlong.is_some() {
            self.take(&mut line);
        }
    }

    fn take(&mut self, line: &mut impl FnMut(Line<'_>)) {
        match self.overlong.take() {
            Some((length, ends)) => line(Line::TooLong { length, ends: &ends }),
            None => line(Line::Whole(&self.partial)),
        }
        self.partial.clear();
        self.partial.shrink_to(KEPT_BUFFER);
    }

    fn keep(&mut self, part: &[u8]) {
        if let Some((length, ends)) = &mut self.overlong {
            *length += part.len() as u64;
            ends.push(part);
        } else if self.partial.len() + part.len() <= self.limit {
            self.partial.extend_from_slice(part);
        } else {
            let mut ends = MessageEnds::of(&self.partial);
            ends.push(part);
            self.overlong = Some(((self.partial.len() + part.len()) as u64, ends));
            self.partial = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(limit: usize, pieces: &[&[u8]]) -> Vec<String> {
        let mut splitter = Splitter::new(limit);
        let mut found = Vec::new();
        let mut show = |line: Line<'_>| {
            found.push(match line {
                Line::Whole(text) => String::from_utf8_lossy(text).into_owned(),
                Line::TooLong { length, .. } => format!("<{length}>"),
            });
        };
        for piece in pieces {
            splitter.push(piece, &mut show);
        }
        splitter.finish(show);
        found
    }

    #[test]
    fn lines_end_with_a_line_break_or_the_stream() {
        assert_eq!(split(9, &[b"a\nb\r\n\nc"]), ["a", "b\r", "", "c"]);
        assert_eq!(split(9, &[b"a\n"]), ["a"]);
        assert_eq!(split(9, &[]), [""; 0]);
    }

    #[test]
    fn a_line_over_the_limit_is_only_measured() {
        assert_eq!(split(3, &[b"abc\nabcd\nabc"]), ["abc", "<4>", "abc"]);
        assert_eq!(split(3, &[b"ab", b"cd", b"e\nx\n", b"abcd"]), ["<5>", "x", "<4>"]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[ab\r\n]{0,40}", cuts in prop::collection::vec(0_usize..40, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut start = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                pieces.push(&text.as_bytes()[start..cut]);
                start = cut;
            }
            prop_assert_eq!(split(5, &pieces), split(5, &[text.as_bytes()]));
        }
    }
}
