//! Splits a stream into lines, in bounded memory. A stream that has ended may continue later.

use std::io::{self, Read};

use memchr::memchr;

/// The maximum length of a line in bytes, as for `plumb check` with the default limits: a record
/// wraps a message of 16 MiB, and escaping may double its bytes.
pub const MAX_LINE: usize = 2 * 16 * 1024 * 1024 + 64 * 1024;

/// Bytes per read.
const READ: usize = 64 * 1024;

/// What [`LineStream::next`] has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "nothing else can be read")]
pub enum Piece {
    /// A line, with its line break if there is one.
    Line,
    /// The beginning of a line that is too long.
    LongStart,
    /// More of such a line; its last piece ends with the line break.
    LongRest,
}

/// The lines of a stream.
#[derive(Debug)]
pub struct LineStream<R> {
    source: R,
    /// Bytes that were read; those before `start` have been handed out.
    buffer: Vec<u8>,
    start: usize,
    /// Everything from `start` up to here is known to have no line break.
    searched: usize,
    max_line: usize,
    is_in_long: bool,
}

impl<R: Read> LineStream<R> {
    /// Creates a stream of lines; those longer than `max_line` bytes are returned in pieces.
    pub fn new(source: R, max_line: usize) -> LineStream<R> {
        LineStream {
            source,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            max_line,
            is_in_long: false,
        }
    }

    /// Puts the next piece into `out`. `None` at the end of the source; an incomplete line is kept,
    /// and the next call continues if there is more by then.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Option<Piece>> {
        loop {
            if let Some(end) = memchr(b'\n', &self.buffer[self.searched..]) {
                let end = self.searched + end + 1;
                return Ok(Some(self.hand_out(end, out)));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() - self.start > self.max_line {
                let piece = if self.is_in_long { Piece::LongRest } else { Piece::LongStart };
                self.hand_out(self.buffer.len(), out);
                self.is_in_long = true;
                return Ok(Some(piece));
            }
            if self.read()? == 0 {
                return Ok(None);
            }
        }
    }

    /// The last line, if it has no line break. Call it only when the source cannot grow any more.
    pub fn rest(&mut self, out: &mut Vec<u8>) -> Option<Piece> {
        (self.start < self.buffer.len()).then(|| self.hand_out(self.buffer.len(), out))
    }

    /// The source.
    pub fn source(&self) -> &R {
        &self.source
    }

    /// Returns the source.
    pub fn into_source(self) -> R {
        self.source
    }

    fn hand_out(&mut self, end: usize, out: &mut Vec<u8>) -> Piece {
        out.clear();
        out.extend_from_slice(&self.buffer[self.start..end]);
        (self.start, self.searched) = (end, end);
        if std::mem::take(&mut self.is_in_long) { Piece::LongRest } else { Piece::Line }
    }

    fn read(&mut self) -> io::Result<usize> {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        let filled = self.buffer.len();
        if filled == 0 {
            self.buffer.shrink_to(READ);
        }
        self.buffer.resize(filled + READ, 0);
        let read = loop {
            match self.source.read(&mut self.buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(filled + *read.as_ref().unwrap_or(&0));
        read
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Gives one part per read, and nothing in between.
    struct Parts(VecDeque<&'static str>);

    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(part) = self.0.pop_front() else { return Ok(0) };
            buffer[..part.len()].copy_from_slice(part.as_bytes());
            Ok(part.len())
        }
    }

    #[test]
    fn a_line_that_grows_is_one_line() {
        let parts = ["one\ntw", "", "o\n\nthr", "", "ee"];
        let mut lines = LineStream::new(Parts(parts.into()), 100);
        let mut line = Vec::new();
        let mut seen = Vec::new();
        for _ in 0..10 {
            if lines.next(&mut line).unwrap() == Some(Piece::Line) {
                seen.push(String::from_utf8(line.clone()).unwrap());
            }
        }
        assert_eq!(seen, ["one\n", "two\n", "\n"]);
        assert_eq!(lines.rest(&mut line), Some(Piece::Line));
        assert_eq!(line, b"three");
        assert_eq!(lines.rest(&mut line), None);
    }

    #[test]
    fn a_long_line_comes_in_pieces_and_is_never_kept_whole() {
        let text = format!("a\n{}\nb\n{}", "x".repeat(300_000), "y".repeat(300_000));
        let mut lines = LineStream::new(text.as_bytes(), 100);
        let mut line = Vec::new();
        let mut whole = Vec::new();
        let mut pieces = Vec::new();
        while let Some(piece) = lines.next(&mut line).unwrap() {
            assert!(line.len() <= 100 + READ + 1);
            whole.extend_from_slice(&line);
            pieces.push(piece);
        }
        if let Some(piece) = lines.rest(&mut line) {
            whole.extend_from_slice(&line);
            pieces.push(piece);
        }
        assert_eq!(whole, text.as_bytes());
        assert_eq!(pieces[..3], [Piece::Line, Piece::LongStart, Piece::LongRest]);
        let starts = pieces.iter().filter(|piece| **piece == Piece::LongStart).count();
        let lines = pieces.iter().filter(|piece| **piece == Piece::Line).count();
        assert_eq!((starts, lines), (2, 2));
    }

    #[test]
    fn a_line_at_the_limit_is_kept() {
        let text = format!("{}\n", "x".repeat(100));
        let mut lines = LineStream::new(text.as_bytes(), 100);
        assert_eq!(lines.next(&mut Vec::new()).unwrap(), Some(Piece::Line));
    }
}
