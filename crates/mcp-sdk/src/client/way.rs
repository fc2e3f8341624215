use std::fmt;

use super::{Client, ClientError};

/// How a client came to its server, to go there again.
#[derive(Clone, Default)]
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

/// A URL may hold secrets, which nobody expects where a client is written to a log.
impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Given => "Given",
            #[cfg(feature = "stdio")]
            Way::Child(_) => "Child",
            #[cfg(feature = "http")]
            Way::Http(_) => "Http",
            #[cfg(feature = "ws")]
            Way::WebSocket(_) => "WebSocket",
        })
    }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_not_written_to_logs() {
        let way = Way::Http("https://host/mcp?key=secret".to_owned());
        assert!(!format!("{way:?}").contains("secret"));
    }
}
