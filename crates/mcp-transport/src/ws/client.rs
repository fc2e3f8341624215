use std::time::Duration;

use http::{HeaderMap, HeaderValue, Uri, header::SEC_WEBSOCKET_PROTOCOL};
use mcp_core::TransportError;
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::tungstenite::{client::IntoClientRequest, handshake::client::Request};

use super::{SUBPROTOCOL, WsSettings, WsTransport, link::Link, metered::Metered, upgrade::upgrade};

/// How a client connects.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WsClientSettings {
    /// The limits of the conversation.
    pub connection: WsSettings,
    /// Headers of the opening request, `Authorization` for example. Default: none.
    pub headers: HeaderMap,
    /// Whether the server must agree to the subprotocol `mcp`, which is always offered. Default:
    /// no, so that plain WebSocket servers work.
    pub require_subprotocol: bool,
    /// How long connecting may take. Default: 10 seconds.
    pub connect_timeout: Duration,
    /// TLS configuration; required for `wss`.
    #[cfg(feature = "tls")]
    pub tls: Option<std::sync::Arc<rustls::ClientConfig>>,
}

impl Default for WsClientSettings {
    fn default() -> Self {
        WsClientSettings {
            connection: WsSettings::default(),
            headers: HeaderMap::new(),
            require_subprotocol: false,
            connect_timeout: Duration::from_secs(10),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

/// Connects to a server at `ws://…` or, with the feature `tls` and
/// `WsClientSettings::tls`, `wss://…`.
///
/// # Errors
///
/// [`TransportError::Connect`] if there is no such server, it does not support WebSocket, or it
/// does not agree to the subprotocol `mcp` although [that is
/// required](WsClientSettings::require_subprotocol); [`TransportError::Status`] if it rejects the
/// request.
pub async fn connect(
    url: &str,
    settings: &WsClientSettings,
) -> Result<WsTransport, TransportError> {
    match timeout(settings.connect_timeout, open(url, settings)).await {
        Ok(opened) => opened,
        Err(_) => Err(TransportError::Connect(format!(
            "no answer from `{}` within {:?}",
            shown(url),
            settings.connect_timeout
        ))),
    }
}

/// A URL without its query, which may hold secrets.
fn shown(url: &str) -> &str {
    url.split_once('?').map_or(url, |(start, _)| start)
}

async fn open(url: &str, settings: &WsClientSettings) -> Result<WsTransport, TransportError> {
    let request = request(url, settings)?;
    let stream = dial(request.uri(), settings).await?;
    let socket = upgrade(stream, request, settings).await?;
    Ok(Link::open(socket, &settings.connection, None, None))
}

fn request(url: &str, settings: &WsClientSettings) -> Result<Request, TransportError> {
    let mut request = url.into_client_request().map_err(|error| {
        TransportError::Connect(format!("`{}` is not a URL: {error}", shown(url)))
    })?;
    let headers = request.headers_mut();
    for (name, value) in &settings.headers {
        headers.append(name, value.clone());
    }
    headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    Ok(request)
}

async fn dial(uri: &Uri, settings: &WsClientSettings) -> Result<Metered, TransportError> {
    let is_secure = match uri.scheme_str() {
        Some("ws") => false,
        Some("wss") => true,
        _ => {
            return Err(TransportError::Connect(format!(
                "`{}` is neither ws:// nor wss://",
                shown(&uri.to_string())
            )));
        }
    };
    let host = uri.host().unwrap_or_default();
    let name = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let stream = TcpStream::connect((name, port)).await.map_err(|error| {
        TransportError::Connect(format!("`{}`: {error}", shown(&uri.to_string())))
    })?;
    // Messages are written whole; Nagle's algorithm would only delay them.
    let _ = stream.set_nodelay(true);
    if is_secure { secure(stream, name, settings).await } else { Ok(Metered::new(stream)) }
}

#[cfg(feature = "tls")]
async fn secure(
    stream: TcpStream,
    name: &str,
    settings: &WsClientSettings,
) -> Result<Metered, TransportError> {
    let refused =
        |reason: String| TransportError::Connect(format!("TLS with `{name}` failed: {reason}"));
    let Some(config) = &settings.tls else {
        return Err(refused("no TLS configuration is set; see `WsClientSettings::tls`".into()));
    };
    let server = rustls::pki_types::ServerName::try_from(name.to_owned())
        .map_err(|error| refused(error.to_string()))?;
    let connector = tokio_rustls::TlsConnector::from(config.clone());
    let stream =
        connector.connect(server, stream).await.map_err(|error| refused(error.to_string()))?;
    Ok(Metered::new(stream))
}

#[cfg(not(feature = "tls"))]
async fn secure(_: TcpStream, name: &str, _: &WsClientSettings) -> Result<Metered, TransportError> {
    std::future::ready(Err(TransportError::Connect(format!(
        "TLS with `{name}` is not available: this program was built without the feature `tls`"
    ))))
    .await
}
