//! Line-based conversations.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{ChildStdin, ChildStdout},
    sync::mpsc,
};

use super::outlet::{Out, Outlet};
use crate::{
    WireKind,
    client::play::{Play, Plays},
};

/// Splits bytes into lines.
#[derive(Debug)]
pub(super) struct Lines {
    play: Arc<Play>,
    outlet: Outlet,
    line: Vec<u8>,
    skipped: u64,
}

impl Lines {
    pub(super) fn new(play: Arc<Play>, outlet: Outlet) -> Lines {
        Lines { play, outlet, line: Vec::new(), skipped: 0 }
    }

    /// Takes received bytes. False if the client has sent too much.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> bool {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.keep(&bytes[..end]);
            bytes = &bytes[end + 1..];
            if self.skipped > 0 {
                self.play.skip(self.skipped);
            } else {
                let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
                self.play.hear_line(line, false, &self.outlet);
            }
            self.line.clear();
            self.skipped = 0;
        }
        self.keep(bytes);
        self.play.has_room()
    }

    /// The client's output has ended.
    pub(super) fn end(&mut self) {
        if !self.line.is_empty() {
            self.play.hear_line(&self.line, true, &self.outlet);
            self.line.clear();
        }
    }

    fn keep(&mut self, part: &[u8]) {
        if self.skipped > 0 || self.line.len() + part.len() > self.play.limits.message_bytes {
            self.skipped += (self.line.len() + part.len()) as u64;
            self.line.clear();
        } else {
            self.line.extend_from_slice(part);
        }
    }
}

/// Runs a conversation over the client's own standard streams.
pub(super) async fn talk_over_streams(
    plays: Arc<Plays>,
    mut input: ChildStdin,
    mut output: ChildStdout,
) {
    let play = plays.begin(WireKind::Stdio);
    let (sender, mut out) = mpsc::channel(64);
    let mut lines = Lines::new(Arc::clone(&play), Outlet::lines(sender));
    let writing = async {
        while let Some(out) = out.recv().await {
            if let Out::Output(bytes) = out
                && input.write_all(&bytes).await.is_err()
            {
                break;
            }
        }
        std::future::pending::<()>().await;
    };
    let reading = async {
        let mut chunk = vec![0; 64 << 10];
        while let Ok(length @ 1..) = output.read(&mut chunk).await {
            if !lines.take(&chunk[..length]) {
                break;
            }
        }
        lines.end();
    };
    tokio::select! {
        () = writing => {}
        () = reading => {}
        () = play.cut() => {}
    }
    play.close(false);
}
