//! WebSocket: one conversation per connection, one message per text frame.
//!
//! No revision of the protocol defines this transport; it is a custom one. A client offers the
//! subprotocol `mcp`, and a server picks it if it is offered. Servers and clients without a
//! subprotocol work as well, unless [`WsClientSettings::require_subprotocol`] or
//! [`WsServerSettings::require_subprotocol`] (400) is set. Since browsers let any page open a
//! WebSocket to any address, a server checks `Host` and `Origin` (403); by default only loopback is
//! allowed.
//!
//! | close code | sent when |
//! |---|---|
//! | 1000 | the conversation is closed |
//! | 1001 | this side is shutting down ([`WsCloseReason::GoingAway`]) |
//! | 1002 | the peer violates the framing |
//! | 1003 | a binary message is received: MCP messages are text |
//! | 1007 | a text message is not UTF-8 |
//! | 1008 | a client's message takes longer than [`WsServerSettings::message_timeout`] |
//! | 1009 | a message is longer than [`WsSettings::max_message`] |
//! | 1011 | this side failed ([`WsCloseReason::InternalError`]) |
//! | 1013 | the unfinished messages of all clients exceed [`WsServerSettings::unfinished`], or an idle connection makes room for another client |
//!
//! Pings are answered, and sent every [`WsSettings::ping_interval`]. Both require that `receive` is
//! being called; while it is not, the peer is not considered silent. From a peer that sends pings
//! without reading the pongs, nothing more is read, and it is disconnected after
//! [`WsSettings::stall_timeout`].
//!
//! A connection holds at most one incoming message and 32 KiB of what follows it, the queue of
//! outgoing messages ([`WsSettings::queue_bytes`], or one longer message), as much again while they
//! are being written, and 16 KiB of pongs.

mod client;
mod link;
mod listener;
mod metered;
mod partial;
mod server;
mod slots;
mod upgrade;
mod writer;

use std::{future::poll_fn, sync::Arc, time::Duration};

use mcp_core::{BoxFuture, Inbound, Outbound, Transport, TransportError};
use tokio_tungstenite::tungstenite::protocol::{
    CloseFrame, WebSocketConfig,
    frame::{Utf8Bytes, coding::CloseCode},
};

pub use client::{WsClientSettings, connect};
pub use listener::WsListener;
pub use server::{WsServerSettings, accept, answer, conversation};

use link::Link;

/// The subprotocol that clients offer and servers pick.
pub const SUBPROTOCOL: &str = "mcp";

/// The limits of a [`WsTransport`], the same on both sides.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WsSettings {
    /// Maximum size of a message in bytes. A longer incoming one ends the conversation, so longer
    /// ones are not sent either. Default: 16 MiB.
    pub max_message: usize,
    /// How many bytes may be queued before senders wait. One larger message is accepted if the
    /// queue is empty. Default: 1 MiB.
    pub queue_bytes: usize,
    /// How long the peer may read nothing while there is something to write. Default: 30 seconds.
    pub stall_timeout: Duration,
    /// Interval of pings. If nothing arrives between two pings, the connection is considered lost.
    /// Default: 30 seconds; `None` sends no pings.
    pub ping_interval: Option<Duration>,
    /// How long the peer may take to confirm a close. Default: 2 seconds.
    pub close_wait: Duration,
}

impl Default for WsSettings {
    fn default() -> Self {
        WsSettings {
            max_message: 16 * 1024 * 1024,
            queue_bytes: 1024 * 1024,
            stall_timeout: Duration::from_secs(30),
            ping_interval: Some(Duration::from_secs(30)),
            close_wait: Duration::from_secs(2),
        }
    }
}

impl WsSettings {
    fn protocol_config(&self) -> WebSocketConfig {
        WebSocketConfig::default()
            .read_buffer_size(32 * 1024)
            .max_message_size(Some(self.max_message))
            .max_frame_size(Some(self.max_message))
    }
}

/// Why this side closes a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WsCloseReason {
    /// The conversation is over (1000).
    Normal,
    /// This side is shutting down (1001).
    GoingAway,
    /// This side failed (1011).
    InternalError,
}

impl WsCloseReason {
    fn frame(self) -> CloseFrame {
        let code = match self {
            WsCloseReason::Normal => CloseCode::Normal,
            WsCloseReason::GoingAway => CloseCode::Away,
            WsCloseReason::InternalError => CloseCode::Error,
        };
        CloseFrame { code, reason: Utf8Bytes::from_static("") }
    }
}

/// A conversation over a WebSocket; see [`connect`], [`accept`] and [`WsListener`].
///
/// Messages not received when this side closes are dropped.
#[derive(Debug)]
pub struct WsTransport {
    link: Arc<Link>,
}

impl WsTransport {
    /// Like [`Transport::close`], but tells the peer why.
    pub async fn close_with(&self, reason: WsCloseReason) {
        self.link.start_closing(Some(reason.frame()));
        self.link.end(None);
        self.link.closed().await;
    }
}

impl Transport for WsTransport {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(poll_fn(|context| self.link.poll_receive(context)))
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(self.link.send(outbound.bytes))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.close_with(WsCloseReason::Normal))
    }
}

impl Drop for WsTransport {
    fn drop(&mut self) {
        self.link.start_closing(Some(WsCloseReason::Normal.frame()));
    }
}
