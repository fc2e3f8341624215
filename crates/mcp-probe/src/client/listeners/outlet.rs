use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{Mutex, mpsc};

use super::http::events::EventStream;
use crate::client::play::Play;
use mcp_core::Side;
use mcp_rules::TraceEntry;

/// Size of a piece when a message is sent in pieces, in bytes.
const PIECE: usize = 7;

/// Where the server's messages go: lines of a connection, or events of an HTTP answer.
#[derive(Debug, Clone)]
pub(crate) enum Outlet {
    /// Lines.
    Lines(Arc<Mutex<mpsc::Sender<Out>>>),
    /// Events.
    Events(Arc<Mutex<EventStream>>),
}

/// Output to a client over a line-based connection.
#[derive(Debug)]
pub(crate) enum Out {
    /// Bytes of standard output.
    Output(Bytes),
    /// Bytes of standard error.
    Error(Bytes),
}

impl Outlet {
    pub(crate) fn lines(sender: mpsc::Sender<Out>) -> Outlet {
        Outlet::Lines(Arc::new(Mutex::new(sender)))
    }

    /// Sends text as it is. Returns its line in the recording.
    pub(crate) async fn send(&self, play: &Play, text: &str) -> u64 {
        self.send_all(play, &[text.to_owned()], usize::MAX).await
    }

    /// Sends messages at once.
    pub(crate) async fn send_together(&self, play: &Play, messages: &[Value]) -> u64 {
        let texts: Vec<String> = messages.iter().map(Value::to_string).collect();
        self.send_all(play, &texts, usize::MAX).await
    }

    /// Sends a message a few bytes at a time.
    pub(crate) async fn send_in_pieces(&self, play: &Play, message: &Value) -> u64 {
        self.send_all(play, &[message.to_string()], PIECE).await
    }

    /// Writes to standard error, if there is one.
    pub(crate) async fn complain(&self, play: &Play, text: &str) {
        if let Outlet::Lines(sender) = self {
            let sender = sender.lock().await;
            play.recording.add(&TraceEntry::stderr(text.as_bytes()));
            // Nothing to do if the client is gone.
            let _ = sender.send(Out::Error(format!("{text}\n").into())).await;
        }
    }

    async fn send_all(&self, play: &Play, texts: &[String], piece: usize) -> u64 {
        match self {
            Outlet::Lines(sender) => {
                // Hold the lock, so that messages are recorded in the order they are sent.
                let sender = sender.lock().await;
                let mut bytes = Vec::new();
                let mut line = 0;
                for text in texts {
                    line = play.recording.add(&TraceEntry::stdio(Side::Server, text.as_bytes()));
                    bytes.extend_from_slice(text.as_bytes());
                    bytes.push(b'\n');
                }
                for piece in bytes.chunks(piece) {
                    // Nothing to do if the client is gone.
                    let _ = sender.send(Out::Output(Bytes::copy_from_slice(piece))).await;
                }
                line
            }
            Outlet::Events(stream) => stream.lock().await.send(play, texts, piece).await,
        }
    }
}
