use std::fmt;

use mcp_core::{Refusal, Side};
use mcp_json::{Parsed, SyntaxError};

/// May this message pass?
///
/// One gate stands at one conversation and sees every message of both sides, in order.
pub trait Gate: fmt::Debug + Send {
    /// Whether it lets everything pass without looking, so that messages of ours need not be parsed
    /// for it.
    fn is_open(&self) -> bool {
        false
    }

    /// Judges `message`, which `from` sends; a batch is one message.
    fn judge(&mut self, from: Side, message: &Parsed) -> Verdict;

    /// Judges text from which no message could be read.
    fn judge_unreadable(&mut self, from: Side, text: &[u8], error: &SyntaxError) -> Verdict;

    /// Notes text that is too long to be kept, let alone judged.
    fn skipped(&mut self, from: Side, length: u64) {
        let _ = (from, length);
    }
}

/// What a gate says about a message.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a list")]
pub struct Verdict {
    /// Why it may not pass; empty if it may. In a batch each bad entry has its own.
    pub refusals: Vec<Refusal>,
}

impl Verdict {
    /// It may pass.
    pub const PASS: Verdict = Verdict { refusals: Vec::new() };

    /// The refusal of the message as a whole, or of entry `index` of a batch.
    pub fn refusal(&self, index: Option<usize>) -> Option<&Refusal> {
        self.refusals.iter().find(|refusal| refusal.index.is_none() || refusal.index == index)
    }
}

/// Lets everything pass without looking.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has nothing")]
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
