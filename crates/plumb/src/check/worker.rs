//! Processes one chunk of lines in three steps: read, follow, judge. The first and the last need
//! only the chunk, so chunks run in parallel; following is sequential.

use mcp_rules::{Engine, Finding, Findings, Judged, LineReader, Observer, ReadLine, Routed};

use super::{chunks::Chunk, turns::Turns};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The buffers of one worker, reused for every chunk.
#[derive(Debug)]
pub(super) struct Worker<'e> {
    engine: &'e Engine,
    pub(super) chunk: Chunk,
    reader: LineReader,
    findings: Findings<'e>,
}

/// State that following keeps between chunks.
#[derive(Debug)]
pub(super) struct Following<'e> {
    pub(super) observer: Observer<'e>,
    pub(super) lines_before: u64,
    pub(super) max_line: usize,
}

/// A finding and the text it was found in; no text if it refers to another line.
pub(super) struct Found<'t> {
    pub(super) finding: Finding,
    pub(super) text: &'t [u8],
}

/// The result of following a chunk.
struct Followed {
    first_line: u64,
    /// One per line.
    routed: Vec<Routed>,
    /// Findings made while following, with the index of the line in the chunk.
    judged: Vec<(usize, Judged)>,
}

impl<'e> Worker<'e> {
    pub(super) fn new(engine: &'e Engine) -> Worker<'e> {
        Worker {
            engine,
            chunk: Chunk::default(),
            reader: LineReader::new(&engine.settings().limits),
            findings: Findings::new(engine.settings()),
        }
    }

    /// Checks the worker's chunk. Passes every finding to `found`, in order, and returns the number
    /// of the chunk's first line; `None` if the work was stopped.
    pub(super) fn check(
        &mut self,
        following: &Turns<Following<'_>>,
        mut found: impl FnMut(Found<'_>),
    ) -> Option<u64> {
        let Worker { engine, chunk, reader, findings } = self;
        let start = if chunk.starts_with_mark() { BOM.len() } else { 0 };
        let texts = chunk.lines(start);
        reader.read_all(&texts, |lines| {
            let followed = following.take(chunk.index, |state| state.follow(chunk, lines))?;
            let first_line = followed.first_line;
            judge(engine, lines, followed, findings, &mut found);
            Some(first_line)
        })
    }

    /// Number of findings dropped since the last call.
    pub(super) fn take_dropped(&mut self) -> u64 {
        self.findings.take_dropped()
    }
}

impl Chunk {
    /// Whether this is the start of the stream and begins with a byte order mark.
    fn starts_with_mark(&self) -> bool {
        self.index == 0 && self.bytes.starts_with(BOM)
    }

    /// The lines from `start` on, without line breaks.
    fn lines(&self, start: usize) -> Vec<&[u8]> {
        let text = &self.bytes[start..];
        let mut lines = Vec::with_capacity(text.len() / 256);
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', text) {
            lines.push(&text[begin..end]);
            begin = end + 1;
        }
        if begin < text.len() {
            lines.push(&text[begin..]);
        }
        lines
    }
}

impl Following<'_> {
    /// Follows the chunk. Chunks must come in order.
    fn follow(&mut self, chunk: &Chunk, lines: &[ReadLine<'_>]) -> Followed {
        let Following { observer, lines_before, max_line } = self;
        let first_line = *lines_before + 1;
        let mut settled = Vec::new();
        let mut judged = Vec::new();
        let mut routed = Vec::with_capacity(lines.len());
        if chunk.too_long {
            *lines_before += 1;
            observer.follow_too_long(*lines_before, *max_line, &mut settled);
            judged.extend(settled.drain(..).map(|judged| (0, judged)));
        }
        for (position, line) in lines.iter().enumerate() {
            *lines_before += 1;
            routed.push(observer.follow(*lines_before, line, &mut settled));
            if position + 1 == lines.len() && chunk.bytes.last() != Some(&b'\n') {
                observer.follow_unterminated(*lines_before, line.text(), &mut settled);
            }
            if position == 0 && chunk.starts_with_mark() {
                observer.follow_byte_order_mark(*lines_before, line.text(), &mut settled);
            }
            judged.extend(settled.drain(..).map(|judged| (position, judged)));
        }
        Followed { first_line, routed, judged }
    }
}

/// Judges the lines that following left to be judged, and passes on every finding, in order.
fn judge(
    engine: &Engine,
    lines: &[ReadLine<'_>],
    followed: Followed,
    findings: &mut Findings<'_>,
    found: &mut impl FnMut(Found<'_>),
) {
    let Followed { first_line, routed, judged } = followed;
    let mut settled = judged.into_iter().peekable();
    for ((position, line), routed) in lines.iter().enumerate().zip(&routed) {
        if let Routed::Judge(followed_line) = routed {
            let number = first_line + position as u64;
            findings.set_line(number);
            line.judge(engine, followed_line, findings);
            if !findings.as_slice().is_empty() {
                let text = line.message().map_or(line.text(), |message| message.raw());
                for finding in findings.take() {
                    let text = if finding.line == Some(number) { text } else { b"" };
                    found(Found { finding, text });
                }
            }
        }
        while let Some((_, judged)) = settled.next_if(|(at, _)| *at <= position) {
            hand_over(judged, found);
        }
    }
    settled.for_each(|(_, judged)| hand_over(judged, found));
}

/// Hands over what was found in a text while following.
pub(super) fn hand_over(judged: Judged, found: &mut impl FnMut(Found<'_>)) {
    for finding in judged.findings {
        found(Found { finding, text: &judged.text });
    }
}
