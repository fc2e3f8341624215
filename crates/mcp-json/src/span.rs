//! Positions in the input: byte ranges for programs, lines and columns for people.

use std::ops::Range;

/// A byte range of the input, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes of `input` that the span covers, truncated to the input.
    pub fn slice(self, input: &[u8]) -> &[u8] {
        let end = self.end.min(input.len());
        &input[self.start.min(end)..end]
    }
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.start..span.end
    }
}

/// A position as an editor shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Counted from 1; lines end at a line feed.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
}

impl Position {
    /// The position of a byte offset. Offsets past the end count as the end.
    pub fn of(offset: usize, input: &[u8]) -> Position {
        let before = &input[..offset.min(input.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // A character is counted at its first byte: continuation bytes are 0b10xx_xxxx.
        let is_first = |byte: &&u8| **byte & 0xC0 != 0x80;
        Position {
            line: before.split(|byte| *byte == b'\n').count(),
            column: 1 + before[line_start..].iter().filter(is_first).count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Position, Span};

    #[track_caller]
    fn check(input: &str, offset: usize, line: usize, column: usize) {
        assert_eq!(Position::of(offset, input.as_bytes()), Position { line, column });
    }

    #[test]
    fn positions_count_lines_and_characters() {
        check("", 0, 1, 1);
        check("abc", 2, 1, 3);
        check("a\nbc", 1, 1, 2);
        check("a\nbc", 2, 2, 1);
        check("a\r\nbc", 4, 2, 2);
        check("äö\nü!", 4, 1, 3);
        check("äö\nü!", 7, 2, 2);
        check("abc", 99, 1, 4);
    }

    #[test]
    fn a_span_never_reaches_past_the_input() {
        assert_eq!(Span { start: 1, end: 3 }.slice(b"abcd"), b"bc");
        assert_eq!(Span { start: 3, end: 9 }.slice(b"abcd"), b"d");
        assert_eq!(Span { start: 7, end: 9 }.slice(b"abcd"), b"");
    }
}
