//! Reads single lines of a file again: a finding may refer to an earlier line.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

/// Maximum bytes of a line that are read again.
const LINE: usize = 1024 * 1024;
/// Maximum bytes to skip from a known position to the line.
const REACH: u64 = 64 * 1024 * 1024;
/// Maximum number of marks. When it is exceeded, every other mark is dropped, so that memory does
/// not grow with the file.
const MARKS: usize = 32 * 1024;

/// Positions of lines in one file.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    /// Opened when first needed.
    reader: Option<BufReader<File>>,
    /// In file order.
    marks: Vec<Mark>,
    /// One in this many given positions is kept.
    stride: u64,
    given: u64,
}

/// The position of a line.
#[derive(Debug, Clone, Copy)]
struct Mark {
    line: u64,
    offset: u64,
}

impl Lines {
    /// `None` if the input cannot be read again, such as a pipe.
    pub(super) fn of(path: &Path, file: &File) -> Option<Lines> {
        let is_regular = file.metadata().is_ok_and(|found| found.is_file());
        is_regular.then(|| Lines {
            path: path.to_owned(),
            reader: None,
            marks: Vec::new(),
            stride: 1,
            given: 0,
        })
    }

    /// Records the offset of a line; lines must come in order.
    pub(super) fn mark(&mut self, line: u64, offset: u64) {
        if self.given.is_multiple_of(self.stride) {
            if self.marks.len() == MARKS {
                let mut position = 0_usize;
                self.marks.retain(|_| {
                    position += 1;
                    position % 2 == 1
                });
                self.stride *= 2;
            }
            if self.given.is_multiple_of(self.stride) {
                self.marks.push(Mark { line, offset });
            }
        }
        self.given += 1;
    }

    /// The text of a line, or the beginning of a long one. `None` if it cannot be read, which is
    /// not worth failing for.
    pub(super) fn read(&mut self, line: u64) -> Option<Vec<u8>> {
        let after = self.marks.partition_point(|mark| mark.line <= line);
        let mark = *self.marks.get(after.checked_sub(1)?)?;
        let reader = match &mut self.reader {
            Some(reader) => reader,
            None => self.reader.insert(BufReader::new(File::open(&self.path).ok()?)),
        };
        reader.seek(SeekFrom::Start(mark.offset)).ok()?;
        skip_lines(reader, line - mark.line).ok().filter(|found| *found)?;
        let mut text = Vec::new();
        let length = reader.take(LINE as u64).read_until(b'\n', &mut text).ok()?;
        if text.last() == Some(&b'\n') {
            text.pop();
        }
        (length > 0).then_some(text)
    }
}

/// Skips `count` line breaks; returns `false` if they are too far away or do not exist.
fn skip_lines(reader: &mut BufReader<File>, mut count: u64) -> io::Result<bool> {
    let mut passed = 0;
    while count > 0 {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() || passed > REACH {
            return Ok(false);
        }
        let length = match memchr::memchr(b'\n', buffer) {
            Some(end) => {
                count -= 1;
                end + 1
            }
            None => buffer.len(),
        };
        reader.consume(length);
        passed += length as u64;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn lines(folder: &tempfile::TempDir, text: &[u8]) -> Lines {
        let path = folder.path().join("t.jsonl");
        fs::write(&path, text).unwrap();
        Lines::of(&path, &File::open(&path).unwrap()).unwrap()
    }

    #[test]
    fn lines_are_found_from_the_place_before_them() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = lines(&folder, b"one\ntwo\n\nfour\nfive");
        assert_eq!(lines.read(1), None, "nothing is known yet");
        lines.mark(1, 0);
        lines.mark(3, 8);
        let texts: Vec<_> = (1..=6).map(|line| lines.read(line)).collect();
        let expected = [Some("one"), Some("two"), Some(""), Some("four"), Some("five"), None];
        assert_eq!(texts, expected.map(|text| text.map(Vec::from)));
        assert_eq!(lines.read(0), None);
    }

    #[test]
    fn of_a_long_line_the_beginning_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = lines(&folder, &vec![b'x'; LINE + 7]);
        lines.mark(1, 0);
        assert_eq!(lines.read(1).unwrap().len(), LINE);
    }

    #[test]
    fn memory_does_not_grow_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let count = 5 * MARKS as u64 + 3;
        let text: Vec<String> = (1..=count).map(|line| format!("{line:07}")).collect();
        let mut lines = lines(&folder, text.join("\n").as_bytes());
        for line in 1..=count {
            lines.mark(line, (line - 1) * 8);
        }
        assert!(lines.marks.len() <= MARKS);
        for line in [1, 2, 17, 4096, 4097, count - 1, count] {
            assert_eq!(lines.read(line).unwrap(), format!("{line:07}").into_bytes());
        }
    }

    #[test]
    fn a_file_that_is_gone_does_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = lines(&folder, b"one\ntwo\n");
        lines.mark(1, 0);
        lines.mark(2, 400);
        assert_eq!(lines.read(2), None, "shorter than it was");
        lines.reader = None;
        fs::remove_file(&lines.path).unwrap();
        assert_eq!(lines.read(1), None);
        assert!(Lines::of(Path::new("."), &File::open(".").unwrap()).is_none());
    }
}
