//! What is done with one chunk of lines, in three steps: parse, follow, judge. The first and the
//! last need nothing but the chunk, so chunks run side by side; following is sequential.

use std::ops::Range;

use mcp_json::{Document, Limits, Slot, SyntaxError, Tape};
use mcp_rules::{Engine, Finding, Findings, Followed, Judged, Observer, Routed, message_of};

use super::chunks::Chunk;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The buffers of one worker, used for chunk after chunk.
#[derive(Debug, Default)]
pub(super) struct Worker {
    pub(super) chunk: Chunk,
    tape: Tape,
    lines: Vec<ParsedLine>,
    routed: Vec<Routed>,
    judged: Vec<(usize, Judged)>,
}

#[derive(Debug)]
struct ParsedLine {
    range: Range<usize>,
    value: Result<Slot, SyntaxError>,
    terminated: bool,
}

/// A finding and the text it was found in; no text if it speaks of another line.
pub(super) struct Found<'t> {
    pub(super) finding: Finding,
    pub(super) text: &'t [u8],
}

impl Worker {
    /// Parses every line of the chunk.
    pub(super) fn parse(&mut self, limits: Limits) {
        self.tape.clear();
        self.lines.clear();
        let mut start = 0;
        let bytes = &self.chunk.bytes;
        if self.chunk.index == 0 && bytes.starts_with(BOM) {
            start = BOM.len();
        }
        while start < bytes.len() {
            let (end, terminated) = match memchr::memchr(b'\n', &bytes[start..]) {
                Some(length) => (start + length, true),
                None => (bytes.len(), false),
            };
            let value = self.tape.append(&bytes[start..end], limits);
            self.lines.push(ParsedLine { range: start..end, value, terminated });
            start = end + 1;
        }
    }

    /// Takes the chunk into the conversation and says which line it begins with. Chunks must come
    /// in order.
    pub(super) fn follow(&mut self, state: &mut Following<'_>) -> u64 {
        self.routed.clear();
        self.judged.clear();
        let Following { observer, lines_before, max_line } = state;
        let first_line = *lines_before + 1;
        let mut settled = Vec::new();
        if self.chunk.too_long {
            *lines_before += 1;
            observer.follow_too_long(*lines_before, *max_line, &mut settled);
            self.judged.extend(settled.drain(..).map(|judged| (0, judged)));
            return first_line;
        }
        for (position, line) in self.lines.iter().enumerate() {
            *lines_before += 1;
            let text = &self.chunk.bytes[line.range.clone()];
            let document = line.value.map(|slot| self.tape.document(slot, text));
            let value = match &document {
                Ok(document) => Ok(document.root()),
                Err(error) => Err(*error),
            };
            let routed = observer.follow(*lines_before, text, value, &mut settled);
            self.routed.push(routed);
            if !line.terminated {
                observer.follow_unterminated(*lines_before, text, &mut settled);
            }
            if line.range.start == BOM.len() && self.chunk.index == 0 && position == 0 {
                observer.follow_byte_order_mark(*lines_before, text, &mut settled);
            }
            self.judged.extend(settled.drain(..).map(|judged| (position, judged)));
        }
        first_line
    }

    /// Judges what following left to be judged, and hands over everything found, in order.
    pub(super) fn judge(
        &self,
        engine: &Engine,
        first_line: u64,
        findings: &mut Findings<'_>,
        mut found: impl FnMut(Found<'_>),
    ) {
        let mut settled = self.judged.iter().peekable();
        let mut emit_settled = |until: usize, found: &mut dyn FnMut(Found<'_>)| {
            while let Some((_, judged)) = settled.next_if(|(position, _)| *position <= until) {
                for finding in &judged.findings {
                    found(Found { finding: finding.clone(), text: &judged.text });
                }
            }
        };
        for (position, (line, routed)) in self.lines.iter().zip(&self.routed).enumerate() {
            if let (Routed::Judge(followed), Ok(slot)) = (routed, line.value) {
                let text = &self.chunk.bytes[line.range.clone()];
                let number = first_line + position as u64;
                findings.set_line(number);
                let document = self.tape.document(slot, text);
                judge_line(engine, &document, followed, findings, |finding, text| {
                    let text = if finding.line == Some(number) { text } else { b"" };
                    found(Found { finding, text });
                });
            }
            emit_settled(position, &mut found);
        }
        emit_settled(usize::MAX, &mut found);
    }
}

fn judge_line(
    engine: &Engine,
    document: &Document<'_>,
    followed: &Followed,
    findings: &mut Findings<'_>,
    mut found: impl FnMut(Finding, &[u8]),
) {
    Observer::judge(engine, document.root(), followed, findings);
    if findings.as_slice().is_empty() {
        return;
    }
    let text = message_of(document.root()).map_or(document.input(), |message| message.raw());
    for finding in findings.take() {
        found(finding, text);
    }
}

/// What following remembers from chunk to chunk.
#[derive(Debug)]
pub(super) struct Following<'e> {
    pub(super) observer: Observer<'e>,
    pub(super) lines_before: u64,
    pub(super) max_line: usize,
}
