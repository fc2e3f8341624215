use std::sync::Arc;

use bytes::Bytes;
use mcp_core::Side;
use mcp_json::Limits;

use super::text::one_line;
use crate::{Observation, Tap, Verdict};

/// The transport as which messages of a conversation are recorded and judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Lines on standard streams.
    Lines,
    /// Messages over WebSocket.
    WebSocket,
}

/// The tap for the messages of one conversation, in order.
#[derive(Debug, Clone)]
pub(crate) struct ConversationTap {
    tap: Tap,
    name: Option<Arc<str>>,
    wire: Wire,
}

impl ConversationTap {
    pub(crate) fn new(tap: Tap, name: Option<Arc<str>>, wire: Wire) -> ConversationTap {
        ConversationTap { tap, name, wire }
    }

    /// The text in a form that the transport can carry: without line breaks over stdio.
    pub(crate) fn carried(&self, text: Bytes, limits: Limits) -> Bytes {
        match self.wire {
            Wire::Lines => one_line(text, limits),
            Wire::WebSocket => text,
        }
    }

    /// Judges a message before it passes.
    pub(crate) fn pass(&self, from: Side, text: &Bytes) -> Verdict {
        self.show(from, self.seen(from, text.clone()))
    }

    /// Judges the last bytes of a stream that does not end with a line break.
    pub(crate) fn pass_unterminated(&self, from: Side, text: &Bytes) -> Verdict {
        let seen = match self.wire {
            Wire::Lines => Observation::unterminated(from, text.clone()),
            Wire::WebSocket => Observation::web_socket(from, text.clone()),
        };
        self.show(from, seen)
    }

    /// Records a message that was too long to be kept, and does not pass.
    pub(crate) fn skip(&self, from: Side, length: u64) {
        let skipped = self.seen(from, Bytes::new()).skipping(length);
        self.tap.observe(skipped.in_session(self.name.clone()));
    }

    /// Records a message that the proxy sends on behalf of `from`.
    pub(crate) fn stand_in(&self, from: Side, text: &Bytes) {
        let sent = self.seen(from, text.clone()).by_proxy();
        self.tap.observe(sent.in_session(self.name.clone()));
    }

    /// Records the replacement of a message of `from` that was held back.
    pub(crate) fn replace(&self, from: Side, verdict: &Verdict, text: &Bytes) {
        let passed = self.seen(from, text.clone()).replacing(verdict.line);
        self.tap.observe(passed.in_session(self.name.clone()));
    }

    fn seen(&self, from: Side, text: Bytes) -> Observation {
        match self.wire {
            Wire::Lines => Observation::stdio(from, text),
            Wire::WebSocket => Observation::web_socket(from, text),
        }
    }

    fn show(&self, from: Side, seen: Observation) -> Verdict {
        let seen = seen.in_session(self.name.clone());
        if self.tap.enforces_on(from) {
            return self.tap.judge(seen);
        }
        self.tap.observe(seen);
        Verdict::default()
    }
}
