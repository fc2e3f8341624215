//! A client on our standard streams or over WebSocket, a server at a URL or as a child process.

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
    lane::{Lane, Wire},
    outbox::Outbox,
};
use crate::{
    Tap,
    shutdown::{Drain, Phase, STOPPED},
    stdio::streams,
};

/// A conversation of a client that has no streams of its own.
#[derive(Debug, Clone)]
pub(crate) struct Dialogue(Arc<Link>);

impl Dialogue {
    /// Begins it: what the server says goes to `to_client`, line by line.
    pub(crate) fn begin(
        remote: &Remote,
        lane: Lane,
        max_message: usize,
        to_client: Outbox,
    ) -> Dialogue {
        let limits = (max_message, RemoteSettings::default().max_waiting);
        Dialogue(Link::new(remote.clone(), lane, limits, to_client))
    }

    pub(crate) async fn say(&self, text: Bytes) {
        self.0.take_from_client(ClientLine::Whole { text, ends: true, room: None }).await;
    }

    /// Ends the conversation. Nobody is told that there will be no more answers.
    pub(crate) async fn leave(&self) {
        self.0.leave().await;
    }
}

/// How long whoever waits may take to be told, if everything has to end at once.
const FORCED_WAIT: Duration = Duration::from_millis(100);

/// How [`run`] works.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RemoteSettings {
    /// The longest line, in bytes. Longer ones do not pass. Default: 16 MiB.
    pub max_line: usize,
    /// How many requests may wait for their answers; others get an error. Default: 1,000.
    pub max_waiting: usize,
    /// How long the server may stay silent after the client has left, if it has not answered
    /// everything. Default: 5 s.
    pub exit_wait: Duration,
    /// When to end. Default: when the client leaves.
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

/// Connects the client on our standard streams to a remote server, until the client leaves or
/// `settings.drain` says that it is time. Then the server's session is ended.
///
/// # Errors
///
/// If our standard streams cannot be used.
pub async fn run(remote: Remote, tap: &Tap, settings: &RemoteSettings) -> io::Result<()> {
    run_over(remote, (streams::input()?, streams::output()?), tap, settings).await;
    Ok(())
}

/// The same for a client on any streams.
pub async fn run_over(
    remote: Remote,
    (input, output): (impl Read + Send + 'static, impl Write + Send + 'static),
    tap: &Tap,
    settings: &RemoteSettings,
) {
    let RemoteSettings { max_line, max_waiting, exit_wait, ref drain } = *settings;
    let mut lines = console::lines_of(input, max_line);
    let (to_client, written) = console::writer_to(output);
    let lane = Lane::new(tap.clone(), None, Wire::Lines);
    let link = Link::new(remote, lane, (max_line, max_waiting), to_client);
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
    // A client that does not read its answers must not keep us.
    let _ = tokio::time::timeout(exit_wait, link.close(reason)).await;
    drop(link);
    let _ = tokio::time::timeout(exit_wait, written).await;
}
