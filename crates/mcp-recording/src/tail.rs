//! The lines of a recording, followed and judged as they come.

use std::io::{self, Read};

use mcp_rules::{
    Engine, Finding, Findings, Followed, Judged, LineReader, Observer, Origin, ReadLine, Routed,
};

use crate::line_stream::{LineStream, Piece};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Who is shown the lines of a recording, with what was found in them.
pub trait Audience {
    /// A line. An error ends the showing.
    ///
    /// # Errors
    ///
    /// If it cannot be shown.
    fn line(&mut self, number: u64, shown: Shown<'_>) -> io::Result<()>;
    /// What is only known at the end.
    ///
    /// # Errors
    ///
    /// If it cannot be shown.
    fn end(&mut self, findings: Vec<Finding>) -> io::Result<()>;
}

/// A line of a recording.
#[derive(Debug)]
#[non_exhaustive]
pub struct Shown<'a> {
    /// `None` if it was too long to be read.
    pub line: Option<&'a ReadLine<'a>>,
    /// What the conversation says about its message, if it has one.
    pub followed: Option<&'a Followed>,
    /// What was found in it.
    pub findings: Vec<Finding>,
}

/// Follows one recording from its start.
#[derive(Debug)]
pub struct Tail<'e, A> {
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
    /// Nothing is read yet; `origin` says what is known about the recording.
    pub fn new(engine: &'e Engine, origin: Origin, audience: A) -> Tail<'e, A> {
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
    pub fn max_line(&self) -> usize {
        self.max_line
    }

    /// Shows everything that can be read now.
    ///
    /// # Errors
    ///
    /// If something cannot be read or shown.
    pub fn show_all(&mut self, lines: &mut LineStream<impl Read>) -> Result<(), TailError> {
        let mut line = Vec::new();
        while let Some(piece) = lines.next(&mut line).map_err(TailError::Read)? {
            self.show(piece, &line).map_err(TailError::Write)?;
        }
        Ok(())
    }

    /// Shows what is left at the end: a last line without a line break, and what only the end tells.
    ///
    /// # Errors
    ///
    /// If it cannot be shown.
    pub fn finish(mut self, lines: &mut LineStream<impl Read>) -> io::Result<()> {
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

/// Why the rest is not shown.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "nothing else is done")]
pub enum TailError {
    /// It could not be read.
    Read(io::Error),
    /// It could not be shown.
    Write(io::Error),
}
