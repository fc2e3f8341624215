use crate::Json;

/// Why a gate rejects a message.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "gates build it")]
pub struct Refusal {
    /// The index of the batch entry; `None` for the whole message.
    pub index: Option<usize>,
    /// The kind of violation.
    pub reason: RefusalReason,
    /// One sentence.
    pub message: String,
    /// The details, one object per violation.
    pub findings: Vec<Json>,
    /// Further members of the error's `data`, which the protocol requires with this code.
    pub facts: Option<Json>,
}

/// The kinds of violations that callers can distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub enum RefusalReason {
    NotJson,
    NotAMessage,
    UnknownMethod,
    InvalidParams,
    HeaderMismatch,
    MissingCapability,
    UnsupportedRevision,
    /// A result, or anything else that the caller cannot fix.
    Invalid,
}
