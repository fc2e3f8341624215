use crate::{Json, Refusal, RefusalReason, Revision};

/// Why a request was not served. Which number that is on a wire is the adapter's business.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum Error {
    #[error("there is no method `{method}` here")]
    MethodNotFound { method: String },
    #[error("there is no tool `{name}` here")]
    ToolNotFound { name: String },
    #[error("there is no prompt `{name}` here")]
    PromptNotFound { name: String },
    #[error("there is no resource `{uri}` here")]
    ResourceNotFound { uri: String },
    /// What the caller sent does not fit; `findings` say where, if that is known.
    #[error("{message}")]
    InvalidParams { message: String, findings: Vec<Json> },
    /// The arguments of a tool do not fit it. How that is answered is for the settings of the server
    /// to say, as for arguments that break the schema; `InvalidParams` is an error of the protocol
    /// always.
    #[error("{message}")]
    InvalidArguments { message: String, findings: Vec<Json> },
    /// A request does not carry what every request of its revision must.
    #[error("{message}")]
    InvalidMeta { message: String },
    /// A tool ran and failed.
    #[error("{message}")]
    ToolError { message: String },
    /// The client would have to offer something it did not declare; `required` is written like the
    /// capabilities it should have declared.
    #[error("the client has not declared a capability that this needs: {required}")]
    MissingCapability { required: Json },
    #[error("the protocol version `{requested}` is not spoken here")]
    UnsupportedRevision { requested: String, supported: Vec<Revision> },
    /// What stands around the message (HTTP headers) contradicts what is in it.
    #[error("{message}")]
    HeaderMismatch { message: String },
    /// The user must visit pages first; `elicitations` is a list of URL elicitations.
    #[error("the user has to complete something in a browser first")]
    UrlElicitationRequired { elicitations: Json },
    /// The client has to answer questions first. A tool passes this on; the questions are kept in
    /// its context.
    #[error("the client has to answer questions first")]
    InputRequired,
    /// A legacy conversation did not begin with its handshake.
    #[error("the conversation has to begin with `initialize`")]
    NotInitialized,
    /// A gate did not let the message pass.
    #[error("{}", .0.message)]
    Refused(Refusal),
    #[error("too many requests are waiting for their answer")]
    Busy,
    /// Nobody waits for the answer any more.
    #[error("the request was cancelled")]
    Cancelled,
    #[error("{message}")]
    Internal { message: String },
    /// An error with a code of its own: an application's, or one that is passed on.
    #[error("{message}")]
    Coded { code: i64, message: String, data: Option<Json> },
}

impl Error {
    /// The params do not fit, in one sentence.
    pub fn invalid_params(message: impl Into<String>) -> Error {
        Error::InvalidParams { message: message.into(), findings: Vec::new() }
    }

    /// We failed, in one sentence.
    pub fn internal(message: impl Into<String>) -> Error {
        Error::Internal { message: message.into() }
    }

    /// The kind of error in one word, as `error_type` shows it.
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
