//! A client over WebSocket.

use mcp_core::{Inbound, Outbound, OutboundRole, Side, Transport as _, TransportError};
use mcp_json::Limits;
use mcp_transport::ws::{WsCloseReason, WsTransport};

use super::{Remote, RemoteSettings, console::ClientLine, link::Link};
use crate::{
    bridge::{client_queue::ClientQueue, conversation_tap::ConversationTap},
    shutdown::{Phase, STOPPED},
};

/// Connects a WebSocket client to a server until either leaves or `stop` completes.
pub(crate) async fn run_socket(
    remote: Remote,
    socket: WsTransport,
    tap: ConversationTap,
    settings: &RemoteSettings,
    stop: impl Future<Output = ()>,
) {
    let RemoteSettings { max_line, max_waiting, .. } = *settings;
    let limits = Limits { max_bytes: max_line, ..Limits::default() };
    let (to_client, mut texts) = ClientQueue::new();
    let link = Link::new(remote, tap.clone(), (max_line, max_waiting), to_client);
    let listen = async {
        loop {
            match socket.receive().await {
                Ok(Some(Inbound::Message { bytes, .. })) => {
                    let text = tap.carried(bytes, limits);
                    link.take_from_client(ClientLine::Whole { text, ends: true, room: None }).await;
                }
                Ok(Some(other)) => tracing::debug!(?other, "an unknown event of the transport"),
                Ok(None) => return,
                Err(error) => {
                    // The connection ends, so no error can be sent.
                    if let TransportError::TooLong { length, .. } = error {
                        tap.skip(Side::Client, length);
                    }
                    tracing::debug!(%error, "lost the connection to a client");
                    return;
                }
            }
        }
    };
    let speak = async {
        while let Some(posted) = texts.recv().await {
            if say(&socket, posted.text.clone()).await.is_err() {
                return;
            }
        }
    };
    let stopped = async {
        stop.await;
        if settings.drain.phase() == Phase::Draining {
            let answered = async {
                while link.is_waiting() {
                    link.heard.notified().await;
                }
            };
            tokio::select! {
                () = answered => {}
                () = settings.drain.reached(Phase::Stopping) => {}
            }
        }
    };
    let (reason, close) = tokio::select! {
        () = listen => ("the client has left", WsCloseReason::Normal),
        () = speak => ("the client has left", WsCloseReason::Normal),
        () = link.ended() => ("the server has ended", WsCloseReason::InternalError),
        () = stopped => (STOPPED, WsCloseReason::GoingAway),
    };
    let told = async {
        while let Some(posted) = texts.recv().await {
            let _ = say(&socket, posted.text.clone()).await;
        }
        socket.close_with(close).await;
    };
    let ended = async {
        link.close(reason).await;
        // Closes the queue of messages for the client.
        drop(link);
    };
    tokio::join!(told, ended);
}

async fn say(socket: &WsTransport, bytes: bytes::Bytes) -> Result<(), TransportError> {
    let role = OutboundRole::Notification;
    socket.send(Outbound { bytes, role, ticket: None, headers: None, parsed: None }).await
}
