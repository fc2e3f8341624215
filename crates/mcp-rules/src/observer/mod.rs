//! Follows recorded lines: the conversation a line belongs to, its content, and how it was framed.

mod accepted;
mod conversations;
mod footprint;
mod http;
mod ruling;
mod stdio;
mod suspended;

use mcp_core::{Revision, Side};
use mcp_json::{Node, SyntaxError, SyntaxErrorKind};

use self::{conversations::Conversation, http::HttpLine};
pub use self::{
    ruling::{BlockReason, Ruling},
    suspended::SuspendedObserver,
};
use crate::{
    Carrier, Content, Engine, Finding, Findings, Followed, Line, ReadLine, Record, RecordFault,
    Session, Severity,
    conversation::Moment,
    findings::{Fault, Scene, Unjudged},
    trace::Unread,
    wire::framing,
};

/// What is known about a recording before it is read.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct RecordingInfo {
    /// The revision to judge by, whatever the peers say.
    pub revision: Option<Revision>,
    /// Who wrote the lines of a plain NDJSON file. If given, the file is treated as what that side
    /// wrote to its stream, including blank lines.
    pub from: Option<Side>,
    /// Whether conversations are recorded from their start. Otherwise that is inferred from the
    /// traffic.
    pub from_start: bool,
}

/// How to proceed with a line.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "these are the cases there are")]
pub enum Routed {
    /// A message: judge it, when and wherever convenient, with [`ReadLine::judge`].
    Judge(Followed),
    /// Nothing is left to do.
    Done,
}

/// A text and its findings, if it was judged while following.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "two things that belong together")]
pub struct Judged {
    /// The message, or the line if there was none.
    pub text: Vec<u8>,
    /// At least one.
    pub findings: Vec<Finding>,
}

/// Follows the lines of one file, in order.
#[derive(Debug)]
pub struct Observer<'e> {
    engine: &'e Engine,
    /// What it knows between two lines.
    kept: SuspendedObserver,
    /// How many more errors and warnings may be kept for the current line.
    room: [usize; 2],
    /// Messages on the current line that must not pass a gate although no finding was reported.
    unjudged: Vec<Unjudged>,
}

impl<'e> Observer<'e> {
    /// Creates an observer for the start of a file.
    pub fn new(engine: &'e Engine, info: RecordingInfo) -> Observer<'e> {
        SuspendedObserver::new(&engine.settings().limits, info).resume(engine)
    }

    /// The sessions of the file, to inspect, save or replace by saved ones.
    pub fn sessions_mut(&mut self) -> impl Iterator<Item = (&[u8], &mut Session)> {
        self.kept.conversations.iter_mut()
    }

    /// Continues the conversation of this name from a saved session.
    pub fn restore(&mut self, name: &[u8], session: Session) {
        self.kept.is_trace = true;
        self.kept.conversations.named(name, self.engine, self.kept.info).session = session;
    }

    /// The number of messages so far.
    pub fn messages(&self) -> u64 {
        self.kept.messages
    }

    /// The number of results without a matching request; known once the file has ended.
    pub fn unmatched_results(&self) -> u64 {
        self.kept.unmatched_results
    }

    /// How many findings of messages judged while following were dropped because there were too
    /// many.
    pub fn dropped(&self) -> u64 {
        self.kept.dropped
    }

    /// Follows line `number`. Findings made on the way are appended to `judged`.
    pub fn follow(&mut self, number: u64, line: &ReadLine<'_>, judged: &mut Vec<Judged>) -> Routed {
        self.room = [self.engine.settings().limits.findings; 2];
        self.unjudged.clear();
        if self.kept.conversations.are_too_large() {
            self.release(judged);
        }
        let first = judged.len();
        let routed = self.route(number, line, judged);
        if line.record().is_some_and(|record| record.is_stand_in) {
            self.absolve(number, first, judged);
        }
        self.kept.conversations.note_line(line.text.len());
        routed
    }

    /// Drops the findings about line `number` itself: a peer is not to blame for what someone else
    /// sent in its place.
    fn absolve(&mut self, number: u64, first: usize, judged: &mut Vec<Judged>) {
        self.unjudged.clear();
        for text in judged.iter_mut().skip(first) {
            text.findings.retain(|finding| finding.line != Some(number));
        }
        judged.retain(|text| !text.findings.is_empty());
    }

    /// Forgets conversations that take too much memory. For those that have ended, findings that
    /// depend on the end are reported.
    fn release(&mut self, judged: &mut Vec<Judged>) {
        for mut conversation in self.kept.conversations.release() {
            if conversation.session.is_over() {
                self.finish_conversation(&mut conversation, judged);
            } else {
                self.kept.unmatched_results += conversation.session.unmatched_results();
            }
        }
    }

    fn route(&mut self, number: u64, line: &ReadLine<'_>, judged: &mut Vec<Judged>) -> Routed {
        let text = line.text;
        match line.content {
            Err(Unread::Syntax(error)) => {
                self.follow_unparsed(number, text, error, judged);
                Routed::Done
            }
            Ok(Line::Bare(message)) if self.kept.is_trace && !resembles_message(*message) => {
                let message = "the line is neither a trace record nor a JSON-RPC message";
                self.report(
                    number,
                    text,
                    Fault::new(&framing::TRACE_LINE_INVALID, message),
                    judged,
                );
                Routed::Done
            }
            Ok(Line::Bare(message)) => self.follow_bare(number, line, *message, judged),
            Ok(Line::Record(record)) => {
                if record.is_gap {
                    self.kept.is_trace = true;
                    self.forget();
                    return Routed::Done;
                }
                if record.process.is_some() {
                    // Standard error and the exit of a process are not part of the conversation.
                    self.kept.is_trace = true;
                    return Routed::Done;
                }
                if record.replaces.is_some() {
                    // The replaced line was followed instead.
                    self.kept.is_trace = true;
                    return Routed::Done;
                }
                if let Some(length) = record.skipped {
                    self.follow_skipped(number, record, length, judged);
                    return Routed::Done;
                }
                let routed = match HttpLine::of(number, record, line) {
                    Some(line) => self.follow_http(&line, text, judged),
                    None => self.follow_record(number, record, line, judged),
                };
                if record.ends {
                    self.report_unterminated(number, Some(record.from), text, judged);
                }
                routed
            }
            Err(Unread::Record(fault)) => {
                if !self.kept.habits.contains(fault) {
                    let message = fault.to_string();
                    // Reported once, as a recorder that writes one such line writes all of them so.
                    if matches!(fault, RecordFault::ExchangeInvalid | RecordFault::HeadersInvalid) {
                        self.kept.habits.push(fault.clone());
                    }
                    let fault = Fault::new(&framing::TRACE_LINE_INVALID, message);
                    self.report(number, text, fault, judged);
                }
                Routed::Done
            }
        }
    }

    /// Reports a line that was too long to be read.
    pub fn follow_too_long(&mut self, number: u64, limit: usize, judged: &mut Vec<Judged>) {
        self.report(number, b"", framing::too_long(None, limit), judged);
    }

    /// Forgets all conversations, since lines were missed: the next lines join them in the middle.
    pub fn forget(&mut self) {
        self.kept.conversations.clear();
    }

    /// Reports a text that was too long to be recorded. Neither the text nor the HTTP around it is
    /// followed.
    fn follow_skipped(
        &mut self,
        number: u64,
        record: &Record<'_>,
        length: u64,
        judged: &mut Vec<Judged>,
    ) {
        self.kept.is_trace = true;
        let conversation =
            self.kept.conversations.named(&record.session, self.engine, self.kept.info);
        conversation.session.note_unreadable(Some(record.from));
        let limit = self.engine.settings().limits.message_bytes;
        let fault = framing::too_long(usize::try_from(length).ok(), limit);
        self.report_from(number, Some(record.from), b"", fault, judged);
    }

    /// Reports a byte order mark before the first line, except in a trace, where the recorder wrote
    /// it.
    pub fn follow_byte_order_mark(&mut self, number: u64, text: &[u8], judged: &mut Vec<Judged>) {
        if !self.kept.is_trace {
            self.report_from(number, self.kept.info.from, text, byte_order_mark(), judged);
        }
    }

    /// Reports a last line without a line break.
    pub fn follow_unterminated(&mut self, number: u64, text: &[u8], judged: &mut Vec<Judged>) {
        if self.kept.info.from.is_some() && !self.kept.is_trace {
            self.report_unterminated(number, self.kept.info.from, text, judged);
        }
    }

    /// Called at the end of the file.
    pub fn finish(&mut self, judged: &mut Vec<Judged>) {
        self.room = [self.engine.settings().limits.findings; 2];
        for mut conversation in self.kept.conversations.drain() {
            self.finish_conversation(&mut conversation, judged);
        }
    }

    fn finish_conversation(&mut self, conversation: &mut Conversation, judged: &mut Vec<Judged>) {
        self.kept.unmatched_results += conversation.session.unmatched_results();
        for side in Side::BOTH {
            self.finish_raw(side, conversation, judged);
        }
        let mut findings = Findings::new(self.engine.settings());
        self.engine.finish(&mut conversation.session, &mut findings);
        self.keep(b"", findings, judged);
    }

    fn follow_bare(
        &mut self,
        number: u64,
        line: &ReadLine<'_>,
        message: Node<'_>,
        judged: &mut Vec<Judged>,
    ) -> Routed {
        let from = self.kept.info.from;
        if self.is_too_long(number, from, message, judged) {
            return Routed::Done;
        }
        let conversation = self.kept.conversations.named(b"", self.engine, self.kept.info);
        if from.is_some() {
            conversation.session.hear_one_side();
        }
        if let Some(side) = from
            && !conversation.framers[side as usize].is_idle()
        {
            self.follow_raw(number, b"", side, line.text, judged);
            return Routed::Done;
        }
        self.kept.messages += 1;
        let at = Moment::on_line(Some(number));
        let session = &mut conversation.session;
        let followed = self.engine.follow_read(session, from, message, line.single, at);
        Routed::Judge(self.compare_versions(number, followed))
    }

    fn follow_record(
        &mut self,
        number: u64,
        record: &Record<'_>,
        line: &ReadLine<'_>,
        judged: &mut Vec<Judged>,
    ) -> Routed {
        self.kept.is_trace = true;
        let name = &record.session;
        match &record.content {
            Content::Nothing => Routed::Done,
            Content::Message(message)
                if self.is_too_long(number, Some(record.from), *message, judged) =>
            {
                Routed::Done
            }
            Content::Message(message) => {
                let conversation = self.kept.conversations.named(name, self.engine, self.kept.info);
                // A line sent by someone else in its place does not interrupt the side's own line.
                let is_idle = conversation.framers[record.from as usize].is_idle();
                if !is_idle && !record.is_stand_in {
                    self.follow_raw(number, name, record.from, message.raw(), judged);
                    return Routed::Done;
                }
                self.follow_message(number, record, *message, line)
            }
            Content::Raw(_) | Content::Data | Content::Body => {
                self.follow_text(number, record, line, judged)
            }
        }
    }

    /// Follows a record that holds text and belongs to no exchange.
    fn follow_text(
        &mut self,
        number: u64,
        record: &Record<'_>,
        line: &ReadLine<'_>,
        judged: &mut Vec<Judged>,
    ) -> Routed {
        let (name, text) = (&record.session, record.text().unwrap_or_default());
        if text.is_empty() && record.carrier == Carrier::SseEvent {
            return Routed::Done;
        }
        let conversation = self.kept.conversations.named(name, self.engine, self.kept.info);
        // On stdio only one whole line is a message, and only if no earlier line is incomplete.
        let is_cut = record.carrier == Carrier::Stdio
            && (memchr::memchr(b'\n', text).is_some()
                || !conversation.framers[record.from as usize].is_idle());
        match line.value {
            Some(Ok(message)) if !is_cut => {
                self.without_mark(number, Some(record.from), text, judged);
                self.follow_message(number, record, message, line)
            }
            _ if record.carrier == Carrier::Stdio => {
                self.follow_raw(number, name, record.from, text, judged);
                Routed::Done
            }
            _ => {
                let (place, mut conversation) =
                    self.kept.conversations.take(name, self.engine, self.kept.info);
                let session = &mut conversation.session;
                self.judge_text(number, record.carrier, session, Some(record.from), text, judged);
                self.kept.conversations.put_back(place, conversation);
                Routed::Done
            }
        }
    }

    fn follow_message(
        &mut self,
        number: u64,
        record: &Record<'_>,
        message: Node<'_>,
        line: &ReadLine<'_>,
    ) -> Routed {
        self.kept.messages += 1;
        let at = record.moment(number);
        let conversation =
            self.kept.conversations.named(&record.session, self.engine, self.kept.info);
        let session = &mut conversation.session;
        let from = Some(record.from);
        let followed = self.engine.follow_read(session, from, message, line.single, at);
        Routed::Judge(self.compare_versions(number, followed))
    }

    /// Checks that a server seen in several sessions is consistent about versions.
    fn compare_versions(&mut self, number: u64, mut followed: Followed) -> Followed {
        let capacity = self.engine.settings().limits.remembered;
        self.kept.accepted.compare(number, &mut followed, capacity);
        followed
    }

    /// Follows a line of the file that is not JSON at all.
    fn follow_unparsed(
        &mut self,
        number: u64,
        text: &[u8],
        error: &SyntaxError,
        judged: &mut Vec<Judged>,
    ) {
        if self.kept.is_trace {
            if error.kind != SyntaxErrorKind::Empty {
                let message = format!("the line is not a trace record: {error}");
                let fault = Fault::new(&framing::TRACE_LINE_INVALID, message);
                self.report(number, text, fault, judged);
            }
            return;
        }
        if error.kind == SyntaxErrorKind::Empty && self.kept.info.from.is_none() {
            return;
        }
        let side = self.kept.info.from.unwrap_or(Side::Server);
        self.follow_raw(number, b"", side, text, judged);
    }

    /// Parses and judges one text immediately.
    fn judge_text(
        &mut self,
        line: u64,
        carrier: Carrier,
        session: &mut Session,
        from: Option<Side>,
        text: &[u8],
        judged: &mut Vec<Judged>,
    ) {
        self.kept.messages += 1;
        let text = self.without_mark(line, from, text, judged);
        let mut findings = Findings::new(self.engine.settings());
        findings.set_line(line);
        match self.kept.tape.parse(text, self.engine.settings().limits.json()) {
            Ok(document) => {
                let at = Moment::on_line(Some(line));
                self.engine.check_at(session, from, document.root(), at, &mut findings);
            }
            Err(error) => {
                self.engine.judge_unreadable(carrier, session, from, text, &error, &mut findings);
            }
        }
        self.keep(text, findings, judged);
    }

    /// Strips a byte order mark from the text, and reports it.
    fn without_mark<'t>(
        &mut self,
        line: u64,
        from: Option<Side>,
        text: &'t [u8],
        judged: &mut Vec<Judged>,
    ) -> &'t [u8] {
        let Some(rest) = text.strip_prefix(framing::BOM) else { return text };
        self.report_from(line, from, rest, byte_order_mark(), judged);
        rest
    }

    /// Reports a message over the limit, which is then skipped.
    fn is_too_long(
        &mut self,
        line: u64,
        from: Option<Side>,
        message: Node<'_>,
        judged: &mut Vec<Judged>,
    ) -> bool {
        let (length, limit) = (message.raw().len(), self.engine.settings().limits.message_bytes);
        if length <= limit {
            return false;
        }
        let fault = framing::too_long(Some(length), limit);
        self.report_from(line, from, message.raw(), fault, judged);
        true
    }

    fn report_unterminated(
        &mut self,
        line: u64,
        from: Option<Side>,
        text: &[u8],
        judged: &mut Vec<Judged>,
    ) {
        let fault = Fault::new(&framing::UNTERMINATED_LINE, "the stream ends inside a line")
            .help("end every message with a line break, the last one too");
        self.report_from(line, from, text, fault, judged);
    }

    fn report(&mut self, line: u64, text: &[u8], fault: Fault, judged: &mut Vec<Judged>) {
        self.report_from(line, None, text, fault, judged);
    }

    fn report_from(
        &mut self,
        line: u64,
        from: Option<Side>,
        text: &[u8],
        fault: Fault,
        judged: &mut Vec<Judged>,
    ) {
        let mut findings = Findings::new(self.engine.settings());
        *findings.scene() = Scene { from, line: Some(line), ..Scene::default() };
        findings.report(fault);
        self.keep(text, findings, judged);
    }

    /// Appends the findings in a text to `judged`, as far as the limits allow: one line may complete
    /// a million others. Warnings do not crowd out errors.
    fn keep(&mut self, text: &[u8], mut findings: Findings<'_>, judged: &mut Vec<Judged>) {
        self.kept.dropped += findings.take_dropped();
        self.unjudged.append(&mut findings.take_unjudged());
        let mut findings = findings.take();
        findings.retain(|finding| {
            let room = &mut self.room[usize::from(finding.severity == Severity::Error)];
            let fits = *room > 0;
            *room -= usize::from(fits);
            self.kept.dropped += u64::from(!fits);
            fits
        });
        if !findings.is_empty() {
            judged.push(Judged { text: text.into(), findings });
        }
    }
}

/// Whether a value is at least meant to be a message.
fn resembles_message(value: Node<'_>) -> bool {
    !value.is_object()
        || ["jsonrpc", "method", "result", "error"]
            .into_iter()
            .any(|member| value.get(member).is_some())
}

fn byte_order_mark() -> Fault {
    Fault::new(&framing::BYTE_ORDER_MARK, "a byte order mark precedes the message")
        .help("write UTF-8 without a byte order mark")
}
