//! Splits what one side writes to a stdio stream into messages: one line, one message.
//!
//! A line that is not one JSON value is examined together with its neighbours: it may contain
//! several values, or part of one value that spans several lines. Nothing is lost: lines that are
//! neither are returned as unreadable, in order.

use mcp_json::{Limits, SyntaxError, SyntaxErrorKind, Tape};

/// What a [`Framer`] made of the lines it was given.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "these are the cases there are")]
pub enum Framed {
    /// The text of one message, and how it came to be one.
    Message {
        /// The number of the line it starts on.
        line: u64,
        /// One JSON value.
        text: Vec<u8>,
        /// Whether the sender kept to one message per line.
        cut: Cut,
    },
    /// A line that is not a JSON value.
    Unreadable {
        /// Its number.
        line: u64,
        /// Its text.
        text: Vec<u8>,
        /// Why.
        error: SyntaxError,
    },
    /// A line of only whitespace.
    Blank {
        /// Its number.
        line: u64,
    },
}

/// How a message was delimited in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are the cases there are")]
pub enum Cut {
    /// One line, one message.
    Line,
    /// The first of several messages on one line.
    FirstOfSeveral,
    /// A later one of several messages on one line.
    FurtherOfSeveral,
    /// One message over several lines.
    SeveralLines,
}

/// Maximum number of lines that may wait for the end of one message. Nobody spreads a message over
/// more, and if no message results, each line is reported on its own.
const MAX_LINES: usize = 1 << 20;

/// Memory that a framer keeps for the next line.
const KEPT_TAPE: usize = 64 * 1024;

/// Cuts one side of a stdio stream into messages.
///
/// Waiting lines take no more memory than one message may have, plus 16 bytes each. Every line is
/// examined a fixed number of times, however many lines wait.
#[derive(Debug, Default)]
pub struct Framer {
    /// Lines that might be the beginning of one message, each with its line break.
    pending: Vec<u8>,
    /// Their numbers, and where they end.
    lines: Vec<(u64, usize)>,
    /// How many brackets the pending lines leave open.
    depth: usize,
    tape: Tape,
}

impl Framer {
    /// Creates a framer for the start of a stream.
    pub fn new() -> Framer {
        Framer::default()
    }

    /// Whether no line is waiting for its continuation.
    pub fn is_idle(&self) -> bool {
        self.lines.is_empty()
    }

    /// How much memory the waiting lines take, in bytes.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.pending.len() + self.lines.len() * size_of::<(u64, usize)>()
    }

    /// The approximate memory that it holds, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.pending.capacity() + self.lines.capacity() * 16 + self.tape.memory()
    }

    /// Takes one write that began on `line` (possibly several lines, without the final line break),
    /// and passes the results to `out`, one by one.
    pub fn push(&mut self, line: u64, write: &[u8], limits: Limits, out: &mut impl FnMut(Framed)) {
        for text in write.split(|byte| *byte == b'\n') {
            self.push_line(line, text, limits, out);
        }
    }

    /// Handles the end of the stream: waiting lines will not be completed.
    pub fn finish(&mut self, limits: Limits, out: &mut impl FnMut(Framed)) {
        self.give_up(limits, out);
    }

    fn push_line(&mut self, line: u64, text: &[u8], limits: Limits, out: &mut impl FnMut(Framed)) {
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
            _ if self.waits_in_vain(limits) => self.give_up(limits, out),
            Balance::Open => {}
            Balance::Closed => self.join(limits, out),
        }
    }

    /// Whether the pending lines exceed the limits of a message.
    fn waits_in_vain(&self, limits: Limits) -> bool {
        self.pending.len() > limits.max_bytes
            || self.lines.len() > MAX_LINES
            || self.depth > limits.max_depth
    }

    fn push_first(&mut self, line: u64, text: &[u8], limits: Limits, out: &mut impl FnMut(Framed)) {
        match self.parse(text, limits) {
            Ok(()) => out(Framed::Message { line, text: text.into(), cut: Cut::Line }),
            Err(error) => match error.kind {
                SyntaxErrorKind::Empty => out(Framed::Blank { line }),
                SyntaxErrorKind::TrailingData if self.split(line, text, limits, out) => {}
                SyntaxErrorKind::UnexpectedEnd { .. } if self.balance(text) == Balance::Open => {
                    self.keep(line, text);
                }
                _ => {
                    self.depth = 0;
                    out(Framed::Unreadable { line, text: text.into(), error });
                }
            },
        }
    }

    /// Splits a line that contains several values; `false` if it does not.
    fn split(
        &mut self,
        line: u64,
        text: &[u8],
        limits: Limits,
        out: &mut impl FnMut(Framed),
    ) -> bool {
        // All values are parsed before the first is passed on, but not stored: a line may contain
        // millions.
        if !self.for_each_value(text, limits, |_| ()) {
            return false;
        }
        let mut cut = Cut::FirstOfSeveral;
        self.for_each_value(text, limits, |value| {
            out(Framed::Message { line, text: value.into(), cut });
            cut = Cut::FurtherOfSeveral;
        })
    }

    /// Passes on the consecutive values in `text`; `false` if there is anything else.
    fn for_each_value(
        &mut self,
        text: &[u8],
        limits: Limits,
        mut found: impl FnMut(&[u8]),
    ) -> bool {
        let mut rest = text;
        while !rest.trim_ascii_start().is_empty() {
            let end = match self.parse(rest, limits) {
                Ok(()) => rest.len(),
                Err(error) if error.kind == SyntaxErrorKind::TrailingData => error.offset,
                Err(_) => return false,
            };
            let (value, after) = rest.split_at(end);
            // A sequence of bare words and numbers is prose, not messages.
            if !matches!(value.trim_ascii_start(), [b'{' | b'[', ..]) {
                return false;
            }
            found(value);
            rest = after;
        }
        true
    }

    /// Called when all brackets are closed: the pending lines may be one message now.
    fn join(&mut self, limits: Limits, out: &mut impl FnMut(Framed)) {
        let mut joined = std::mem::take(&mut self.pending);
        let last_break = joined.pop();
        if self.parse(&joined, limits).is_err() {
            joined.extend(last_break);
            self.pending = joined;
            return self.give_up(limits, out);
        }
        let line = self.lines.first().map_or(0, |(line, _)| *line);
        self.forget();
        out(Framed::Message { line, text: joined, cut: Cut::SeveralLines });
    }

    /// Called when the pending lines are not a message: each is handled on its own.
    fn give_up(&mut self, limits: Limits, out: &mut impl FnMut(Framed)) {
        let pending = std::mem::take(&mut self.pending);
        let lines = std::mem::take(&mut self.lines);
        self.forget();
        let mut start = 0;
        for (line, end) in lines {
            let text = &pending[start..end];
            start = end + 1;
            out(match self.parse(text, limits) {
                Ok(()) => Framed::Message { line, text: text.into(), cut: Cut::Line },
                Err(error) if error.kind == SyntaxErrorKind::Empty => Framed::Blank { line },
                Err(error) => Framed::Unreadable { line, text: text.into(), error },
            });
        }
    }

    fn keep(&mut self, line: u64, text: &[u8]) {
        self.pending.extend_from_slice(text);
        self.lines.push((line, self.pending.len()));
        self.pending.push(b'\n');
    }

    fn forget(&mut self) {
        self.pending = Vec::new();
        self.lines = Vec::new();
        self.depth = 0;
    }

    /// Whether `text` is one JSON value.
    fn parse(&mut self, text: &[u8], limits: Limits) -> Result<(), SyntaxError> {
        let parsed = self.tape.append(text, limits);
        self.tape.clear();
        self.tape.shrink_to(KEPT_TAPE);
        parsed.map(|_| ())
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

    /// Counts the brackets of another line. A string cannot span a line break.
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
            framer.push(position as u64 + 1, write.as_bytes(), limits, &mut |it| out.push(it));
        }
        framer.finish(limits, &mut |it| out.push(it));
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
            framer.push(1, line.as_bytes(), Limits::default(), &mut |it| out.push(it));
        }
        assert!(matches!(&out[..], [Framed::Message { cut: Cut::SeveralLines, .. }]));
    }
}
