//! Parses lines without knowledge of other lines, so that it can be done on any thread.

use std::ops::Range;

use mcp_core::Side;
use mcp_json::{Document, Limits as JsonLimits, Node, Slot, Span, SyntaxError, Tape};

use super::{Content, Line, Record, RecordFault};
use crate::{
    Engine, Findings, Followed, Identity, Limits, gate::identities, http::CarriedMessage,
    wire::framing::BOM,
};

/// Parses lines of a file: the line, its record, and a message that the record holds as text. Reuse
/// it, as it keeps its buffers.
#[derive(Debug)]
pub struct LineReader {
    line_limits: JsonLimits,
    text_limits: JsonLimits,
    lines: Tape,
    texts: Tape,
}

/// A line parsed by a [`LineReader`], to be followed by an [`Observer`](crate::Observer).
#[derive(Debug, Clone, Copy)]
pub struct ReadLine<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) content: &'a Result<Line<'a>, Unread>,
    /// The value of the text that a record holds, ignoring a byte order mark.
    pub(crate) value: Option<Result<Node<'a>, SyntaxError>>,
    /// The message it holds, unless it is a batch. Its envelope is read only here.
    pub(crate) single: Option<&'a CarriedMessage<'a>>,
}

/// A line that a [`LineReader`] has parsed but not yet passed on.
#[derive(Debug)]
pub struct ParsedLine(Slot);

/// Why a line is neither a record nor a bare message.
#[derive(Debug, Clone)]
pub(crate) enum Unread {
    Syntax(SyntaxError),
    Record(RecordFault),
}

impl LineReader {
    /// Creates a reader with these limits.
    pub fn new(limits: &Limits) -> LineReader {
        LineReader {
            // A record adds one level around its message.
            line_limits: JsonLimits { max_bytes: usize::MAX, max_depth: limits.depth + 1 },
            text_limits: limits.json(),
            lines: Tape::new(),
            texts: Tape::new(),
        }
    }

    /// Parses one line and passes it to `visit`.
    pub fn read<R>(&mut self, text: &[u8], visit: impl FnOnce(&ReadLine<'_>) -> R) -> R {
        self.lines.clear();
        let slot = self.lines.append(text, self.line_limits);
        self.visit(slot, text, visit)
    }

    /// Parses a line [written optimistically](crate::TraceWriter::write_optimistic) with its message at
    /// `message`; `None` if that range is not an ordinary message.
    pub fn parse_optimistic(&mut self, text: &[u8], message: &Range<usize>) -> Option<ParsedLine> {
        self.lines.clear();
        let slot = self.lines.append(text, self.line_limits).ok()?;
        let document = self.lines.document(slot, text);
        let found = document.root().get("msg")?;
        is_ordinary(found, message, text).then_some(ParsedLine(slot))
    }

    /// Passes on the line that [`LineReader::parse_optimistic`] has just parsed.
    pub fn read_parsed<R>(
        &mut self,
        parsed: &ParsedLine,
        text: &[u8],
        visit: impl FnOnce(&ReadLine<'_>) -> R,
    ) -> R {
        self.visit(Ok(parsed.0), text, visit)
    }

    fn visit<R>(
        &mut self,
        line: Result<Slot, SyntaxError>,
        text: &[u8],
        visit: impl FnOnce(&ReadLine<'_>) -> R,
    ) -> R {
        let LineReader { lines, texts, text_limits, .. } = self;
        let document = line.map(|slot| lines.document(slot, text));
        let content = match &document {
            Ok(document) => Line::read(document.root()).map_err(Unread::Record),
            Err(error) => Err(Unread::Syntax(*error)),
        };
        let document = text_of(&content).map(|text| texts.parse(text, *text_limits));
        let value = document.as_ref().map(|document| match document {
            Ok(document) => Ok(document.root()),
            Err(error) => Err(*error),
        });
        let read = ReadLine { text, content: &content, value, single: None };
        let single = read.single_message();
        visit(&ReadLine { single: single.as_ref(), ..read })
    }

    /// Parses several lines and passes them to `visit` together.
    pub fn read_all<R>(&mut self, lines: &[&[u8]], visit: impl FnOnce(&[ReadLine<'_>]) -> R) -> R {
        self.lines.clear();
        self.texts.clear();
        let slots: Vec<Result<Slot, SyntaxError>> =
            lines.iter().map(|line| self.lines.append(line, self.line_limits)).collect();
        let documents: Vec<Result<Document<'_>, SyntaxError>> = slots
            .into_iter()
            .zip(lines)
            .map(|(slot, line)| slot.map(|slot| self.lines.document(slot, line)))
            .collect();
        let contents: Vec<Result<Line<'_>, Unread>> = documents
            .iter()
            .map(|document| match document {
                Ok(document) => Line::read(document.root()).map_err(Unread::Record),
                Err(error) => Err(Unread::Syntax(*error)),
            })
            .collect();
        let slots: Vec<Option<Result<Slot, SyntaxError>>> = contents
            .iter()
            .map(|content| Some(self.texts.append(text_of(content)?, self.text_limits)))
            .collect();
        let documents: Vec<Option<Result<Document<'_>, SyntaxError>>> = slots
            .into_iter()
            .zip(&contents)
            .map(|(slot, content)| {
                let text = text_of(content)?;
                Some(slot?.map(|slot| self.texts.document(slot, text)))
            })
            .collect();
        let mut read: Vec<ReadLine<'_>> = lines
            .iter()
            .zip(&contents)
            .zip(&documents)
            .map(|((text, content), document)| ReadLine {
                text,
                content,
                value: document.as_ref().map(|document| match document {
                    Ok(document) => Ok(document.root()),
                    Err(error) => Err(*error),
                }),
                single: None,
            })
            .collect();
        let singles: Vec<Option<CarriedMessage<'_>>> =
            read.iter().map(ReadLine::single_message).collect();
        for (line, single) in read.iter_mut().zip(&singles) {
            line.single = single.as_ref();
        }
        visit(&read)
    }
}

impl<'a> ReadLine<'a> {
    /// The line as it was read.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Whether a line [written optimistically](crate::TraceWriter::write_optimistic) has an ordinary
    /// message at `message`.
    pub fn has_ordinary(&self, message: &Range<usize>) -> bool {
        match self.record().map(|record| &record.content) {
            Some(Content::Message(found)) => is_ordinary(*found, message, self.text),
            _ => false,
        }
    }

    /// The record it holds, if it is one.
    pub fn record(&self) -> Option<&'a Record<'a>> {
        match self.content {
            Ok(Line::Record(record)) => Some(record),
            Ok(Line::Bare(_)) | Err(_) => None,
        }
    }

    /// The message it holds, if that is JSON.
    pub fn message(&self) -> Option<Node<'a>> {
        match self.content.as_ref().ok()? {
            Line::Bare(message) => Some(*message),
            Line::Record(record) => match record.content {
                Content::Message(message) => Some(message),
                _ => self.value?.ok(),
            },
        }
    }

    /// Reads the message in the line, unless it is a batch.
    fn single_message(&self) -> Option<CarriedMessage<'a>> {
        let message = CarriedMessage::single(self.message()?)?;
        let is_compared = self
            .record()
            .is_some_and(|record| record.from == Side::Server && record.http.is_some());
        Some(if is_compared { message.with_content() } else { message })
    }

    /// Identifies the message, or each entry of a batch, in the context from an observer.
    pub fn identities(&self, followed: &Followed) -> Vec<Identity> {
        self.message().map(|message| identities(message, followed)).unwrap_or_default()
    }

    /// Judges the message in the context an observer gave it. Needs no observer, so it may run
    /// elsewhere.
    pub fn judge(&self, engine: &Engine, followed: &Followed, findings: &mut Findings<'_>) {
        if let Some(message) = self.message() {
            let first = findings.len();
            match (self.single, followed) {
                (Some(single), Followed::One(context)) => {
                    engine.judge_read(single, context, findings);
                }
                _ => engine.judge(message, followed, findings),
            }
            if self.record().is_some_and(|record| record.is_stand_in) {
                findings.absolve(first);
            }
        }
    }
}

/// Whether the message found in a line is the one written at `place`, and needs no more than its
/// JSON value: no line breaks, duplicate keys or lone surrogates.
fn is_ordinary(found: Node<'_>, place: &Range<usize>, line: &[u8]) -> bool {
    let document = found.document();
    let place = Span { start: place.start, end: place.end };
    // If a value begins and ends where the message does, the message is that value.
    found.span() == place
        && memchr::memchr2(b'\n', b'\r', place.slice(line)).is_none()
        && !document.has_duplicate_keys()
        && !document.has_lone_surrogates()
}

/// The text that a record holds, without a byte order mark.
fn text_of<'r>(content: &'r Result<Line<'_>, Unread>) -> Option<&'r [u8]> {
    let Ok(Line::Record(record)) = content else { return None };
    let text = record.text()?;
    Some(text.strip_prefix(BOM).unwrap_or(text))
}
