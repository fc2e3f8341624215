//! Splits a byte stream into chunks of whole lines.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

/// Bytes per read. Small enough that a chunk's text and tape stay in the cache.
const READ: usize = 256 * 1024;
/// Most lines of a chunk: each may have findings, which take far more memory than a short line.
const MAX_LINES: usize = 8 * 1024;

/// Whole lines, processed together. The buffer is reused for the next chunk.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// Position in the stream, from 0.
    pub(super) index: u64,
    /// Byte offset in the stream.
    pub(super) offset: u64,
    /// The text; every line except possibly the last of the stream ends with a line break.
    pub(super) bytes: Vec<u8>,
    /// Whether this is a line too long to be kept, instead of text.
    pub(super) too_long: bool,
    /// Whether the stream is known to end with it.
    pub(super) is_last: bool,
}

/// How a stream delivers its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Supply {
    /// All data is available.
    Whole,
    /// Data arrives gradually, and is checked as it arrives.
    Gradual,
}

/// Reads a stream chunk by chunk. A line longer than the limit is skipped, not kept.
#[derive(Debug)]
pub(super) struct Chunks<R> {
    source: R,
    /// What was read beyond the last chunk: the beginning of a line, and whole lines before it if
    /// there were too many.
    carry: Vec<u8>,
    carries_lines: bool,
    /// Bytes read so far.
    read: u64,
    max_line: usize,
    supply: Supply,
    next_index: u64,
    ended: bool,
}

impl<R: Read> Chunks<R> {
    pub(super) fn new(source: R, supply: Supply, max_line: usize) -> Chunks<R> {
        Chunks {
            source,
            carry: Vec::new(),
            carries_lines: false,
            read: 0,
            max_line,
            supply,
            next_index: 0,
            ended: false,
        }
    }

    /// Fills `chunk` with the next lines; `false` at the end of the stream.
    pub(super) fn next(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        chunk.bytes.clear();
        chunk.offset = self.read - self.carry.len() as u64;
        chunk.bytes.append(&mut self.carry);
        chunk.too_long = false;
        chunk.index = self.next_index;
        let has_lines = self.carries_lines && self.cut(&mut chunk.bytes, 0);
        while !self.ended && !has_lines {
            let before = chunk.bytes.len();
            self.ended = self.read_more(&mut chunk.bytes)?;
            if self.cut(&mut chunk.bytes, before) {
                break;
            }
            if chunk.bytes.len() > self.max_line {
                chunk.bytes.clear();
                chunk.bytes.shrink_to(READ);
                chunk.too_long = true;
                self.skip_line()?;
                break;
            }
        }
        let found = chunk.too_long || !chunk.bytes.is_empty();
        chunk.is_last = self.ended && self.carry.is_empty();
        self.next_index += u64::from(found);
        Ok(found)
    }

    /// Carries everything after the last line break of `bytes`, or after the last line that a chunk
    /// may have. Returns `false` if there is no line break from `start` on.
    fn cut(&mut self, bytes: &mut Vec<u8>, start: usize) -> bool {
        let Some(last) = memrchr(b'\n', &bytes[start..]) else {
            return false;
        };
        let end = start + last;
        let limit = memchr_iter(b'\n', &bytes[..end]).nth(MAX_LINES - 1);
        self.carries_lines = limit.is_some();
        let end = limit.unwrap_or(end) + 1;
        self.carry.extend_from_slice(&bytes[end..]);
        bytes.truncate(end);
        true
    }

    /// Appends the result of one read; returns `true` at the end of the stream.
    fn read_more(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        if self.supply == Supply::Whole {
            buffer.reserve(READ);
            let length = self.source.by_ref().take(READ as u64).read_to_end(buffer)?;
            self.read += length as u64;
            return Ok(length < READ);
        }
        let filled = buffer.len();
        buffer.resize(filled + READ, 0);
        let outcome = loop {
            match self.source.read(&mut buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => break outcome,
            }
        };
        let length = *outcome.as_ref().unwrap_or(&0);
        buffer.truncate(filled + length);
        self.read += length as u64;
        outcome.map(|length| length == 0)
    }

    /// Drops everything up to and including the next line break.
    fn skip_line(&mut self) -> io::Result<()> {
        let mut buffer = Vec::new();
        while !self.ended {
            buffer.clear();
            self.ended = self.read_more(&mut buffer)?;
            if let Some(end) = memchr(b'\n', &buffer) {
                self.carry.extend_from_slice(&buffer[end + 1..]);
                return Ok(());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns at most `step` bytes per read.
    struct Slow<'a> {
        rest: &'a [u8],
        step: usize,
    }

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.step.min(self.rest.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.rest[..length]);
            self.rest = &self.rest[length..];
            Ok(length)
        }
    }

    fn lines(text: &str, step: usize, max_line: usize) -> Vec<String> {
        let gradual = lines_of(text, step, Supply::Gradual, max_line);
        if text.len() <= max_line {
            assert_eq!(lines_of(text, step, Supply::Whole, max_line), gradual);
        }
        gradual
    }

    fn lines_of(text: &str, step: usize, supply: Supply, max_line: usize) -> Vec<String> {
        let mut chunks = Chunks::new(Slow { rest: text.as_bytes(), step }, supply, max_line);
        let mut chunk = Chunk::default();
        let mut lines = Vec::new();
        let mut expected_index = 0;
        while chunks.next(&mut chunk).unwrap() {
            assert_eq!(chunk.index, expected_index);
            expected_index += 1;
            let begin = &text[usize::try_from(chunk.offset).unwrap()..];
            assert!(begin.as_bytes().starts_with(&chunk.bytes), "{}", chunk.offset);
            assert!(chunk.offset == 0 || text[..text.len() - begin.len()].ends_with('\n'));
            if chunk.too_long {
                lines.push("(too long)".into());
            }
            let text = String::from_utf8(chunk.bytes.clone()).unwrap();
            lines.extend(text.split_inclusive('\n').map(str::to_owned));
        }
        lines
    }

    #[test]
    fn any_way_of_reading_gives_the_same_lines() {
        let text = "one\n\ntwo two\nthree";
        for step in 1..=text.len() {
            assert_eq!(lines(text, step, 1000), ["one\n", "\n", "two two\n", "three"]);
        }
        assert!(lines("", 1, 10).is_empty());
    }

    #[test]
    fn what_is_all_there_is_read_in_large_pieces() {
        let text = format!("a\n{}\nb\n{}\n", "x".repeat(READ), "y".repeat(2 * READ));
        let expected = lines_of(&text, 100_000, Supply::Gradual, 3 * READ);
        assert_eq!(lines_of(&text, 100_000, Supply::Whole, 3 * READ), expected);
        assert_eq!(expected.len(), 4);
        let skipped = lines_of(&text, 100_000, Supply::Whole, READ + READ / 2);
        assert_eq!((skipped.len(), &*skipped[3]), (4, "(too long)"));
    }

    #[test]
    fn a_chunk_has_so_many_lines_at_most() {
        // The last is more than is read at once.
        for count in [MAX_LINES - 1, MAX_LINES, MAX_LINES + 1, READ + 3] {
            for end in ["", "last"] {
                let text = "{\n".repeat(count) + end;
                let whole = lines_of(&text, READ, Supply::Whole, 1000);
                assert_eq!(whole.len(), count + usize::from(!end.is_empty()));
                assert_eq!(lines_of(&text, 1000, Supply::Gradual, 1000), whole);
            }
        }
        let text = "{\n".repeat(3 * MAX_LINES);
        let mut chunks = Chunks::new(text.as_bytes(), Supply::Whole, 1000);
        let mut chunk = Chunk::default();
        while chunks.next(&mut chunk).unwrap() {
            assert_eq!(chunk.bytes.len(), 2 * MAX_LINES);
        }
        assert_eq!(chunks.next_index, 3);
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_and_the_rest_is_read() {
        let text = format!("a\n{}\nb\n", "x".repeat(5000));
        for step in [1, 7, 100] {
            assert_eq!(lines(&text, step, 200), ["a\n", "(too long)", "b\n"], "{step}");
        }
        assert_eq!(lines(&"x".repeat(5000), 100, 200), ["(too long)"]);
    }
}
