use std::sync::Arc;

use bytes::Bytes;
use mcp_core::{Refusal, Side};
use mcp_json::Limits;

use super::text::one_line;
use crate::{Observation, Tap};

/// As what the messages of a conversation are recorded and judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Lines on standard streams.
    Lines,
    /// Messages over WebSocket.
    WebSocket,
}

/// Shows the messages of one conversation to the tap, in order.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    tap: Tap,
    name: Option<Arc<str>>,
    wire: Wire,
}

impl Lane {
    pub(crate) fn new(tap: Tap, name: Option<Arc<str>>, wire: Wire) -> Lane {
        Lane { tap, name, wire }
    }

    /// A text as it can be carried: a message must not have line breaks on standard streams.
    pub(crate) fn carried(&self, text: Bytes, limits: Limits) -> Bytes {
        match self.wire {
            Wire::Lines => one_line(text, limits),
            Wire::WebSocket => text,
        }
    }

    /// Shows a message that is about to pass. Returns why it must not, or nothing.
    pub(crate) fn pass(&self, from: Side, text: &Bytes) -> Vec<Refusal> {
        self.show(from, self.seen(from, text.clone()))
    }

    /// The same for the last bytes of a stream, if no line break follows them.
    pub(crate) fn pass_unterminated(&self, from: Side, text: &Bytes) -> Vec<Refusal> {
        let seen = match self.wire {
            Wire::Lines => Observation::unterminated(from, text.clone()),
            Wire::WebSocket => Observation::web_socket(from, text.clone()),
        };
        self.show(from, seen)
    }

    /// Shows a message that was too long to be kept, and does not pass.
    pub(crate) fn skip(&self, from: Side, length: u64) {
        let skipped = self.seen(from, Bytes::new()).skipping(length);
        self.tap.observe(skipped.in_session(self.name.clone()));
    }

    /// Shows what the proxy sends in the place of `from`.
    pub(crate) fn stand_in(&self, from: Side, text: &Bytes) {
        let sent = self.seen(from, text.clone()).by_proxy();
        self.tap.observe(sent.in_session(self.name.clone()));
    }

    fn seen(&self, from: Side, text: Bytes) -> Observation {
        match self.wire {
            Wire::Lines => Observation::stdio(from, text),
            Wire::WebSocket => Observation::web_socket(from, text),
        }
    }

    fn show(&self, from: Side, seen: Observation) -> Vec<Refusal> {
        let seen = seen.in_session(self.name.clone());
        if self.tap.enforces_on(from) {
            return self.tap.judge(seen);
        }
        self.tap.observe(seen);
        Vec::new()
    }
}
