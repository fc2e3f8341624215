use mcp_core::{PeerError, Revision, TransportError};

/// Why a call or a connection failed.
///
/// The displayed text includes the causes, so there is no [`source`](std::error::Error::source),
/// which would repeat them. The causes are in the fields.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ClientError {
    /// The server answered with an error, or did not answer. `name` is the tool, prompt or resource
    /// concerned.
    #[error("{}: {cause}", called(method, name.as_deref()))]
    Call { method: String, name: Option<String>, cause: PeerError },
    /// The answer passed validation (or was not validated) but cannot be read.
    #[error("the answer to `{method}` cannot be read: {cause}")]
    Unreadable { method: String, cause: serde_json::Error },
    #[error("the params of `{method}` cannot be serialized: {cause}")]
    Unwritable { method: String, cause: serde_json::Error },
    #[error("{0}")]
    Connect(TransportError),
    /// The server exists, but there is no MCP endpoint at this URL.
    #[error("there is nothing at {url} (HTTP status 404){}", path_hint(url))]
    NoEndpoint { url: String },
    /// The server denies access to this client.
    #[error(
        "{url} denies access with HTTP status {status}; it may require credentials, see `ClientBuilder::header`{}",
        if body.is_empty() { String::new() } else { format!(" ({body})") }
    )]
    AccessDenied { url: String, status: u16, body: String },
    /// The server could be reached, but no revision was negotiated in time.
    #[error("{url}: `{method}`: no response within {after:?}")]
    ConnectTimedOut { url: String, method: String, after: std::time::Duration },
    /// The two sides have no revision in common.
    #[error("the server supports {theirs}, and this client {}", spoken(*asked))]
    NoCommonRevision { theirs: String, asked: Option<Revision> },
    /// The revision in use has no such thing.
    #[error("{what} does not exist in revision {revision}")]
    NotInRevision { what: &'static str, revision: Revision },
    /// The server sends no updates about any of the requested resources.
    #[error("the server does not send updates about: {}", uris.join(", "))]
    NotGranted { uris: Vec<String> },
    /// The client did not declare that its roots may change, so servers would never ask again.
    #[error("the roots are fixed; see `ClientBuilder::roots_may_change`")]
    RootsFixed,
    /// Roots are local directories and files.
    #[error("`{uri}` cannot be a root: it does not begin with file://")]
    BadRoot { uri: String },
    /// The server keeps asking for input.
    #[error("`{method}` was not finished after {rounds} rounds of input")]
    TooManyRounds { method: String, rounds: usize },
    /// A handler for requests of the server failed.
    #[error("`{asked}` could not be answered: {reason}")]
    HandlerFailed { asked: String, reason: String },
    /// The server's list is endless.
    #[error("`{method}` has more than {pages} pages")]
    TooManyPages { method: String, pages: usize },
    /// The client does not know how the transport was created.
    #[error("a client with a custom transport cannot reconnect by itself")]
    CannotReconnect,
    /// The server requests something that the client does not support.
    #[error("the server requests `{asked}`, which this client does not support")]
    CannotAnswer { asked: String },
}

impl ClientError {
    pub(super) fn call(method: &str, cause: PeerError) -> ClientError {
        ClientError::Call { method: method.to_owned(), name: None, cause }
    }

    /// Adds the URL, which may itself be wrong.
    #[cfg(feature = "http")]
    pub(super) fn at(self, url: &str) -> ClientError {
        use mcp_core::TransportError::Status;
        let url = super::builder::shown(url);
        match self {
            ClientError::Call {
                cause: PeerError::Transport(Status { status: status @ (401 | 403), body }),
                ..
            } => ClientError::AccessDenied { url, status, body },
            ClientError::Call { method, cause: PeerError::TimedOut { after, .. }, .. } => {
                ClientError::ConnectTimedOut { url, method, after }
            }
            ClientError::Call {
                cause: PeerError::Transport(Status { status: 404, .. }), ..
            } => ClientError::NoEndpoint { url },
            other => other,
        }
    }

    /// Whether this client can no longer be used: the conversation is over, or the session has
    /// expired. [`Client::reconnect`](crate::Client::reconnect) starts a new one.
    pub fn is_disconnected(&self) -> bool {
        use mcp_core::TransportError::{Closed, SessionExpired};
        matches!(
            self,
            ClientError::Call {
                cause: PeerError::Closed(_) | PeerError::Transport(Closed | SessionExpired),
                ..
            }
        )
    }

    /// The code of the server's error, if it answered with one.
    pub fn code(&self) -> Option<i64> {
        match self {
            ClientError::Call { cause: PeerError::ErrorResponse { code, .. }, .. } => Some(*code),
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
        Some(revision) => format!("requires {revision}"),
        None => format!("{} to {}", Revision::V2024_11_05, Revision::LATEST),
    }
}
