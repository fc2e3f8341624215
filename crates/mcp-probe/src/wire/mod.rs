//! Raw transports to a server: everything sent and received is recorded, and otherwise unchanged.

mod connections;
mod http;
mod processes;
mod stdio;
mod web_socket;

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    Conversation, ConversationError, Limits, Recording, Target,
    conversation::{Inbox, Opening},
};

pub use self::http::{HttpReply, HttpRequest};
use self::{http::Http, stdio::Stdio, web_socket::WebSocket};
pub(crate) use self::{processes::Processes, stdio::kill_group};

/// The transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "these are the ways there are")]
pub enum WireKind {
    /// Lines over standard streams.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// WebSocket.
    WebSocket,
}

impl WireKind {
    /// All transports.
    pub const ALL: &'static [WireKind] = &[WireKind::Stdio, WireKind::Http, WireKind::WebSocket];
}

impl fmt::Display for WireKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            WireKind::Stdio => "stdio",
            WireKind::Http => "HTTP",
            WireKind::WebSocket => "WebSocket",
        })
    }
}

/// One connection to the server.
#[derive(Debug)]
pub(crate) enum Wire {
    Stdio(Stdio),
    Http(Http),
    WebSocket(WebSocket),
}

impl Wire {
    pub(crate) async fn connect(
        target: &Target,
        processes: &Arc<Processes>,
        recording: &Arc<Recording>,
        inbox: &Arc<Inbox>,
        opening: &Opening,
        limits: &Limits,
    ) -> Result<Wire, ConversationError> {
        match target {
            Target::Command(launch) => {
                Stdio::start(launch, processes, recording, inbox, opening.answers, limits)
                    .map(Wire::Stdio)
            }
            Target::Http { url, headers } => {
                Http::new(url, headers, recording, inbox, opening, limits).map(Wire::Http)
            }
            Target::WebSocket { url, headers } => {
                WebSocket::connect(url, headers, recording, inbox, opening.answers, limits)
                    .await
                    .map(Wire::WebSocket)
            }
        }
    }

    pub(crate) async fn send(
        &self,
        text: &[u8],
        on: &Conversation,
    ) -> Result<u64, ConversationError> {
        if let Some(reason) = on.ended() {
            return Err(ConversationError::Ended(reason));
        }
        match self {
            Wire::Stdio(stdio) => stdio.send(text).await,
            Wire::Http(http) => Ok(http.send(text)),
            Wire::WebSocket(socket) => socket.send(text).await,
        }
    }

    pub(crate) async fn http(
        &self,
        request: HttpRequest,
        _on: &Conversation,
    ) -> Result<HttpReply, ConversationError> {
        match self {
            Wire::Http(http) => http.exchange(request).await,
            _ => Err(ConversationError::Unreachable("this is not HTTP".to_owned())),
        }
    }

    pub(crate) fn as_stdio(&self) -> Option<&Stdio> {
        match self {
            Wire::Stdio(stdio) => Some(stdio),
            _ => None,
        }
    }

    pub(crate) fn as_http(&self) -> Option<&Http> {
        match self {
            Wire::Http(http) => Some(http),
            _ => None,
        }
    }

    pub(crate) fn stderr(&self) -> String {
        self.as_stdio().map(Stdio::stderr).unwrap_or_default()
    }

    /// Ends it without waiting long for the server.
    pub(crate) async fn close_soon(&self) {
        match self {
            Wire::Stdio(stdio) => stdio.close_soon().await,
            Wire::Http(http) => http.close().await,
            Wire::WebSocket(socket) => socket.close().await,
        }
    }

    pub(crate) async fn close(&self, within: Duration) -> Option<bool> {
        match self {
            Wire::Stdio(stdio) => Some(stdio.close(within).await),
            Wire::Http(http) => {
                http.close().await;
                None
            }
            Wire::WebSocket(socket) => {
                socket.close().await;
                None
            }
        }
    }
}
