//! Cuts a byte stream into chunks of whole lines.

use std::io::{self, Read};

use memchr::{memchr, memrchr};

/// How much is read at once. Small enough that text and tape of a chunk stay in the cache.
const READ: usize = 256 * 1024;

/// Whole lines, to be worked on at once. Its buffer is used again for the next chunk.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// Position in the stream, from 0.
    pub(super) index: u64,
    /// Where it begins in the stream, in bytes.
    pub(super) offset: u64,
    /// The text; every line but the last of the stream ends with a line break.
    pub(super) bytes: Vec<u8>,
    /// Whether a line too long to be kept stands here instead of text.
    pub(super) too_long: bool,
    /// Whether the stream is known to end with it.
    pub(super) is_last: bool,
}

/// How a stream gives what it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Supply {
    /// It is all there.
    Whole,
    /// It comes bit by bit, and each is to be judged as it comes.
    Gradual,
}

/// Reads a stream chunk by chunk. A line longer than the limit is skipped, not kept.
#[derive(Debug)]
pub(super) struct Chunks<R> {
    source: R,
    /// The beginning of a line whose end has not been read yet.
    carry: Vec<u8>,
    /// Bytes read so far.
    read: u64,
    max_line: usize,
    supply: Supply,
    next_index: u64,
    ended: bool,
}

impl<R: Read> Chunks<R> {
    pub(super) fn new(source: R, supply: Supply, max_line: usize) -> Chunks<R> {
        Chunks { source, carry: Vec::new(), read: 0, max_line, supply, next_index: 0, ended: false }
    }

    /// Fills `chunk` with the next lines; `false` at the end of the stream.
    pub(super) fn next(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        chunk.bytes.clear();
        chunk.offset = self.read - self.carry.len() as u64;
        chunk.bytes.append(&mut self.carry);
        chunk.too_long = false;
        chunk.index = self.next_index;
        while !self.ended {
            let before = chunk.bytes.len();
            self.ended = self.read_more(&mut chunk.bytes)?;
            if let Some(last) = memrchr(b'\n', &chunk.bytes[before..]) {
                let end = before + last + 1;
                self.carry.extend_from_slice(&chunk.bytes[end..]);
                chunk.bytes.truncate(end);
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

    /// Appends what one read gives; `true` at the end of the stream.
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

    /// Gives at most `step` bytes per read.
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
    fn a_line_beyond_the_limit_is_skipped_and_the_rest_is_read() {
        let text = format!("a\n{}\nb\n", "x".repeat(5000));
        for step in [1, 7, 100] {
            assert_eq!(lines(&text, step, 200), ["a\n", "(too long)", "b\n"], "{step}");
        }
        assert_eq!(lines(&"x".repeat(5000), 100, 200), ["(too long)"]);
    }
}
