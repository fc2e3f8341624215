use std::sync::Arc;

use bytes::Bytes;
use mcp_core::Side;

use crate::{Observation, Tap, Verdict};

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

    /// Shows a line that is about to pass, and decides whether it may.
    pub(crate) fn pass(&self, from: Side, line: &Bytes) -> Verdict {
        self.show(from, Observation::stdio(from, line.clone()))
    }

    /// The same for the last bytes of a stream, if no line break follows them.
    pub(crate) fn pass_unterminated(&self, from: Side, line: &Bytes) -> Verdict {
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

    /// Shows what is passed on instead of a line of `from` that was held back.
    pub(crate) fn replace(&self, from: Side, verdict: &Verdict, line: &Bytes) {
        let passed = Observation::stdio(from, line.clone()).replacing(verdict.line);
        self.tap.observe(passed.in_session(self.name.clone()));
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
