//! The client's side of the WebSocket handshake.
//!
//! `tungstenite` has a function for it, but it insists on a subprotocol once one is offered.
//! Servers that know none may leave it out (RFC 6455, section 4.2.2), and many do.

use http::{
    HeaderMap, HeaderName, StatusCode,
    header::{
        CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_PROTOCOL, UPGRADE,
    },
};
use mcp_core::TransportError;
use memchr::memmem;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error,
        handshake::{
            client::{Request, Response, generate_request},
            derive_accept_key,
            machine::TryParse as _,
        },
        protocol::Role,
    },
};

use super::{
    SUBPROTOCOL, client::WsClientSettings, link::Socket, metered::Metered, server::explain,
};

/// Maximum size of a response head.
const MAX_HEAD: usize = 64 * 1024;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// Upgrades the connection to WebSocket.
pub(super) async fn upgrade(
    mut stream: Metered,
    request: Request,
    settings: &WsClientSettings,
) -> Result<Socket, TransportError> {
    let (head, key) = generate_request(request).map_err(|error| explain(&error))?;
    let unsent = |error: std::io::Error| TransportError::Connect(error.to_string());
    stream.write_all(&head).await.map_err(unsent)?;
    stream.flush().await.map_err(unsent)?;
    let (mut response, rest) = read_head(&mut stream).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        *response.body_mut() = Some(rest);
        return Err(explain(&Error::Http(response.into())));
    }
    let expected = derive_accept_key(key.as_bytes());
    check(response.headers(), &expected, settings.require_subprotocol)
        .map_err(|why| TransportError::Connect(why.to_owned()))?;
    let config = settings.connection.protocol_config();
    Ok(WebSocketStream::from_partially_read(stream, rest, Role::Client, Some(config)).await)
}

/// The head of the response, and any bytes read after it.
async fn read_head(stream: &mut Metered) -> Result<(Response, Vec<u8>), TransportError> {
    let mut text = Vec::new();
    loop {
        let seen = text.len().saturating_sub(END_OF_HEAD.len() - 1);
        let read = stream.read_buf(&mut text).await;
        let read = read.map_err(|error| TransportError::Connect(error.to_string()))?;
        if let Some(end) = memmem::find(&text[seen..], END_OF_HEAD) {
            let rest = text.split_off(seen + end + END_OF_HEAD.len());
            let parsed = Response::try_parse(&text).map_err(|error| explain(&error))?;
            let (_, response) = parsed.ok_or_else(|| not_an_answer("it is cut off"))?;
            return Ok((response, rest));
        }
        if read == 0 {
            return Err(not_an_answer("it is incomplete"));
        }
        if text.len() > MAX_HEAD {
            return Err(not_an_answer("its head is too long"));
        }
    }
}

fn not_an_answer(why: &str) -> TransportError {
    TransportError::Connect(format!("the response to the upgrade cannot be read: {why}"))
}

/// Whether the server agrees to what was requested, and to nothing else.
fn check(
    headers: &HeaderMap,
    expected: &str,
    require_subprotocol: bool,
) -> Result<(), &'static str> {
    if !has_token(headers, &UPGRADE, "websocket") || !has_token(headers, &CONNECTION, "upgrade") {
        return Err("the server does not upgrade the connection to WebSocket");
    }
    if only(headers, &SEC_WEBSOCKET_ACCEPT) != Some(expected) {
        return Err("the server did not understand the upgrade: `Sec-WebSocket-Accept` is wrong");
    }
    if headers.contains_key(SEC_WEBSOCKET_EXTENSIONS) {
        return Err("the server uses an extension that was not offered");
    }
    if !headers.contains_key(SEC_WEBSOCKET_PROTOCOL) {
        if require_subprotocol {
            return Err("the server does not agree to the subprotocol `mcp`");
        }
        return Ok(());
    }
    match only(headers, &SEC_WEBSOCKET_PROTOCOL) {
        Some(SUBPROTOCOL) => Ok(()),
        _ => Err("the server picks a subprotocol that was not offered"),
    }
}

/// The value of a header that occurs exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then(|| value.trim())
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let mut tokens = values.flat_map(|value| value.split(','));
    tokens.any(|one| one.trim().eq_ignore_ascii_case(token))
}
