//! Cuts what one side writes to a stdio stream into messages: one line, one message.
//!
//! A line that is not one JSON value is looked at together with its neighbours: several values
//! on one line, one value spread over several lines. Nothing is lost: what explains nothing
//! comes out as unreadable, in order.

use mcp_json::{Limits, SyntaxError, SyntaxErrorKind, Tape};

/// What a [`Framer`] made of the lines it was given.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "these are the cases there are")]
pub enum Framed {
    /// The text of one message, and how it came to be one.
    Message {
        /// Number of the line it begins on.
        line: u64,
        /// One JSON value.
        text: Vec<u8>,
        /// Whether the sender kept to one message per line.
        cut: Cut,
    },
    /// A line that is no JSON value.
    Unreadable {
        /// Its number.
        line: u64,
        /// Its text.
        text: Vec<u8>,
        /// Why.
        error: SyntaxError,
    },
    /// A line with nothing but whitespace.
    Blank {
        /// Its number.
        line: u64,
    },
}

/// How a message was cut out of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are the cases there are")]
pub enum Cut {
    /// One line, one message.
    Line,
    /// The first of several messages on one line.
    FirstOfSeveral,
    /// A further one of several messages on one line.
    FurtherOfSeveral,
    /// One message over several lines.
    SeveralLines,
}

/// Cuts one side of a stdio stream into messages.
#[derive(Debug, Default)]
pub struct Framer {
    /// Lines that might be the beginning of one message.
    pending: Vec<(u64, Vec<u8>)>,
    pending_bytes: usize,
    /// How many brackets the pending lines leave open.
    depth: usize,
    tape: Tape,
}

impl Framer {
    /// A framer at the beginning of a stream.
    pub fn new() -> Framer {
        Framer::default()
    }

    /// Whether no line waits for its continuation.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    /// Takes one write (which may hold several lines, without the final line break) that began on
    /// `line`, and puts what it amounts to into `out`.
    pub fn push(&mut self, line: u64, write: &[u8], limits: Limits, out: &mut Vec<Framed>) {
        for text in write.split(|byte| *byte == b'\n') {
            self.push_line(line, text, limits, out);
        }
    }

    /// The stream has ended: what still waits will not be completed.
    pub fn finish(&mut self, limits: Limits, out: &mut Vec<Framed>) {
        self.give_up(limits, out);
    }

    fn push_line(&mut self, line: u64, text: &[u8], limits: Limits, out: &mut Vec<Framed>) {
        if self.is_idle() {
            return self.push_first(line, text, limits, out);
        }
        if self.is_message(text, limits) {
            self.give_up(limits, out);
            return self.push_first(line, text, limits, out);
        }
        self.keep(line, text);
        match self.balance(text) {
            Balance::Broken => self.give_up(limits, out),
            _ if self.pending_bytes > limits.max_bytes => self.give_up(limits, out),
            Balance::Open => {}
            Balance::Closed => self.join(limits, out),
        }
    }

    fn push_first(&mut self, line: u64, text: &[u8], limits: Limits, out: &mut Vec<Framed>) {
        match self.tape.append(text, limits) {
            Ok(_) => {
                self.tape.clear();
                out.push(Framed::Message { line, text: text.into(), cut: Cut::Line });
            }
            Err(error) => match error.kind {
                SyntaxErrorKind::Empty => out.push(Framed::Blank { line }),
                SyntaxErrorKind::TrailingData if self.split(line, text, limits, out) => {}
                SyntaxErrorKind::UnexpectedEnd { .. } if self.balance(text) == Balance::Open => {
                    self.keep(line, text);
                }
                _ => {
                    self.depth = 0;
                    out.push(Framed::Unreadable { line, text: text.into(), error });
                }
            },
        }
    }

    /// Several values on one line; `false` if that is not what the line is.
    fn split(&mut self, line: u64, text: &[u8], limits: Limits, out: &mut Vec<Framed>) -> bool {
        let mut values = Vec::new();
        let mut rest = text;
        while !rest.trim_ascii().is_empty() {
            let end = match self.tape.append(rest, limits) {
                Ok(_) => rest.len(),
                Err(error) if error.kind == SyntaxErrorKind::TrailingData => error.offset,
                Err(_) => return false,
            };
            self.tape.clear();
            let (value, after) = rest.split_at(end);
            // Bare words and numbers after each other are prose, not messages.
            if !matches!(value.trim_ascii_start(), [b'{' | b'[', ..]) {
                return false;
            }
            values.push(value.to_vec());
            rest = after;
        }
        for (position, text) in values.into_iter().enumerate() {
            let cut = if position == 0 { Cut::FirstOfSeveral } else { Cut::FurtherOfSeveral };
            out.push(Framed::Message { line, text, cut });
        }
        true
    }

    /// All brackets are closed: is it one message now?
    fn join(&mut self, limits: Limits, out: &mut Vec<Framed>) {
        let lines: Vec<&[u8]> = self.pending.iter().map(|(_, text)| text.as_slice()).collect();
        let joined = lines.join(&b'\n');
        if self.tape.append(&joined, limits).is_err() {
            return self.give_up(limits, out);
        }
        self.tape.clear();
        let line = self.pending[0].0;
        self.forget();
        out.push(Framed::Message { line, text: joined, cut: Cut::SeveralLines });
    }

    /// The pending lines are no message: each stands for itself.
    fn give_up(&mut self, limits: Limits, out: &mut Vec<Framed>) {
        let pending = std::mem::take(&mut self.pending);
        self.forget();
        for (line, text) in pending {
            match self.tape.append(&text, limits) {
                Ok(_) => {
                    self.tape.clear();
                    out.push(Framed::Message { line, text, cut: Cut::Line });
                }
                Err(error) if error.kind == SyntaxErrorKind::Empty => {
                    out.push(Framed::Blank { line });
                }
                Err(error) => out.push(Framed::Unreadable { line, text, error }),
            }
        }
    }

    fn keep(&mut self, line: u64, text: &[u8]) {
        self.pending_bytes += text.len() + 1;
        self.pending.push((line, text.into()));
    }

    fn forget(&mut self) {
        self.pending.clear();
        self.pending_bytes = 0;
        self.depth = 0;
    }

    /// Whether a line is a message in its own right, whatever was left open before it.
    fn is_message(&mut self, text: &[u8], limits: Limits) -> bool {
        text.starts_with(b"{\"")
            && self.tape.parse(text, limits).is_ok_and(|document| {
                let members = document.root();
                ["jsonrpc", "method", "result", "error"]
                    .into_iter()
                    .any(|member| members.get(member).is_some())
            })
    }

    /// Counts the brackets of one more line. A string cannot go on over a line break.
    fn balance(&mut self, text: &[u8]) -> Balance {
        let mut bytes = text.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' if skip_string(&mut bytes) => {}
                b'"' => return Balance::Broken,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => match self.depth.checked_sub(1) {
                    Some(depth) => self.depth = depth,
                    None => return Balance::Broken,
                },
                _ => {}
            }
        }
        if self.depth == 0 { Balance::Closed } else { Balance::Open }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Balance {
    Open,
    Closed,
    Broken,
}

/// Moves past the closing quote; `false` if there is none.
fn skip_string<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> bool {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return true,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(writes: &[&str], expected: &[&str]) {
        check_within(Limits::default(), writes, expected);
    }

    #[track_caller]
    fn check_within(limits: Limits, writes: &[&str], expected: &[&str]) {
        let mut framer = Framer::new();
        let mut out = Vec::new();
        for (position, write) in writes.iter().enumerate() {
            framer.push(position as u64 + 1, write.as_bytes(), limits, &mut out);
        }
        framer.finish(limits, &mut out);
        let shown: Vec<String> = out.iter().map(show).collect();
        assert_eq!(shown, expected);
    }

    fn show(framed: &Framed) -> String {
        match framed {
            Framed::Message { line, text, cut } => {
                format!("{line} {cut:?} {}", String::from_utf8_lossy(text).escape_debug())
            }
            Framed::Unreadable { line, text, .. } => {
                format!("{line} unreadable {}", String::from_utf8_lossy(text).escape_debug())
            }
            Framed::Blank { line } => format!("{line} blank"),
        }
    }

    #[test]
    fn one_line_is_one_message() {
        check(&["{}", " [1] \r", "7"], &["1 Line {}", "2 Line  [1] \\r", "3 Line 7"]);
        check(&["", "  "], &["1 blank", "2 blank"]);
    }

    #[test]
    fn a_pretty_printed_message_is_put_together() {
        check(
            &["{", "  \"a\": [", "1", "]", "}"],
            &["1 SeveralLines {\\n  \\\"a\\\": [\\n1\\n]\\n}"],
        );
        check(&["{\n\"a\":1}", "{}"], &["1 SeveralLines {\\n\\\"a\\\":1}", "2 Line {}"]);
    }

    #[test]
    fn a_cut_off_message_does_not_swallow_the_next() {
        check(
            &["{\"a\":", "{\"jsonrpc\":\"2.0\"}"],
            &["1 unreadable {\\\"a\\\":", "2 Line {\\\"jsonrpc\\\":\\\"2.0\\\"}"],
        );
        check(&["{\"a", "{}"], &["1 unreadable {\\\"a", "2 Line {}"]);
        check(&["{\"a\":1,"], &["1 unreadable {\\\"a\\\":1,"]);
        check(
            &["{\"a\":", "{\"method\":1}", "}"],
            &["1 unreadable {\\\"a\\\":", "2 Line {\\\"method\\\":1}", "3 unreadable }"],
        );
    }

    #[test]
    fn what_stands_inside_a_message_is_none() {
        check(&["[", "{\"a\":1}", "]"], &["1 SeveralLines [\\n{\\\"a\\\":1}\\n]"]);
        check(&["[", " {\"method\":1}", "]"], &["1 SeveralLines [\\n {\\\"method\\\":1}\\n]"]);
    }

    #[test]
    fn a_string_ends_with_its_line() {
        check(
            &["[", "", "\"a", "{", "}"],
            &["1 unreadable [", "2 blank", "3 unreadable \\\"a", "4 SeveralLines {\\n}"],
        );
    }

    #[test]
    fn lines_wait_only_as_long_as_a_message_may_be() {
        let limits = Limits { max_bytes: 7, ..Limits::default() };
        check_within(limits, &["[", "1", "]", "2"], &["1 SeveralLines [\\n1\\n]", "4 Line 2"]);
        check_within(limits, &["[", "1", "", "]"], &["1 SeveralLines [\\n1\\n\\n]"]);
        check_within(
            limits,
            &["[", "1", ",", "2", "{", "}"],
            &["1 unreadable [", "2 Line 1", "3 unreadable ,", "4 Line 2", "5 SeveralLines {\\n}"],
        );
    }

    #[test]
    fn several_messages_on_a_line_are_told_apart() {
        check(
            &["{} {}[1]"],
            &["1 FirstOfSeveral {} ", "1 FurtherOfSeveral {}", "1 FurtherOfSeveral [1]"],
        );
        check(&["{} oops"], &["1 unreadable {} oops"]);
        check(&["{} {{}"], &["1 unreadable {} {{}"]);
        check(&["1 2 3"], &["1 unreadable 1 2 3"]);
    }

    #[test]
    fn prose_stays_prose() {
        check(
            &["Listening on port 80", "[info] ready", "{curly}"],
            &[
                "1 unreadable Listening on port 80",
                "2 unreadable [info] ready",
                "3 unreadable {curly}",
            ],
        );
    }

    #[test]
    fn many_pretty_printed_lines_cost_no_more_than_their_length() {
        let mut lines = vec!["["];
        lines.extend(std::iter::repeat_n("1,", 50_000));
        lines.extend(["1", "]"]);
        let mut framer = Framer::new();
        let mut out = Vec::new();
        for line in lines {
            framer.push(1, line.as_bytes(), Limits::default(), &mut out);
        }
        assert!(matches!(&out[..], [Framed::Message { cut: Cut::SeveralLines, .. }]));
    }
}
