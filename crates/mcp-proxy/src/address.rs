use http::{
    Uri,
    uri::{Authority, PathAndQuery},
};

use crate::AccessError;

/// Why an upstream URL cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum UpstreamError {
    #[error("`{0}` is not a URL such as http://127.0.0.1:3000/mcp")]
    NotAUrl(String),
    #[error("`{0}` is not an http, https, ws or wss URL")]
    Scheme(String),
    #[error("`{0}` contains credentials; send them in a header instead")]
    Credentials(String),
    #[error(transparent)]
    Access(#[from] AccessError),
}

/// The transport of a server at a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no other transports with URLs")]
pub enum UrlKind {
    /// Streamable HTTP.
    Http,
    /// WebSocket.
    WebSocket,
}

impl UrlKind {
    /// The transport of the server at `url`.
    ///
    /// # Errors
    ///
    /// If it is not a usable URL.
    pub fn of(url: &str) -> Result<UrlKind, UpstreamError> {
        Ok(Address::parse(url)?.kind)
    }
}

/// The parts of a server's URL.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) kind: UrlKind,
    /// Whether the connection uses TLS.
    pub(crate) secure: bool,
    pub(crate) authority: Authority,
    pub(crate) path: PathAndQuery,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Address, UpstreamError> {
        let uri: Uri = url.parse().map_err(|_| UpstreamError::NotAUrl(url.into()))?;
        let parts = uri.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(UpstreamError::NotAUrl(url.into()));
        };
        let (kind, secure) = match scheme.as_str() {
            "http" => (UrlKind::Http, false),
            "https" => (UrlKind::Http, true),
            "ws" => (UrlKind::WebSocket, false),
            "wss" => (UrlKind::WebSocket, true),
            _ => return Err(UpstreamError::Scheme(url.into())),
        };
        if authority.as_str().contains('@') {
            let shown = format!("{scheme}://…@{}", authority.host());
            return Err(UpstreamError::Credentials(shown));
        }
        let path = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(Address { kind, secure, authority, path })
    }
}
