use mcp_core::TransportError;
use mcp_transport::ws::{self, WsClientSettings, WsTransport};

use crate::{Access, Address, UpstreamError, UrlKind};

/// A server to connect to over WebSocket.
#[derive(Debug, Clone)]
pub(super) struct WsServer {
    url: String,
    settings: WsClientSettings,
}

impl WsServer {
    /// The server at `url`. Does not connect yet.
    pub(super) fn new(
        url: &str,
        max_message: usize,
        access: &Access,
    ) -> Result<WsServer, UpstreamError> {
        let address = Address::parse(url)?;
        if address.kind != UrlKind::WebSocket {
            return Err(UpstreamError::Scheme(url.into()));
        }
        let mut settings = WsClientSettings::default();
        settings.connection.max_message = max_message;
        settings.headers = access.headers().clone();
        settings.tls = address.secure.then(|| access.tls(true)).transpose()?;
        Ok(WsServer { url: url.to_owned(), settings })
    }

    pub(super) async fn connect(&self) -> Result<WsTransport, TransportError> {
        ws::connect(&self.url, &self.settings).await
    }
}
