use std::fmt;

use super::{Client, ClientError};

/// How a client is connected to its server, so that it can reconnect.
#[derive(Clone, Default)]
pub(super) enum Endpoint {
    /// Over a custom transport.
    #[default]
    Custom,
    #[cfg(feature = "stdio")]
    Child(Box<mcp_transport::ChildCommand>),
    #[cfg(feature = "http")]
    Http(String),
    #[cfg(feature = "ws")]
    WebSocket(String),
}

impl Client {
    /// Connects to the same server again, with the same settings, after it was restarted, has died,
    /// or no longer knows the session ([`ClientError::is_disconnected`]).
    ///
    /// The new client starts from scratch: it negotiates a revision, and you have to subscribe
    /// again. The old one is only good for [`Client::close`].
    ///
    /// # Errors
    ///
    /// As for the first connection, and always for a custom transport.
    pub async fn reconnect(&self) -> Result<Client, ClientError> {
        let builder = self.inner.builder.clone();
        match builder.endpoint.clone() {
            Endpoint::Custom => Err(ClientError::CannotReconnect),
            #[cfg(feature = "stdio")]
            Endpoint::Child(command) => builder.connect_child(&command).await,
            #[cfg(feature = "http")]
            Endpoint::Http(url) => builder.connect_http(&url).await,
            #[cfg(feature = "ws")]
            Endpoint::WebSocket(url) => builder.connect_ws(&url).await,
        }
    }
}

/// A URL may contain secrets, which must not end up in logs.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Endpoint::Custom => "Custom",
            #[cfg(feature = "stdio")]
            Endpoint::Child(_) => "Child",
            #[cfg(feature = "http")]
            Endpoint::Http(_) => "Http",
            #[cfg(feature = "ws")]
            Endpoint::WebSocket(_) => "WebSocket",
        })
    }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_not_written_to_logs() {
        let endpoint = Endpoint::Http("https://host/mcp?key=secret".to_owned());
        assert!(!format!("{endpoint:?}").contains("secret"));
    }
}
