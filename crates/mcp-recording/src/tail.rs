//! The lines of a recording, followed and judged as they come.

use std::io::{self, Read};

use mcp_rules::{
    Engine, Finding, Findings, Followed, Judged, LineReader, Observer, ReadLine, RecordingInfo,
    Routed,
};

use crate::line_stream::{LineStream, Piece};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Receives the lines of a recording, with the findings in them.
pub trait LineHandler {
    /// Handles one line. After an error, no more lines follow.
    ///
    /// # Errors
    ///
    /// If the line cannot be handled, such as when writing it fails.
    fn line(&mut self, number: u64, line: TailLine<'_>) -> io::Result<()>;
    /// Handles the findings that are only known at the end of the recording.
    ///
    /// # Errors
    ///
    /// As for [`LineHandler::line`].
    fn end(&mut self, findings: Vec<Finding>) -> io::Result<()>;
}

/// A line of a recording, as judged by a [`Tail`].
#[derive(Debug)]
#[non_exhaustive]
pub struct TailLine<'a> {
    /// `None` if it was too long to be read.
    pub line: Option<&'a ReadLine<'a>>,
    /// The context of its message in the conversation, if it has one.
    pub followed: Option<&'a Followed>,
    /// The findings in it.
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
    handler: A,
}

impl<'e, A: LineHandler> Tail<'e, A> {
    /// Creates a tail that has read nothing yet; `info` is what is known about the recording.
    pub fn new(engine: &'e Engine, info: RecordingInfo, handler: A) -> Tail<'e, A> {
        let limits = &engine.settings().limits;
        Tail {
            engine,
            reader: LineReader::new(limits),
            observer: Observer::new(engine, info),
            findings: Findings::new(engine.settings()),
            number: 0,
            // A record wraps a message, and may escape its bytes.
            max_line: limits.message_bytes.saturating_mul(2).saturating_add(64 * 1024),
            handler,
        }
    }

    /// The maximum length of a line in bytes; longer ones are reported but not read.
    pub fn max_line(&self) -> usize {
        self.max_line
    }

    /// Reads and judges everything available now, and passes it to the handler.
    ///
    /// # Errors
    ///
    /// If reading or the handler fails.
    pub fn read_all(&mut self, lines: &mut LineStream<impl Read>) -> Result<(), TailError> {
        let mut line = Vec::new();
        while let Some(piece) = lines.next(&mut line).map_err(TailError::Read)? {
            self.handle(piece, &line).map_err(TailError::Write)?;
        }
        Ok(())
    }

    /// Handles the end of the recording: a last line without a line break, and the findings that
    /// are only known at the end.
    ///
    /// # Errors
    ///
    /// If the handler fails.
    pub fn finish(mut self, lines: &mut LineStream<impl Read>) -> io::Result<()> {
        let mut line = Vec::new();
        if let Some(piece) = lines.rest(&mut line) {
            self.handle(piece, &line)?;
        }
        let mut judged = Vec::new();
        self.observer.finish(&mut judged);
        self.handler.end(findings_of(judged))
    }

    fn handle(&mut self, piece: Piece, line: &[u8]) -> io::Result<()> {
        match piece {
            Piece::LongRest => Ok(()),
            Piece::LongStart => {
                self.number += 1;
                self.handle_too_long()
            }
            Piece::Line => {
                self.number += 1;
                self.handle_line(line)
            }
        }
    }

    fn handle_too_long(&mut self) -> io::Result<()> {
        let mut judged = Vec::new();
        self.observer.follow_too_long(self.number, self.max_line, &mut judged);
        let findings = findings_of(judged);
        self.handler.line(self.number, TailLine { line: None, followed: None, findings })
    }

    fn handle_line(&mut self, line: &[u8]) -> io::Result<()> {
        let Tail { engine, reader, observer, findings, number, handler, .. } = self;
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
            handler.line(number, TailLine { line: Some(line), followed, findings: found })
        })
    }
}

fn findings_of(judged: Vec<Judged>) -> Vec<Finding> {
    judged.into_iter().flat_map(|judged| judged.findings).collect()
}

/// Why a tail stopped.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "nothing else can fail")]
pub enum TailError {
    /// Reading failed.
    Read(io::Error),
    /// The [`LineHandler`] failed.
    Write(io::Error),
}
