//! The server that a recording is sent to.

use std::{ffi::OsString, sync::Arc};

use bytes::Bytes;
use mcp_core::{Inbound, Outbound, OutboundRole, Side, Transport as _, TransportError};
use mcp_transport::{ChildCommand, ChildSettings, ChildTransport};
use tokio::sync::mpsc;

use crate::{
    Access, Tap,
    bridge::{
        client_queue::ClientQueue,
        conversation_tap::{ConversationTap, Wire},
        remote::{Remote, RemoteConversation, RemoteError},
    },
};

/// The server to send messages to.
#[derive(Debug, Clone)]
pub struct Target(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Command { command: ChildCommand, max_message: usize },
    Url { remote: Remote, max_message: usize },
}

impl Target {
    /// A stdio server, started for each conversation.
    pub fn command(program: &OsString, arguments: &[OsString], max_message: usize) -> Target {
        let command = ChildCommand::new(program).args(arguments);
        Target(Kind::Command { command, max_message })
    }

    /// A server at a URL. Does not connect yet.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used.
    pub fn url(url: &str, max_message: usize) -> Result<Target, RemoteError> {
        let remote = Remote::new(url, max_message, &Access::default())?;
        Ok(Target(Kind::Url { remote, max_message }))
    }

    /// Starts a conversation. Messages of the server go to `heard`.
    pub(super) fn connect(
        &self,
        number: usize,
        tap: &Tap,
        heard: &mpsc::Sender<Heard>,
    ) -> Result<Peer, TransportError> {
        // A single conversation needs no name.
        let name = (number > 0).then(|| Arc::from(format!("conversation-{}", number + 1)));
        let tap = ConversationTap::new(tap.clone(), name, Wire::Lines);
        match &self.0 {
            Kind::Command { command, max_message } => {
                let mut settings = ChildSettings::default();
                settings.lines.max_message = *max_message;
                let child = Arc::new(ChildTransport::spawn(command, &settings)?);
                tokio::spawn(listen(number, Arc::clone(&child), tap.clone(), heard.clone()));
                Ok(Peer::Child { child, tap })
            }
            Kind::Url { remote, max_message } => {
                let (to_client, mut lines) = ClientQueue::new();
                let heard = heard.clone();
                tokio::spawn(async move {
                    while let Some(posted) = lines.recv().await {
                        let what = Said::Line(posted.text.clone());
                        let said = Heard { conversation: number, what };
                        if heard.send(said).await.is_err() {
                            return;
                        }
                    }
                });
                Ok(Peer::Remote(RemoteConversation::begin(remote, tap, *max_message, to_client)))
            }
        }
    }
}

/// Maximum number of queued lines.
pub(super) const QUEUE: usize = 16;

/// An event of a conversation with the server.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) conversation: usize,
    pub(super) what: Said,
}

#[derive(Debug)]
pub(super) enum Said {
    Line(Bytes),
    /// The conversation ended, for this reason.
    Ended(String),
}

/// One conversation with the server.
#[derive(Debug, Clone)]
pub(super) enum Peer {
    Child { child: Arc<ChildTransport>, tap: ConversationTap },
    Remote(RemoteConversation),
}

impl Peer {
    /// Sends a line. If that fails, the end of the conversation reports why.
    pub(super) async fn send(&self, line: Bytes) {
        match self {
            Peer::Child { child, tap } => {
                tap.pass(Side::Client, &line);
                let role = OutboundRole::Notification;
                let outbound =
                    Outbound { bytes: line, role, ticket: None, headers: None, parsed: None };
                if let Err(error) = child.send(outbound).await {
                    tracing::debug!(%error, "a message did not reach the server");
                }
            }
            Peer::Remote(dialogue) => dialogue.say(line).await,
        }
    }

    pub(super) async fn close(&self) {
        match self {
            Peer::Child { child, .. } => child.close().await,
            Peer::Remote(dialogue) => dialogue.leave().await,
        }
    }
}

/// Forwards the messages of a child until it ends.
async fn listen(
    conversation: usize,
    child: Arc<ChildTransport>,
    tap: ConversationTap,
    heard: mpsc::Sender<Heard>,
) {
    loop {
        let text = match child.receive().await {
            Ok(Some(Inbound::Message { bytes, .. })) => bytes,
            Ok(Some(Inbound::Parsed { message, .. })) => message.text(),
            Ok(Some(Inbound::TooLong { length, .. })) => {
                tap.skip(Side::Server, length);
                continue;
            }
            Ok(Some(_)) => continue,
            Ok(None) => return,
            Err(error) => {
                let what = Said::Ended(error.to_string());
                // If the player is gone, the event is not needed.
                let _ = heard.send(Heard { conversation, what }).await;
                return;
            }
        };
        tap.pass(Side::Server, &text);
        if heard.send(Heard { conversation, what: Said::Line(text) }).await.is_err() {
            return;
        }
    }
}
