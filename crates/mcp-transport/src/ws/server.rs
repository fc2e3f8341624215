use std::{sync::Arc, time::Duration};

use http::{HeaderMap, HeaderValue, StatusCode, header::SEC_WEBSOCKET_PROTOCOL};
use mcp_core::{MemoryBudget, TransportError};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async_with_config,
    tungstenite::{
        Error,
        handshake::server::{ErrorResponse, Request, Response, create_response},
        protocol::Role,
    },
};

use super::{
    SUBPROTOCOL, WsSettings, WsTransport, link::Link, metered::Metered, partial::PartialMessage,
    slots::Slot,
};
use crate::{
    Allowed,
    allowed::{SourceNotAllowed, check_source},
};

/// Settings of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WsServerSettings {
    /// The limits of each conversation.
    pub connection: WsSettings,
    /// Host names of the server. Default: loopback.
    pub hosts: Allowed,
    /// Origins whose web pages may use it. A client without `Origin` is not a browser and is
    /// allowed. Default: loopback.
    pub origins: Allowed,
    /// Whether clients must offer the subprotocol `mcp`. Default: no.
    pub require_subprotocol: bool,
    /// How long the handshake may take. Default: 10 seconds.
    pub handshake_timeout: Duration,
    /// How long a message may take to arrive, from its first byte to its last. A client also has this
    /// time to begin its first message. Default: 30 seconds.
    pub message_timeout: Duration,
    /// The memory for incomplete incoming messages, shared by all connections that are accepted with
    /// these settings or a clone of them. When it is used up, connections that send more are closed.
    /// Default: 256 MiB.
    pub unfinished: MemoryBudget,
    /// Maximum number of connections of a [`WsListener`](super::WsListener). Beyond it, an idle one
    /// is closed (1013); if none is idle, the client gets 503. Default: 1,000.
    pub max_connections: usize,
    /// Maximum number of connections from one address, or one /64 network of IPv6. Beyond it, an idle
    /// one of these is closed; if none is idle, the client gets 429. Loopback addresses have no such
    /// limit. Default: 100.
    pub max_connections_per_address: usize,
    /// How long a conversation must be without a message in either direction before it may be closed
    /// to make room for a new one. While there is room, it stays open. A client that has not sent
    /// anything may be closed after half a second. Default: 1 minute.
    pub idle_after: Duration,
    /// TLS configuration, for `wss`.
    #[cfg(feature = "tls")]
    pub tls: Option<std::sync::Arc<rustls::ServerConfig>>,
}

impl Default for WsServerSettings {
    fn default() -> Self {
        WsServerSettings {
            connection: WsSettings::default(),
            hosts: Allowed::loopback(),
            origins: Allowed::loopback(),
            require_subprotocol: false,
            handshake_timeout: Duration::from_secs(10),
            message_timeout: Duration::from_secs(30),
            unfinished: MemoryBudget::new(256 << 20),
            max_connections: 1000,
            max_connections_per_address: 100,
            idle_after: Duration::from_secs(60),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

/// Accepts a client's conversation over `stream`, a TCP connection for example.
///
/// # Errors
///
/// [`TransportError::Status`] with the response if the client is rejected,
/// [`TransportError::Connect`] if it does not use WebSocket or is too slow.
pub async fn accept<S>(
    stream: S,
    settings: &WsServerSettings,
) -> Result<WsTransport, TransportError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    accept_holding(stream, settings, None).await
}

/// The response to a WebSocket handshake, for HTTP servers that upgrade connections themselves.
/// Pass the upgraded connection to [`conversation`].
///
/// # Errors
///
/// The response that rejects the client: its request is not a valid handshake, or
/// [`WsServerSettings`] do not allow it.
#[expect(clippy::result_large_err, reason = "both are responses")]
pub fn answer(request: &Request, settings: &WsServerSettings) -> Result<Response, ErrorResponse> {
    let response = create_response(request).map_err(|error| {
        refuse(StatusCode::BAD_REQUEST, &format!("not a WebSocket handshake: {error}"))
    })?;
    check_request(request, response, settings)
}

/// The conversation over a connection that was upgraded after [`answer`].
pub async fn conversation<S>(stream: S, settings: &WsServerSettings) -> WsTransport
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let config = settings.connection.protocol_config();
    let stream = Metered::new(stream);
    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let partial = PartialMessage::new(&settings.unfinished, settings.message_timeout);
    Link::open(socket, &settings.connection, Some(Arc::new(partial)), None)
}

/// The same as [`accept`]; `held` is dropped when the conversation ends.
pub(super) async fn accept_holding<S>(
    stream: S,
    settings: &WsServerSettings,
    held: Option<Slot>,
) -> Result<WsTransport, TransportError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let needed = held.as_ref().map(|slot| Arc::clone(slot.activity()));
    let needed = async {
        match &needed {
            Some(activity) => activity.evicted().await,
            None => std::future::pending().await,
        }
    };
    let opened = async {
        tokio::select! {
            biased;
            () = needed => Err(TransportError::Connect("closed to make room for another client".into())),
            opened = open(stream, settings, held) => opened,
        }
    };
    match timeout(settings.handshake_timeout, opened).await {
        Ok(opened) => opened,
        Err(_) => Err(TransportError::Connect(format!(
            "the client did not open the conversation within {:?}",
            settings.handshake_timeout
        ))),
    }
}

async fn open<S>(
    stream: S,
    settings: &WsServerSettings,
    held: Option<Slot>,
) -> Result<WsTransport, TransportError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    #[cfg(feature = "tls")]
    let stream = match &settings.tls {
        Some(config) => Metered::new(
            tokio_rustls::TlsAcceptor::from(config.clone())
                .accept(stream)
                .await
                .map_err(|error| TransportError::Connect(format!("TLS failed: {error}")))?,
        ),
        None => Metered::new(stream),
    };
    #[cfg(not(feature = "tls"))]
    let stream = Metered::new(stream);

    #[expect(clippy::result_large_err, reason = "the signature is tungstenite's")]
    let check = |request: &Request, response: Response| check_request(request, response, settings);
    let config = settings.connection.protocol_config();
    let socket = accept_hdr_async_with_config(stream, check, Some(config))
        .await
        .map_err(|error| explain(&error))?;
    let partial = PartialMessage::new(&settings.unfinished, settings.message_timeout);
    Ok(Link::open(socket, &settings.connection, Some(Arc::new(partial)), held))
}

#[expect(clippy::result_large_err, reason = "the signature is tungstenite's")]
fn check_request(
    request: &Request,
    mut response: Response,
    settings: &WsServerSettings,
) -> Result<Response, ErrorResponse> {
    let headers = request.headers();
    if let Err(foreign) = check_source(&settings.hosts, &settings.origins, request.uri(), headers) {
        let (status, reason) = match foreign {
            SourceNotAllowed::Unclear => {
                (StatusCode::BAD_REQUEST, "a request must name exactly one host")
            }
            SourceNotAllowed::Host(_) => (StatusCode::FORBIDDEN, "this Host is not served here"),
            SourceNotAllowed::Origin(_) => (StatusCode::FORBIDDEN, "this Origin is not allowed"),
        };
        return Err(refuse(status, reason));
    }
    if offers_subprotocol(headers) {
        let accepted = HeaderValue::from_static(SUBPROTOCOL);
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, accepted);
    } else if settings.require_subprotocol {
        return Err(refuse(StatusCode::BAD_REQUEST, "the subprotocol `mcp` must be offered"));
    }
    Ok(response)
}

fn offers_subprotocol(headers: &HeaderMap) -> bool {
    headers
        .get_all(SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|offer| offer.to_str().ok())
        .flat_map(|offer| offer.split(','))
        .any(|offer| offer.trim() == SUBPROTOCOL)
}

fn refuse(status: StatusCode, reason: &str) -> ErrorResponse {
    let mut response = ErrorResponse::new(Some(reason.to_owned()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(http::header::CONTENT_LENGTH, HeaderValue::from(reason.len()));
    headers.insert(http::header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The error for a failed handshake, on either side.
pub(super) fn explain(error: &Error) -> TransportError {
    match error {
        Error::Http(response) => TransportError::Status {
            status: response.status().as_u16(),
            body: response
                .body()
                .as_deref()
                .map(|body| String::from_utf8_lossy(body.get(..1000).unwrap_or(body)).into_owned())
                .unwrap_or_default(),
        },
        other => TransportError::Connect(other.to_string()),
    }
}
