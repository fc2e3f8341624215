//! The client on our standard streams. Threads of their own read and write them, since that may
//! take forever.

use std::{
    io::{ErrorKind, Read, Write},
    thread,
};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use crate::{
    bridge::outbox::Outbox,
    stdio::splitter::{Line, Splitter},
};

/// A line of the client.
#[derive(Debug)]
pub(super) enum ClientLine {
    Whole {
        text: Bytes,
        /// Whether a line break follows it, and not the end of the stream.
        ends: bool,
    },
    TooLong {
        length: u64,
    },
}

/// How many lines of the client may wait.
const QUEUE: usize = 16;
const BUFFER: usize = 64 << 10;

/// Reads lines until the stream ends or nobody wants more.
pub(super) fn lines_of(
    mut input: impl Read + Send + 'static,
    max_line: usize,
) -> mpsc::Receiver<ClientLine> {
    let (sender, lines) = mpsc::channel(QUEUE);
    thread::spawn(move || {
        let mut splitter = Splitter::new(max_line);
        let mut buffer = vec![0; BUFFER];
        let send = |line: Line<'_>, ends| {
            // If nobody wants it, the next read is the last.
            let _ = sender.blocking_send(match line {
                Line::Whole(text) => ClientLine::Whole { text: Bytes::copy_from_slice(text), ends },
                Line::TooLong { length } => ClientLine::TooLong { length },
            });
        };
        while !sender.is_closed() {
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    splitter.push(bytes, |line| send(line, true));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        splitter.finish(|line| send(line, false));
    });
    lines
}

/// Writes every text as a line, until it cannot. The second completes when nothing more is written.
pub(super) fn writer_to(
    mut output: impl Write + Send + 'static,
) -> (Outbox, oneshot::Receiver<()>) {
    let (outbox, mut texts) = Outbox::new();
    let (done, is_done) = oneshot::channel();
    thread::spawn(move || {
        let mut out = Vec::new();
        while let Some(posted) = texts.blocking_recv() {
            out.clear();
            out.extend_from_slice(&posted.text);
            out.push(b'\n');
            // In one piece: the client may look at it at once.
            if output.write_all(&out).and_then(|()| output.flush()).is_err() {
                break;
            }
            out.shrink_to(BUFFER);
        }
        drop(texts);
        let _ = done.send(());
    });
    (outbox, is_done)
}
