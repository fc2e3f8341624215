use mcp_core::{PeerError, TransportError};

/// Why a call did not bring what was asked for.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with an error, with nothing, or not at all.
    #[error("`{method}`: {source}")]
    Call { method: String, source: PeerError },
    /// The answer passed validation (or there was none) and still cannot be read.
    #[error("the answer to `{method}` cannot be read")]
    Unreadable { method: String, source: serde_json::Error },
    #[error("the params of `{method}` cannot be written")]
    Unwritable { method: String, source: serde_json::Error },
    #[error("could not connect")]
    Connect(#[source] TransportError),
    /// The two sides have no revision in common.
    #[error("the server speaks {theirs}, which this client does not")]
    NoCommonRevision { theirs: String },
    /// The revision in use has no such thing.
    #[error("{what} does not exist in revision {revision}")]
    NotInRevision { what: &'static str, revision: mcp_core::Revision },
    /// The server keeps asking for input.
    #[error("`{method}` was not finished after {rounds} rounds of input")]
    TooManyRounds { method: String, rounds: usize },
    /// What should answer a question of the server failed.
    #[error("`{asked}` could not be answered: {reason}")]
    HandlerFailed { asked: String, reason: String },
    /// The server's list does not end.
    #[error("`{method}` goes on after {pages} pages")]
    TooManyPages { method: String, pages: usize },
    /// The server wants something from the client that it never offered.
    #[error("the server asks for `{asked}`, which this client does not offer")]
    CannotAnswer { asked: String },
}

impl ClientError {
    /// The code of the error with which the server answered, if it did.
    pub fn code(&self) -> Option<i64> {
        match self {
            ClientError::Call { source: PeerError::Answered { code, .. }, .. } => Some(*code),
            _ => None,
        }
    }
}
