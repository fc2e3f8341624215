//! Shows the messages of a recording while it is written.

mod growing;

use std::io::{self, Read, Write};

use mcp_rules::{
    Engine, Finding, Findings, Followed, LineReader, Observer, Origin, ReadLine, Routed,
};

pub(crate) use self::growing::{Growing, Growth};
use crate::{
    line_stream::{LineStream, Piece},
    live::{LiveView, Passing},
};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Follows one recording from its start.
pub(crate) struct Tail<'e, W> {
    engine: &'e Engine,
    reader: LineReader,
    observer: Observer<'e>,
    findings: Findings<'e>,
    /// Number of the last line.
    number: u64,
    max_line: usize,
    view: LiveView,
    out: W,
}

impl<'e, W: Write> Tail<'e, W> {
    pub(crate) fn new(engine: &'e Engine, origin: Origin, view: LiveView, out: W) -> Tail<'e, W> {
        let limits = &engine.settings().limits;
        Tail {
            engine,
            reader: LineReader::new(limits),
            observer: Observer::new(engine, origin),
            findings: Findings::new(engine.settings()),
            number: 0,
            // A record wraps a message, and may escape its bytes.
            max_line: limits.message_bytes.saturating_mul(2).saturating_add(64 * 1024),
            view,
            out,
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
        for finding in judged.iter().flat_map(|judged| &judged.findings) {
            self.out.write_all(self.view.finding(0, finding).as_bytes())?;
        }
        self.out.flush()
    }

    fn show(&mut self, piece: Piece, line: &[u8]) -> io::Result<()> {
        let text = match piece {
            Piece::LongRest => return Ok(()),
            Piece::LongStart => {
                self.number += 1;
                self.show_too_long()
            }
            Piece::Line => {
                self.number += 1;
                self.show_line(line)
            }
        };
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    fn show_too_long(&mut self) -> String {
        let mut judged = Vec::new();
        self.observer.follow_too_long(self.number, self.max_line, &mut judged);
        let findings: Vec<Finding> = judged.into_iter().flat_map(|it| it.findings).collect();
        let passing = Passing { name: "too long".to_owned(), ..Passing::default() };
        self.view.show(&passing, self.number, &findings)
    }

    fn show_line(&mut self, line: &[u8]) -> String {
        let Tail { engine, reader, observer, findings, number, view, .. } = self;
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
            let mut answered = None;
            if let Routed::Judge(followed) = &routed {
                findings.set_line(number);
                line.judge(engine, followed, findings);
                answered = answered_method(followed);
            }
            let mut found = findings.take();
            found.extend(judged.into_iter().flat_map(|judged| judged.findings));
            if line.text().trim_ascii().is_empty() && found.is_empty() {
                return String::new();
            }
            view.show(&passing(line, answered), number, &found)
        })
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

/// What a line shows.
fn passing<'a>(line: &ReadLine<'a>, answered: Option<&str>) -> Passing<'a> {
    let record = line.record();
    if let Some(record) = record.filter(|record| record.is_gap) {
        let shown = Passing { name: "(some are missing here)".to_owned(), ..Passing::default() };
        return Passing { millis: record.millis, ..shown };
    }
    let http = record.and_then(|record| record.http.as_deref());
    let text = record.and_then(|record| record.text());
    let shown = match (line.message(), http, text) {
        (Some(message), ..) => Passing::message(message, answered),
        (None, Some(http), _) => Passing::http(http),
        (None, None, Some(text)) => Passing::text(text),
        (None, None, None) => Passing::text(line.text()),
    };
    match record {
        Some(record) => {
            let bytes = record.skipped.and_then(|bytes| usize::try_from(bytes).ok());
            let name = bytes.map_or(shown.name, |_| "too long to be recorded".to_owned());
            let preview = if bytes.is_some() { b"" } else { shown.preview };
            let bytes = bytes.unwrap_or(shown.bytes);
            let (from, millis) = (Some(record.from), record.millis);
            Passing { from, millis, name, bytes, preview, id: shown.id }
        }
        None => shown,
    }
}
