use mcp_core::{PeerError, Revision, TransportError};

/// Why a call did not bring what was asked for.
///
/// What an error displays is complete; it has no [`source`](std::error::Error::source) that would
/// say the same again. The causes are in the fields.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with an error, with nothing, or not at all. `name` is the tool, prompt or
    /// resource that it was about.
    #[error("{}: {cause}", called(method, name.as_deref()))]
    Call { method: String, name: Option<String>, cause: PeerError },
    /// The answer passed validation (or there was none) and still cannot be read.
    #[error("the answer to `{method}` cannot be read: {cause}")]
    Unreadable { method: String, cause: serde_json::Error },
    #[error("the params of `{method}` cannot be written: {cause}")]
    Unwritable { method: String, cause: serde_json::Error },
    #[error("{0}")]
    Connect(TransportError),
    /// The server is there, but does not speak the protocol at this place.
    #[error("there is nothing at {url} (HTTP status 404){}", path_hint(url))]
    NoEndpoint { url: String },
    /// The server does not let this client in.
    #[error(
        "{url} refuses with HTTP status {status}; it may want credentials, which `ClientBuilder::header` sends{}",
        if body.is_empty() { String::new() } else { format!(" ({body})") }
    )]
    Barred { url: String, status: u16, body: String },
    /// The server could be reached, but the two sides have not agreed on a revision in time.
    #[error("{url}: `{method}`: no answer within {after:?}")]
    ConnectTimedOut { url: String, method: String, after: std::time::Duration },
    /// The two sides have no revision in common.
    #[error("the server speaks {theirs}, and this client {}", spoken(*asked))]
    NoCommonRevision { theirs: String, asked: Option<Revision> },
    /// The revision in use has no such thing.
    #[error("{what} does not exist in revision {revision}")]
    NotInRevision { what: &'static str, revision: Revision },
    /// The server tells nothing about any of the resources it was asked about.
    #[error("the server does not tell when these change: {}", uris.join(", "))]
    NotGranted { uris: Vec<String> },
    /// Servers were not promised to hear when the roots change, so they would never ask again.
    #[error("the roots are fixed; `ClientBuilder::roots_may_change` says otherwise")]
    RootsFixed,
    /// Roots are directories and files of this machine.
    #[error("`{uri}` cannot be a root: it does not begin with file://")]
    BadRoot { uri: String },
    /// The server keeps asking for input.
    #[error("`{method}` was not finished after {rounds} rounds of input")]
    TooManyRounds { method: String, rounds: usize },
    /// What should answer a question of the server failed.
    #[error("`{asked}` could not be answered: {reason}")]
    HandlerFailed { asked: String, reason: String },
    /// The server's list does not end.
    #[error("`{method}` goes on after {pages} pages")]
    TooManyPages { method: String, pages: usize },
    /// Nobody here knows how the transport was made.
    #[error("a client over a transport of your own cannot connect again by itself")]
    NoWay,
    /// The server wants something from the client that it never offered.
    #[error("the server asks for `{asked}`, which this client does not offer")]
    CannotAnswer { asked: String },
}

impl ClientError {
    pub(super) fn call(method: &str, cause: PeerError) -> ClientError {
        ClientError::Call { method: method.to_owned(), name: None, cause }
    }

    /// The same, if it came of a URL: what is wrong may be the URL itself.
    #[cfg(feature = "http")]
    pub(super) fn at(self, url: &str) -> ClientError {
        use mcp_core::TransportError::Status;
        let url = super::builder::shown(url);
        match self {
            ClientError::Call {
                cause: PeerError::Transport(Status { status: status @ (401 | 403), body }),
                ..
            } => ClientError::Barred { url, status, body },
            ClientError::Call { method, cause: PeerError::TimedOut(after), .. } => {
                ClientError::ConnectTimedOut { url, method, after }
            }
            ClientError::Call {
                cause: PeerError::Transport(Status { status: 404, .. }), ..
            } => ClientError::NoEndpoint { url },
            other => other,
        }
    }

    /// Whether this client is of no use any more: the conversation is over, or the server no longer
    /// knows the session. [`Client::reconnect`](crate::Client::reconnect) begins anew.
    pub fn is_disconnected(&self) -> bool {
        use mcp_core::TransportError::{Closed, SessionExpired};
        matches!(
            self,
            ClientError::Call {
                cause: PeerError::Gone(_) | PeerError::Transport(Closed | SessionExpired),
                ..
            }
        )
    }

    /// The code of the error with which the server answered, if it did.
    pub fn code(&self) -> Option<i64> {
        match self {
            ClientError::Call { cause: PeerError::Answered { code, .. }, .. } => Some(*code),
            _ => None,
        }
    }
}

fn path_hint(url: &str) -> &'static str {
    let path = url.trim_end_matches('/');
    if path.ends_with("/mcp") { "" } else { "; MCP servers are often found at the path `/mcp`" }
}

fn called(method: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("`{method}` of `{name}`"),
        None => format!("`{method}`"),
    }
}

fn spoken(asked: Option<Revision>) -> String {
    match asked {
        Some(revision) => format!("was told to speak {revision}"),
        None => format!("{} to {}", Revision::V2024_11_05, Revision::LATEST),
    }
}
