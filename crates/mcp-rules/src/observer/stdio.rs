//! Text on stdio streams, split into messages.

use mcp_core::Side;

use super::{Judged, Observer, conversations::Conversation};
use crate::{Carrier, Cut, Framed, Session, findings::Fault, wire::framing};

/// The unfinished messages of all conversations may take as much memory as this many messages.
const MOST_WAITING: usize = 4;

impl Observer<'_> {
    /// Splits text on a stdio stream and judges the messages.
    pub(super) fn follow_raw(
        &mut self,
        number: u64,
        name: &[u8],
        from: Side,
        text: &[u8],
        judged: &mut Vec<Judged>,
    ) {
        let (place, mut conversation) =
            self.kept.conversations.take(name, self.engine, self.kept.info);
        let Conversation { session, framers, .. } = &mut *conversation;
        let limits = self.engine.settings().limits.json();
        let writer = self.writer(from);
        framers[from as usize].push(number, text, limits, &mut |framed| {
            self.judge_framed(framed, session, writer, judged);
        });
        let waiting = self.kept.conversations.waiting_bytes() + conversation.waiting_bytes();
        if waiting > limits.max_bytes.saturating_mul(MOST_WAITING) {
            self.finish_raw(from, &mut conversation, judged);
        }
        self.kept.conversations.put_back(place, conversation);
    }

    /// Handles the end of the stream of `from`.
    pub(super) fn finish_raw(
        &mut self,
        from: Side,
        conversation: &mut Conversation,
        judged: &mut Vec<Judged>,
    ) {
        let Conversation { session, framers, .. } = conversation;
        let limits = self.engine.settings().limits.json();
        let writer = self.writer(from);
        framers[from as usize].finish(limits, &mut |framed| {
            self.judge_framed(framed, session, writer, judged);
        });
    }

    /// Who wrote the stream of `side`. For a plain NDJSON file, only the user knows.
    fn writer(&self, side: Side) -> Option<Side> {
        if self.kept.is_trace { Some(side) } else { self.kept.info.from }
    }

    fn judge_framed(
        &mut self,
        framed: Framed,
        session: &mut Session,
        from: Option<Side>,
        judged: &mut Vec<Judged>,
    ) {
        match framed {
            Framed::Message { line, text, cut } => {
                if let Some(fault) = cut_fault(cut) {
                    self.report_from(line, from, &text, fault, judged);
                }
                self.judge_text(line, Carrier::Stdio, session, from, &text, judged);
            }
            Framed::Unreadable { line, text, .. } => {
                self.judge_text(line, Carrier::Stdio, session, from, &text, judged);
            }
            Framed::Blank { line } => {
                let fault = Fault::new(&framing::BLANK_LINE, "a blank line is not a message");
                self.report_from(line, from, b"", fault, judged);
            }
        }
    }
}

fn cut_fault(cut: Cut) -> Option<Fault> {
    match cut {
        Cut::Line | Cut::FurtherOfSeveral => None,
        Cut::FirstOfSeveral => Some(
            Fault::new(&framing::MULTIPLE_MESSAGES, "one line contains several messages")
                .help("end every message with a line break"),
        ),
        Cut::SeveralLines => Some(
            Fault::new(&framing::EMBEDDED_NEWLINE, "one message is spread over several lines")
                .help("write each message on one line: no pretty-printing on stdio"),
        ),
    }
}
