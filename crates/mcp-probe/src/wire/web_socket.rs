//! The WebSocket transport.

use std::sync::Arc;

use http::HeaderMap;
use mcp_core::{Inbound, Outbound, OutboundRole, Side, Transport as _};
use mcp_rules::TraceEntry;
use mcp_transport::{
    WsTransport,
    ws::{self, WsClientSettings},
};

use crate::{
    ConversationError, Limits, Recording,
    conversation::{Inbox, Kind, answering},
};

#[derive(Debug)]
pub(crate) struct WebSocket {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    socket: WsTransport,
    recording: Arc<Recording>,
    inbox: Arc<Inbox>,
    answers: bool,
}

impl WebSocket {
    pub(super) async fn connect(
        url: &str,
        headers: &HeaderMap,
        recording: &Arc<Recording>,
        inbox: &Arc<Inbox>,
        answers: bool,
        limits: &Limits,
    ) -> Result<WebSocket, ConversationError> {
        let mut settings = WsClientSettings::default();
        settings.connection.max_message = limits.message_bytes;
        settings.headers = headers.clone();
        let socket = tokio::time::timeout(limits.start, ws::connect(url, &settings))
            .await
            .map_err(|_| {
                ConversationError::Unreachable("it does not accept connections".to_owned())
            })?
            .map_err(|error| ConversationError::Unreachable(error.to_string()))?;
        let (recording, inbox) = (Arc::clone(recording), Arc::clone(inbox));
        let shared = Arc::new(Shared { socket, recording, inbox, answers });
        tokio::spawn(listen(Arc::clone(&shared)));
        Ok(WebSocket { shared })
    }

    pub(super) async fn send(&self, text: &[u8]) -> Result<u64, ConversationError> {
        self.shared.send(text).await
    }

    pub(super) async fn close(&self) {
        self.shared.socket.close().await;
    }
}

impl Shared {
    async fn send(&self, text: &[u8]) -> Result<u64, ConversationError> {
        let line = self.recording.add(&TraceEntry::web_socket(Side::Client, text));
        let bytes = bytes::Bytes::copy_from_slice(text);
        let role = OutboundRole::Notification;
        let outbound = Outbound { bytes, role, ticket: None, headers: None, parsed: None };
        let sent = self.socket.send(outbound).await;
        sent.map(|()| line).map_err(|error| ConversationError::Ended(error.to_string()))
    }
}

async fn listen(shared: Arc<Shared>) {
    loop {
        let text = match shared.socket.receive().await {
            Ok(Some(Inbound::Message { bytes, .. })) => bytes,
            Ok(Some(Inbound::Parsed { message, .. })) => message.text(),
            Ok(Some(Inbound::TooLong { length, .. })) => {
                let entry = TraceEntry::web_socket(Side::Server, b"").skipping(length);
                shared.recording.add(&entry);
                continue;
            }
            Ok(Some(_)) => continue,
            Ok(None) => return shared.inbox.end("it closed the connection"),
            Err(error) => return shared.inbox.end(error.to_string()),
        };
        let line = shared.recording.add(&TraceEntry::web_socket(Side::Server, &text));
        for message in shared.inbox.add(line, &text, None) {
            if shared.answers && message.kind == Kind::Request {
                let (shared, answer) = (Arc::clone(&shared), answering::answer(&message.value));
                tokio::spawn(async move { shared.send(answer.to_string().as_bytes()).await });
            }
        }
    }
}
