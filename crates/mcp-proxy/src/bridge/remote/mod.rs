//! Connects a client on our standard streams or over WebSocket to a server at a URL or a child
//! process.

mod console;
mod headers;
mod link;
mod redial;
mod server;
mod socket;

use std::{
    io::{self, Read, Write},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;

pub use self::server::{Remote, RemoteError};
pub(crate) use self::socket::run_socket;

use self::{console::ClientLine, link::Link};
use super::{
    client_queue::ClientQueue,
    conversation_tap::{ConversationTap, Wire},
};
use crate::{
    Tap,
    shutdown::{Drain, Phase, STOPPED},
    stdio::streams,
};

/// A conversation of a client inside this process, without streams.
#[derive(Debug, Clone)]
pub(crate) struct RemoteConversation(Arc<Link>);

impl RemoteConversation {
    /// Starts it. Lines from the server go to `to_client`.
    pub(crate) fn begin(
        remote: &Remote,
        tap: ConversationTap,
        max_message: usize,
        to_client: ClientQueue,
    ) -> RemoteConversation {
        let limits = (max_message, RemoteSettings::default().max_waiting);
        RemoteConversation(Link::new(remote.clone(), tap, limits, to_client))
    }

    pub(crate) async fn say(&self, text: Bytes) {
        self.0.take_from_client(ClientLine::Whole { text, ends: true, room: None }).await;
    }

    /// Ends the conversation without answering open requests.
    pub(crate) async fn leave(&self) {
        self.0.leave().await;
    }
}

/// Time to deliver the last errors when everything has to end at once.
const FORCED_WAIT: Duration = Duration::from_millis(100);

/// Settings of [`run`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RemoteSettings {
    /// Maximum line length in bytes. Longer lines are refused. Default: 16 MiB.
    pub max_line: usize,
    /// Maximum number of open requests; further ones get an error. Default: 1,000.
    pub max_waiting: usize,
    /// How long the server may stay silent after the client has left, while requests are open.
    /// Default: 5 s.
    pub exit_wait: Duration,
    /// When to stop. Default: when the client leaves.
    pub drain: Drain,
}

impl Default for RemoteSettings {
    fn default() -> Self {
        RemoteSettings {
            max_line: 16 << 20,
            max_waiting: 1000,
            exit_wait: Duration::from_secs(5),
            drain: Drain::default(),
        }
    }
}

/// Connects the client on our standard streams to a remote server until the client leaves or
/// `settings.drain` stops. Then ends the session with the server.
///
/// # Errors
///
/// If our standard streams cannot be used.
pub async fn run(remote: Remote, tap: &Tap, settings: &RemoteSettings) -> io::Result<()> {
    run_over(remote, (streams::input()?, streams::output()?), tap, settings).await;
    Ok(())
}

/// Like [`run`], for a client on any streams.
pub async fn run_over(
    remote: Remote,
    (input, output): (impl Read + Send + 'static, impl Write + Send + 'static),
    tap: &Tap,
    settings: &RemoteSettings,
) {
    let RemoteSettings { max_line, max_waiting, exit_wait, ref drain } = *settings;
    let mut lines = console::lines_of(input, max_line);
    let (to_client, written) = console::writer_to(output);
    let tap = ConversationTap::new(tap.clone(), None, Wire::Lines);
    let link = Link::new(remote, tap, (max_line, max_waiting), to_client);
    let talk = async {
        while let Some(line) = lines.recv().await {
            link.take_from_client(line).await;
        }
        while link.is_waiting() {
            if tokio::time::timeout(exit_wait, link.heard.notified()).await.is_err() {
                return "the client has left";
            }
        }
        "the client has left"
    };
    let answered = async {
        drain.reached(Phase::Draining).await;
        while link.is_waiting() {
            link.heard.notified().await;
        }
    };
    let reason = tokio::select! {
        reason = talk => reason,
        () = link.client_left() => "the client has left",
        () = link.ended() => "the server has ended",
        () = answered => STOPPED,
        () = drain.reached(Phase::Stopping) => STOPPED,
    };
    if drain.phase() == Phase::Forced {
        let _ = tokio::time::timeout(FORCED_WAIT, link.fail_all(reason)).await;
        return;
    }
    // Do not wait for a client that does not read its answers.
    let _ = tokio::time::timeout(exit_wait, link.close(reason)).await;
    drop(link);
    let _ = tokio::time::timeout(exit_wait, written).await;
}
