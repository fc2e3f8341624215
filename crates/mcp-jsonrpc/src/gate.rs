use std::fmt;

use mcp_core::{Refusal, Side};
use mcp_json::{Parsed, SyntaxError};

/// Decides which messages may pass.
///
/// A gate belongs to one conversation and sees every message from both sides, in order.
pub trait Gate: fmt::Debug + Send {
    /// Whether this gate always passes everything without reading it, so that outgoing messages need
    /// not be parsed for it.
    fn is_open(&self) -> bool {
        false
    }

    /// Judges `message`, sent by `from`. A batch is one message.
    fn judge(&mut self, from: Side, message: &Parsed) -> Verdict;

    /// Judges text that is not JSON.
    fn judge_unreadable(&mut self, from: Side, text: &[u8], error: &SyntaxError) -> Verdict;

    /// Records that a message over the size limit was discarded unread.
    fn skipped(&mut self, from: Side, length: u64) {
        let _ = (from, length);
    }
}

/// A gate's decision about a message.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a list")]
pub struct Verdict {
    /// Why the message is rejected; empty if it passes. In a batch, one refusal for each rejected
    /// entry in order, preceded by that of the batch as a whole if there is one.
    pub refusals: Vec<Refusal>,
}

impl Verdict {
    /// The message passes.
    pub const PASS: Verdict = Verdict { refusals: Vec::new() };

    /// The refusal that applies to entry `index` of a batch, or to the message as a whole.
    pub fn refusal(&self, index: Option<usize>) -> Option<&Refusal> {
        if let Some(whole) = self.refusals.first().filter(|refusal| refusal.index.is_none()) {
            return Some(whole);
        }
        let position = self.refusals.binary_search_by_key(&index, |refusal| refusal.index).ok()?;
        self.refusals.get(position)
    }
}

/// Passes every message unread.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct OpenGate;

impl Gate for OpenGate {
    fn is_open(&self) -> bool {
        true
    }

    fn judge(&mut self, _: Side, _: &Parsed) -> Verdict {
        Verdict::PASS
    }

    fn judge_unreadable(&mut self, _: Side, _: &[u8], _: &SyntaxError) -> Verdict {
        Verdict::PASS
    }
}
