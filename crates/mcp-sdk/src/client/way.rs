use super::{Client, ClientError};

/// How a client came to its server, to go there again.
#[derive(Debug, Clone, Default)]
pub(super) enum Way {
    /// Over a transport that somebody else made.
    #[default]
    Given,
    #[cfg(feature = "stdio")]
    Child(Box<mcp_transport::ChildCommand>),
    #[cfg(feature = "http")]
    Http(String),
    #[cfg(feature = "ws")]
    WebSocket(String),
}

impl Client {
    /// Connects once more, to the same place with the same settings: to a server that was restarted,
    /// has died, or no longer knows the session ([`ClientError::is_disconnected`]).
    ///
    /// The new client begins from nothing, with a revision of its own; subscriptions are made anew.
    /// Of this one nothing is left to be used but [`Client::close`].
    ///
    /// # Errors
    ///
    /// As when it was connected first, and always if that was over a transport of your own.
    pub async fn reconnect(&self) -> Result<Client, ClientError> {
        let builder = self.inner.builder.clone();
        match builder.way.clone() {
            Way::Given => Err(ClientError::NoWay),
            #[cfg(feature = "stdio")]
            Way::Child(command) => builder.connect_child(&command).await,
            #[cfg(feature = "http")]
            Way::Http(url) => builder.connect_http(&url).await,
            #[cfg(feature = "ws")]
            Way::WebSocket(url) => builder.connect_ws(&url).await,
        }
    }
}
