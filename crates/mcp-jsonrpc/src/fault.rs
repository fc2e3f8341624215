use std::fmt;

use mcp_json::Span;

/// A violation of JSON-RPC 2.0 in an envelope, and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_structs, reason = "a kind and a position, nothing else")]
pub struct EnvelopeFault {
    pub kind: FaultKind,
    pub span: Span,
}

impl fmt::Display for EnvelopeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.message())
    }
}

/// All faults in one line.
pub(crate) fn join_messages(faults: &[EnvelopeFault]) -> String {
    let faults: Vec<&str> = faults.iter().map(|fault| fault.kind.message()).collect();
    faults.join("; ")
}

/// The ways in which an object is not a JSON-RPC 2.0 message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The value is not an object (nor, at the top level, an array).
    NotObject,
    /// `jsonrpc` is missing.
    VersionMissing,
    /// `jsonrpc` is not the string `2.0`.
    VersionInvalid,
    /// None of `method`, `result` and `error` is present.
    Unclassifiable,
    /// `method` occurs together with `result` or `error`.
    MethodWithOutcome,
    /// `method` is not a string.
    MethodNotString,
    /// `method` is the empty string.
    MethodEmpty,
    /// `id` is a boolean, an array or an object.
    IdInvalid,
    /// A response has no `id`.
    ResponseWithoutId,
    /// `params` is neither an object nor an array.
    ParamsNotStructured,
    /// A response has both `result` and `error`.
    ResultAndError,
    /// `error` is not an object.
    ErrorNotObject,
    /// `error.code` is missing.
    ErrorCodeMissing,
    /// `error.code` is not an integer.
    ErrorCodeNotInteger,
    /// `error.message` is missing.
    ErrorMessageMissing,
    /// `error.message` is not a string.
    ErrorMessageNotString,
    /// A batch has no entries.
    BatchEmpty,
}

impl FaultKind {
    /// Whether the fault is in the `error` member.
    pub const fn concerns_error(self) -> bool {
        matches!(
            self,
            FaultKind::ErrorNotObject
                | FaultKind::ErrorCodeMissing
                | FaultKind::ErrorCodeNotInteger
                | FaultKind::ErrorMessageMissing
                | FaultKind::ErrorMessageNotString
        )
    }

    /// The fault in one sentence.
    pub const fn message(self) -> &'static str {
        match self {
            FaultKind::NotObject => "a message must be an object",
            FaultKind::VersionMissing => "`jsonrpc` is missing",
            FaultKind::VersionInvalid => "`jsonrpc` must be the string \"2.0\"",
            FaultKind::Unclassifiable => "the object has none of `method`, `result` and `error`",
            FaultKind::MethodWithOutcome => {
                "`method` occurs together with `result` or `error`: neither a request nor a response"
            }
            FaultKind::MethodNotString => "`method` must be a string",
            FaultKind::MethodEmpty => "`method` must not be empty",
            FaultKind::IdInvalid => "`id` must be a string, a number or null",
            FaultKind::ResponseWithoutId => "a response must carry the `id` of its request",
            FaultKind::ParamsNotStructured => "`params` must be an object or an array",
            FaultKind::ResultAndError => {
                "a response must have either `result` or `error`, not both"
            }
            FaultKind::ErrorNotObject => "`error` must be an object",
            FaultKind::ErrorCodeMissing => "`error.code` is missing",
            FaultKind::ErrorCodeNotInteger => "`error.code` must be an integer",
            FaultKind::ErrorMessageMissing => "`error.message` is missing",
            FaultKind::ErrorMessageNotString => "`error.message` must be a string",
            FaultKind::BatchEmpty => "a batch must have at least one entry",
        }
    }
}
