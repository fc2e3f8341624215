//! Shows the messages of a recording while it is written.

mod growing;

use std::io::{self, Read, Write};

use mcp_rules::{
    Engine, Finding, Findings, Followed, Judged, LineReader, Observer, Origin, ReadLine, Routed,
};

pub(crate) use self::growing::{Growing, Growth};
use crate::{
    line_stream::{LineStream, Piece},
    live::{LiveView, Passing},
};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Who is shown the lines of a recording, with what was found in them.
pub(crate) trait Audience {
    fn line(&mut self, number: u64, shown: Shown<'_>) -> io::Result<()>;
    /// What is only known at the end.
    fn end(&mut self, findings: Vec<Finding>) -> io::Result<()>;
}

/// A line of a recording.
pub(crate) struct Shown<'a> {
    /// `None` if it was too long to be read.
    pub(crate) line: Option<&'a ReadLine<'a>>,
    /// What the conversation says about its message, if it has one.
    pub(crate) followed: Option<&'a Followed>,
    pub(crate) findings: Vec<Finding>,
}

/// Follows one recording from its start.
pub(crate) struct Tail<'e, A> {
    engine: &'e Engine,
    reader: LineReader,
    observer: Observer<'e>,
    findings: Findings<'e>,
    /// Number of the last line.
    number: u64,
    max_line: usize,
    audience: A,
}

impl<'e, A: Audience> Tail<'e, A> {
    pub(crate) fn new(engine: &'e Engine, origin: Origin, audience: A) -> Tail<'e, A> {
        let limits = &engine.settings().limits;
        Tail {
            engine,
            reader: LineReader::new(limits),
            observer: Observer::new(engine, origin),
            findings: Findings::new(engine.settings()),
            number: 0,
            // A record wraps a message, and may escape its bytes.
            max_line: limits.message_bytes.saturating_mul(2).saturating_add(64 * 1024),
            audience,
        }
    }

    /// The longest line that is read.
    pub(crate) fn max_line(&self) -> usize {
        self.max_line
    }

    /// Shows everything that can be read now.
    pub(crate) fn show_all(&mut self, lines: &mut LineStream<impl Read>) -> Result<(), TailError> {
        let mut line = Vec::new();
        while let Some(piece) = lines.next(&mut line).map_err(TailError::Read)? {
            self.show(piece, &line).map_err(TailError::Write)?;
        }
        Ok(())
    }

    /// Shows what is left at the end: a last line without a line break, and what only the end tells.
    pub(crate) fn finish(mut self, lines: &mut LineStream<impl Read>) -> io::Result<()> {
        let mut line = Vec::new();
        if let Some(piece) = lines.rest(&mut line) {
            self.show(piece, &line)?;
        }
        let mut judged = Vec::new();
        self.observer.finish(&mut judged);
        self.audience.end(findings_of(judged))
    }

    fn show(&mut self, piece: Piece, line: &[u8]) -> io::Result<()> {
        match piece {
            Piece::LongRest => Ok(()),
            Piece::LongStart => {
                self.number += 1;
                self.show_too_long()
            }
            Piece::Line => {
                self.number += 1;
                self.show_line(line)
            }
        }
    }

    fn show_too_long(&mut self) -> io::Result<()> {
        let mut judged = Vec::new();
        self.observer.follow_too_long(self.number, self.max_line, &mut judged);
        let findings = findings_of(judged);
        self.audience.line(self.number, Shown { line: None, followed: None, findings })
    }

    fn show_line(&mut self, line: &[u8]) -> io::Result<()> {
        let Tail { engine, reader, observer, findings, number, audience, .. } = self;
        let number = *number;
        let (text, is_complete) = match line.strip_suffix(b"\n") {
            Some(text) => (text, true),
            None => (line, false),
        };
        let mark = if number == 1 { text.strip_prefix(BOM) } else { None };
        reader.read(mark.unwrap_or(text), |line| {
            let mut judged = Vec::new();
            let routed = observer.follow(number, line, &mut judged);
            if !is_complete {
                observer.follow_unterminated(number, line.text(), &mut judged);
            }
            if mark.is_some() {
                observer.follow_byte_order_mark(number, line.text(), &mut judged);
            }
            let followed = match &routed {
                Routed::Judge(followed) => Some(followed),
                Routed::Done => None,
            };
            if let Some(followed) = followed {
                findings.set_line(number);
                line.judge(engine, followed, findings);
            }
            let mut found = findings.take();
            found.extend(findings_of(judged));
            audience.line(number, Shown { line: Some(line), followed, findings: found })
        })
    }
}

fn findings_of(judged: Vec<Judged>) -> Vec<Finding> {
    judged.into_iter().flat_map(|judged| judged.findings).collect()
}

/// Prints a line about each message, and its findings below.
#[derive(Debug)]
pub(crate) struct Printed<W> {
    pub(crate) view: LiveView,
    pub(crate) out: W,
}

impl<W: Write> Audience for Printed<W> {
    fn line(&mut self, number: u64, shown: Shown<'_>) -> io::Result<()> {
        let Shown { line, followed, findings } = shown;
        let passing = match line {
            None => Passing { name: "too long".to_owned(), ..Passing::default() },
            Some(line) if line.text().trim_ascii().is_empty() && findings.is_empty() => {
                return Ok(());
            }
            Some(line) => Passing::of(line, followed.and_then(answered_method)),
        };
        self.out.write_all(self.view.show(&passing, number, &findings).as_bytes())?;
        self.out.flush()
    }

    fn end(&mut self, findings: Vec<Finding>) -> io::Result<()> {
        for finding in &findings {
            self.out.write_all(self.view.finding(0, finding).as_bytes())?;
        }
        self.out.flush()
    }
}

/// Why the rest is not shown.
#[derive(Debug)]
pub(crate) enum TailError {
    Read(io::Error),
    Write(io::Error),
}

fn answered_method(followed: &Followed) -> Option<&'static str> {
    let Followed::One(context) = followed else { return None };
    Some(context.answers.as_ref()?.method?.name)
}
