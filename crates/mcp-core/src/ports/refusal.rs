use crate::Json;

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
