use std::fmt;

use crate::{Json, Side};

/// May this message pass?
///
/// One gate stands at one conversation and sees every message of both sides, in order.
pub trait Gate: fmt::Debug + Send {
    /// Judges `message`, which `from` sends; a batch is one message.
    fn judge(&mut self, from: Side, message: &[u8]) -> Verdict;

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

/// Why a message may not pass.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "gates build it")]
pub struct Refusal {
    /// The entry of a batch; `None` is the whole message.
    pub index: Option<usize>,
    /// What kind of mistake it is.
    pub reason: RefusalReason,
    /// One sentence.
    pub message: String,
    /// What exactly is wrong, one object each.
    pub findings: Vec<Json>,
}

/// The kinds of mistakes that callers are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum RefusalReason {
    NotJson,
    NotAMessage,
    UnknownMethod,
    InvalidParams,
    HeaderMismatch,
    MissingCapability,
    UnsupportedRevision,
    /// A result, or anything else that no caller can be told to mend.
    Invalid,
}

/// Lets everything pass without looking.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has nothing")]
pub struct OpenGate;

impl Gate for OpenGate {
    fn judge(&mut self, _: Side, _: &[u8]) -> Verdict {
        Verdict::PASS
    }
}
