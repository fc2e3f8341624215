use crate::{
    Json, Refusal, RefusalReason, Revision,
    excerpt::{NAME, excerpt},
};

/// Why a request failed. Adapters map it to the error codes of their wire format.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe them")]
#[non_exhaustive]
pub enum Error {
    #[error("unknown method `{}`", excerpt(method, NAME))]
    MethodNotFound { method: String },
    #[error("unknown tool `{}`", excerpt(name, NAME))]
    ToolNotFound { name: String },
    #[error("unknown prompt `{}`", excerpt(name, NAME))]
    PromptNotFound { name: String },
    #[error("resource not found: `{}`", excerpt(uri, NAME))]
    ResourceNotFound { uri: String },
    /// The params are invalid; `findings` say where, if that is known.
    #[error("{message}")]
    InvalidParams { message: String, findings: Vec<Json> },
    /// A tool rejects its arguments. The server's settings decide whether the client gets a protocol
    /// error or a tool result, as for arguments that violate the schema; `InvalidParams` is always a
    /// protocol error.
    #[error("{message}")]
    InvalidArguments { message: String, findings: Vec<Json> },
    /// The request lacks metadata that its revision requires on every request.
    #[error("{message}")]
    InvalidMeta { message: String },
    /// A tool ran and failed.
    #[error("{message}")]
    ToolError { message: String },
    /// The client did not declare a required capability; `required` has the form of the
    /// capabilities it should have declared.
    #[error("the client has not declared a required capability: {required}")]
    MissingCapability { required: Json },
    #[error("unsupported protocol version `{}`", excerpt(requested, NAME))]
    UnsupportedRevision { requested: String, supported: Vec<Revision> },
    /// The message's HTTP headers contradict its body.
    #[error("{message}")]
    HeaderMismatch { message: String },
    /// The user must visit pages first; `elicitations` is a list of URL elicitations.
    #[error("the user must complete a step in a browser first")]
    UrlElicitationRequired { elicitations: Json },
    /// The client must provide input first. A tool returns this error unchanged; the questions are
    /// kept in its context.
    #[error("input from the client is required")]
    InputRequired,
    /// A legacy conversation did not begin with its handshake.
    #[error("the conversation must begin with `initialize`")]
    NotInitialized,
    /// A gate rejected the message.
    #[error("{}", .0.message)]
    Refused(Refusal),
    #[error("too many requests in flight")]
    Busy,
    /// The caller no longer waits for the response.
    #[error("the request was cancelled")]
    Cancelled,
    #[error("{message}")]
    Internal { message: String },
    /// An error with its own code: application-defined, or forwarded from elsewhere.
    #[error("{message}")]
    Coded { code: i64, message: String, data: Option<Json> },
}

impl Error {
    /// The params are invalid; `message` is one sentence.
    pub fn invalid_params(message: impl Into<String>) -> Error {
        Error::InvalidParams { message: message.into(), findings: Vec::new() }
    }

    /// The server failed; `message` is one sentence.
    pub fn internal(message: impl Into<String>) -> Error {
        Error::Internal { message: message.into() }
    }

    /// The kind of error as an identifier, used for `error_type`.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::MethodNotFound { .. } => "method_not_found",
            Error::ToolNotFound { .. } => "tool_not_found",
            Error::PromptNotFound { .. } => "prompt_not_found",
            Error::ResourceNotFound { .. } => "resource_not_found",
            Error::InvalidParams { .. } | Error::InvalidArguments { .. } => "invalid_params",
            Error::InvalidMeta { .. } => "invalid_meta",
            Error::ToolError { .. } => "tool_error",
            Error::MissingCapability { .. } => "missing_capability",
            Error::UnsupportedRevision { .. } => "unsupported_revision",
            Error::HeaderMismatch { .. } => "header_mismatch",
            Error::UrlElicitationRequired { .. } => "url_elicitation_required",
            Error::InputRequired => "input_required",
            Error::NotInitialized => "not_initialized",
            Error::Refused(refusal) if refusal.reason == RefusalReason::Invalid => "internal_error",
            Error::Refused(_) => "refused",
            Error::Busy => "busy",
            Error::Cancelled => "cancelled",
            Error::Internal { .. } => "internal_error",
            Error::Coded { .. } => "coded",
        }
    }
}
