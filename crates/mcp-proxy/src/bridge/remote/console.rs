//! The client on our standard streams, which are read and written on separate threads, since that
//! may block forever.

use std::{
    io::{ErrorKind, Read, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use bytes::Bytes;
use mcp_core::MessageEnds;
use tokio::sync::{mpsc, oneshot};

use crate::{
    bridge::client_queue::ClientQueue,
    stdio::splitter::{Line, Splitter},
};

/// A line of the client.
#[derive(Debug)]
pub(super) enum ClientLine {
    Whole {
        text: Bytes,
        /// Whether it ends with a line break rather than the end of the stream.
        ends: bool,
        /// Its share of the queue, if it comes from a stream. Dropping it makes room for later
        /// lines.
        room: Option<Taken>,
    },
    TooLong {
        length: u64,
        ends: Box<MessageEnds>,
    },
}

/// Maximum number of queued lines.
const QUEUE: usize = 16;
/// Maximum bytes of queued lines, except for a single longer one.
const QUEUE_BYTES: usize = 1 << 20;
const BUFFER: usize = 64 << 10;

/// Reads lines until the stream ends or the receiver is gone.
pub(super) fn lines_of(
    mut input: impl Read + Send + 'static,
    max_line: usize,
) -> mpsc::Receiver<ClientLine> {
    let (sender, lines) = mpsc::channel(QUEUE);
    thread::spawn(move || {
        let mut splitter = Splitter::new(max_line);
        let mut buffer = vec![0; BUFFER];
        let room = Room::default();
        let send = |line: Line<'_>, ends| {
            // If the receiver is gone, the loop ends after the next read.
            let _ = sender.blocking_send(match line {
                Line::Whole(text) => {
                    let room = Some(room.take(text.len()));
                    ClientLine::Whole { text: Bytes::copy_from_slice(text), ends, room }
                }
                Line::TooLong { length, ends } => {
                    ClientLine::TooLong { length, ends: Box::new(ends.clone()) }
                }
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

/// Counts the bytes of queued lines.
#[derive(Debug, Clone, Default)]
struct Room(Arc<(Mutex<usize>, Condvar)>);

/// The share of a queued line, returned on drop.
#[derive(Debug)]
pub(super) struct Taken {
    room: Room,
    bytes: usize,
}

impl Room {
    /// Waits until there is room for `bytes`, or the queue is empty.
    fn take(&self, bytes: usize) -> Taken {
        let is_full = |held: &mut usize| *held > 0 && *held + bytes > QUEUE_BYTES;
        let held = self.0.1.wait_while(self.lock(), is_full);
        *held.unwrap_or_else(PoisonError::into_inner) += bytes;
        Taken { room: self.clone(), bytes }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        *self.room.lock() -= self.bytes;
        self.room.0.1.notify_one();
    }
}

/// Writes every text as a line until writing fails. The receiver completes when the writer ends.
pub(super) fn writer_to(
    mut output: impl Write + Send + 'static,
) -> (ClientQueue, oneshot::Receiver<()>) {
    let (queue, mut texts) = ClientQueue::new();
    let (done, is_done) = oneshot::channel();
    thread::spawn(move || {
        let mut out = Vec::new();
        while let Some(posted) = texts.blocking_recv() {
            out.clear();
            out.extend_from_slice(&posted.text);
            out.push(b'\n');
            // In one write, so that the client never sees half a line.
            if output.write_all(&out).and_then(|()| output.flush()).is_err() {
                break;
            }
            out.shrink_to(BUFFER);
        }
        drop(texts);
        let _ = done.send(());
    });
    (queue, is_done)
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    /// An endless stream of long lines, which counts the bytes read.
    struct Endless(Arc<AtomicUsize>);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'x');
            if let Some(last) = buffer.last_mut() {
                *last = b'\n';
            }
            self.0.fetch_add(buffer.len(), Ordering::Relaxed);
            Ok(buffer.len())
        }
    }

    #[tokio::test]
    async fn lines_that_wait_are_limited_in_bytes() {
        // Each line is as long as what is read at once.
        let read = Arc::new(AtomicUsize::new(0));
        let mut lines = lines_of(Endless(Arc::clone(&read)), 1 << 30);
        let mut kept = Vec::new();
        for _ in 0..QUEUE_BYTES / BUFFER {
            let Some(ClientLine::Whole { text, room, .. }) = lines.recv().await else {
                panic!("a line is missing");
            };
            assert_eq!(text.len(), BUFFER - 1);
            kept.push(room);
        }
        // Another has no room as long as these are kept; it has been read, and no more.
        assert!(lines.try_recv().is_err());
        kept.pop();
        // As long as this one is kept too, one more is read.
        let another = lines.recv().await;
        assert!(another.is_some());
        assert!(read.load(Ordering::Relaxed) <= QUEUE_BYTES + 2 * BUFFER);
        drop((kept, another, lines));
    }

    #[tokio::test]
    async fn a_longer_line_passes_by_itself() {
        let text = [vec![b'x'; 2 * QUEUE_BYTES], b"\nshort\n".to_vec()].concat();
        let mut lines = lines_of(io::Cursor::new(text), 1 << 30);
        for expected in [2 * QUEUE_BYTES, 5] {
            let Some(ClientLine::Whole { text, .. }) = lines.recv().await else {
                panic!("a line is missing");
            };
            assert_eq!(text.len(), expected);
        }
        assert!(lines.recv().await.is_none());
    }
}
