//! Clients over WebSocket.
//!
//! ```text
//! a WebSocket server:  client ─► Tunnels ─ handshake ─► server; then bytes pass both ways
//!                                   └► Frames ─► Tap
//! any other server:    client ─► Sockets ─► bridge ─► server
//! ```

mod frames;
mod slots;
mod sockets;
mod tunnel;
mod tunnels;

use http::{
    HeaderMap, HeaderName,
    header::{CONNECTION, UPGRADE},
};

pub use self::{slots::SocketSettings, sockets::Sockets, tunnels::Tunnels};

/// Whether a request asks to upgrade to WebSocket.
pub(crate) fn is_asked_for(headers: &HeaderMap) -> bool {
    has_token(headers, &UPGRADE, "websocket") && has_token(headers, &CONNECTION, "upgrade")
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let mut tokens = values.flat_map(|value| value.split(','));
    tokens.any(|one| one.trim().eq_ignore_ascii_case(token))
}
