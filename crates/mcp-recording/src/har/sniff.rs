//! Distinguishes a HAR capture from other JSON by its first bytes.

use std::io::{self, Cursor, Read};

/// How many bytes to read at most; enough for the beginning of any capture.
const LONGEST: usize = 4096;

/// The format of an input, as far as its first bytes show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guess {
    Capture,
    Other,
    /// More bytes are needed to tell.
    Undecided,
}

/// Tells whether `source` is a capture, reading no more than needed. Also returns a reader over
/// all of `source`, including the bytes already read.
///
/// # Errors
///
/// If it cannot be read.
pub fn sniff<R: Read>(mut source: R) -> io::Result<(bool, impl Read + use<R>)> {
    let mut start = Vec::new();
    let mut verdict = Guess::Undecided;
    while verdict == Guess::Undecided && start.len() < LONGEST {
        let mut buffer = [0; 512];
        let length = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        start.extend_from_slice(&buffer[..length]);
        verdict = judge(&start);
    }
    Ok((verdict == Guess::Capture, Cursor::new(start).chain(source)))
}

/// Looks for `{"log":{`, with white space anywhere and perhaps a byte order mark before it.
fn judge(start: &[u8]) -> Guess {
    let mut rest = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    for expected in [&b"{"[..], b"\"log\"", b":", b"{"] {
        rest = rest.trim_ascii_start();
        match rest.strip_prefix(expected) {
            Some(after) => rest = after,
            None if expected.starts_with(rest) || b"\xEF\xBB\xBF".starts_with(start) => {
                return Guess::Undecided;
            }
            None => return Guess::Other,
        }
    }
    Guess::Capture
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte per read.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.len().min(1);
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[track_caller]
    fn check(text: &str, expected: bool) {
        for slow in [false, true] {
            let source: Box<dyn Read> =
                if slow { Box::new(Slow(text.as_bytes())) } else { Box::new(text.as_bytes()) };
            let (found, mut source) = sniff(source).unwrap();
            assert_eq!(found, expected, "{text}");
            let mut all = String::new();
            source.read_to_string(&mut all).unwrap();
            assert_eq!(all, text, "nothing is lost");
        }
    }

    #[test]
    fn captures_are_recognised_by_their_beginning() {
        check("{\"log\":{\"version\":\"1.2\"}}", true);
        check("\u{feff} {\r\n  \"log\" : {", true);
        check("{\"log\":", false);
        check("{\"log\":[]}", false);
        check("{\"logs\":{}}", false);
        check("{\"from\":\"client\"}\n", false);
        check("", false);
        check("\u{feff}", false);
        check(&" ".repeat(LONGEST + 100), false);
    }
}
