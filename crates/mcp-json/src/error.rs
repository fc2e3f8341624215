//! Why a text is not JSON.

use crate::expected::{Expected, Found, NumberFault};
use crate::span::Position;

/// The first position at which a text stops being JSON, and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
#[non_exhaustive]
pub struct SyntaxError {
    /// Byte offset of the error; the length of the input if the text ends too early.
    pub offset: usize,
    /// What is wrong there.
    pub kind: SyntaxErrorKind,
}

impl SyntaxError {
    #[cold]
    pub(crate) fn new(offset: usize, kind: SyntaxErrorKind) -> SyntaxError {
        SyntaxError { offset, kind }
    }

    /// `offset` has something other than `expected`, or is the end of the input.
    #[cold]
    pub(crate) fn unexpected(input: &[u8], offset: usize, expected: Expected) -> SyntaxError {
        let kind = if offset < input.len() {
            SyntaxErrorKind::UnexpectedByte { found: Found::at(input, offset), expected }
        } else {
            SyntaxErrorKind::UnexpectedEnd { expected }
        };
        SyntaxError { offset, kind }
    }

    /// Line and column of the error in the same input.
    pub fn position(&self, input: &[u8]) -> Position {
        Position::of(self.offset, input)
    }
}

/// What is wrong at the offset of a [`SyntaxError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// Nothing but whitespace.
    #[error("there is no JSON value here")]
    Empty,
    /// U+FEFF before the value; RFC 8259 section 8.1 forbids sending it.
    #[error("a byte order mark precedes the value")]
    ByteOrderMark,
    /// The text ends inside a value: more bytes might complete it.
    #[error("expected {expected}, found the end")]
    UnexpectedEnd {
        /// What could have come next.
        expected: Expected,
    },
    /// A byte that the grammar does not allow here.
    #[error("expected {expected}, found {found}")]
    UnexpectedByte {
        /// What was found.
        found: Found,
        /// What would have been allowed.
        expected: Expected,
    },
    /// A complete value, then something that is not whitespace; the offset is its first byte.
    #[error("the value is complete, but more follows")]
    TrailingData,
    /// A byte below 0x20 inside a string, where it must be escaped.
    #[error("the control character U+{byte:04X} must be escaped in a string")]
    ControlCharacter {
        /// The byte.
        byte: u8,
    },
    /// A backslash that does not start a valid escape; the offset is that of the backslash.
    #[error("{}", invalid_escape(*found))]
    InvalidEscape {
        /// What follows the backslash.
        found: Found,
    },
    /// A number in a notation that JSON does not have.
    #[error("{fault}")]
    InvalidNumber {
        /// The part that is wrong.
        fault: NumberFault,
    },
    /// A string contains invalid UTF-8; the offset is that of the first invalid byte.
    #[error("the string is not UTF-8")]
    InvalidUtf8,
    /// Nesting deeper than allowed; the offset is that of the first excess bracket.
    #[error("nested deeper than {limit} levels")]
    TooDeep {
        /// [`Limits::max_depth`](crate::Limits::max_depth).
        limit: usize,
    },
    /// Input longer than allowed; nothing was read.
    #[error("{length} bytes exceed the limit of {limit}")]
    TooLong {
        /// Length of the input in bytes.
        length: usize,
        /// The limit in force.
        limit: usize,
    },
}

fn invalid_escape(found: Found) -> String {
    match found {
        Found::Char('u') => "`\\u` needs four hexadecimal digits".to_owned(),
        found => format!("a backslash followed by {found} is not an escape"),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Limits, Tape};

    #[track_caller]
    fn check(input: &[u8], expected: &str) {
        let mut tape = Tape::new();
        let error = tape.parse(input, Limits::default()).expect_err("not JSON");
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn messages_read_well() {
        check(b" \n", "there is no JSON value here at byte 0");
        check(b"\xEF\xBB\xBF{}", "a byte order mark precedes the value at byte 0");
        check(br#"{"a":1]"#, "expected `,` or `}` after a member, found `]` at byte 6");
        check(b"[1 2]", "expected `,` or `]` after an element, found `2` at byte 3");
        check(b"[1,]", "expected a value after `,`, found `]` at byte 3");
        check(b"[1,", "expected a value after `,`, found the end at byte 3");
        check(b"[", "expected a value or `]` after `[`, found the end at byte 1");
        check(b"[,]", "expected a value or `]` after `[`, found `,` at byte 1");
        check(br#"{"a" 1}"#, "expected `:` after a member name, found `1` at byte 5");
        check(br#"{"a":}"#, "expected a value after `:`, found `}` at byte 5");
        check(
            br#"{"a":1,}"#,
            "expected a member name in double quotes after `,`, found `}` at byte 7",
        );
        check(
            b"{'a':1}",
            "expected a member name in double quotes or `}` after `{`, found `'` at byte 1",
        );
        check("“a”".as_bytes(), "expected a value, found `“` at byte 0");
        check(b"\xFF", "expected a value, found the byte 0xFF at byte 0");
        check(b"nul", "expected `null`, found the end at byte 3");
        check(b"nuts", "expected `null`, found `t` at byte 2");
        check(b"1 2", "the value is complete, but more follows at byte 2");
        check(b"012", "a number must not have leading zeros at byte 0");
        check(b"[-]", "expected a digit after `-` at byte 2");
        check(b"[1.]", "expected a digit after the decimal point at byte 3");
        check(b"[1e+]", "expected a digit in the exponent at byte 4");
        check(b"1e+", "expected a digit, found the end at byte 3");
        check(br#""\x""#, "a backslash followed by `x` is not an escape at byte 1");
        check(br#""\u12g4""#, "`\\u` needs four hexadecimal digits at byte 1");
        check(b"\"a\nb\"", "the control character U+000A must be escaped in a string at byte 2");
        check(b"\"a\xFFb\"", "the string is not UTF-8 at byte 2");
        check(b"\"abc", "expected a closing `\"`, found the end at byte 4");
    }
}
