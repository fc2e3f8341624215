use std::sync::Arc;

use bytes::Bytes;
use mcp_core::{Refusal, Side};

use crate::{Observation, Tap};

/// Shows the lines of one conversation over standard streams to the tap.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    tap: Tap,
    name: Option<Arc<str>>,
}

impl Lane {
    pub(crate) fn new(tap: Tap, name: Option<Arc<str>>) -> Lane {
        Lane { tap, name }
    }

    /// Shows a line that is about to pass. Returns why it must not, or nothing.
    pub(crate) fn pass(&self, from: Side, line: &Bytes) -> Vec<Refusal> {
        self.show(from, Observation::stdio(from, line.clone()))
    }

    /// The same for the last bytes of a stream, if no line break follows them.
    pub(crate) fn pass_unterminated(&self, from: Side, line: &Bytes) -> Vec<Refusal> {
        self.show(from, Observation::unterminated(from, line.clone()))
    }

    /// Shows a line that was too long to be kept, and does not pass.
    pub(crate) fn skip(&self, from: Side, length: u64) {
        let skipped = Observation::stdio(from, Bytes::new()).skipping(length);
        self.tap.observe(skipped.in_session(self.name.clone()));
    }

    /// Shows what the proxy sends in the place of `from`.
    pub(crate) fn stand_in(&self, from: Side, line: &Bytes) {
        let sent = Observation::stdio(from, line.clone()).by_proxy();
        self.tap.observe(sent.in_session(self.name.clone()));
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
