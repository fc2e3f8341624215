//! One message per line, over any pair of byte streams: pipes, sockets, TLS.
//!
//! This is the framing of MCP's stdio transport. Incoming lines end with `\n` or `\r\n`, or with
//! the stream; blank lines are ignored. Lines beyond the limit are skipped in constant memory and
//! reported with their length. Everything else is passed on byte for byte, since it may be invalid
//! text that should be shown.
//!
//! In outgoing messages, newlines become spaces, so a message is always one line. Messages are
//! written at once while the stream accepts them; otherwise they are batched. A sender waits while
//! [`LineSettings::queue_bytes`] are queued, and gets [`TransportError::Stalled`] if nothing is read
//! for [`LineSettings::stall_timeout`].

mod batch;
mod reader;
mod writer;

use std::{
    fmt,
    future::poll_fn,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use mcp_core::{BoxFuture, Framing, Inbound, Outbound, Transport, TransportError};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::ending::Ending;
use reader::LineReader;
use writer::{Flush, LineWriter};

/// The limits of a [`LineTransport`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LineSettings {
    /// Maximum size of an incoming message in bytes; longer ones are skipped. Default: 16 MiB.
    pub max_message: usize,
    /// How many bytes may be queued before senders wait. One larger message is accepted if the
    /// queue is empty. Default: 1 MiB.
    pub queue_bytes: usize,
    /// How long the peer may read nothing while there is something to write. Default: 30 seconds.
    pub stall_timeout: Duration,
}

impl Default for LineSettings {
    fn default() -> Self {
        LineSettings {
            max_message: 16 * 1024 * 1024,
            queue_bytes: 1024 * 1024,
            stall_timeout: Duration::from_secs(30),
        }
    }
}

/// Messages as lines: read from `R`, written to `W`.
///
/// [`close`](Transport::close) waits until everything is written, as long as the peer keeps
/// reading; then `receive` returns what was already read and ends. When the transport is dropped,
/// queued messages are still written.
pub struct LineTransport<R, W> {
    reader: Mutex<LineReader<R>>,
    writer: LineWriter<W>,
    ending: Arc<Ending>,
    /// More input has been read than delivered: under load, answers come in bursts.
    is_busy: AtomicBool,
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// A conversation over these streams.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as it spawns a task.
    pub fn new(input: R, output: W, settings: &LineSettings) -> Self {
        let ending = Arc::new(Ending::default());
        let writer = LineWriter::new(
            output,
            settings.queue_bytes,
            settings.stall_timeout,
            Arc::clone(&ending),
        );
        LineTransport {
            reader: Mutex::new(LineReader::new(input, settings.max_message)),
            writer,
            ending,
            is_busy: AtomicBool::new(false),
        }
    }

    pub(crate) fn poll_receive(
        &self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Inbound>, TransportError>> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let next = reader.poll_next(context);
        self.is_busy.store(reader.has_more(), Ordering::Relaxed);
        match next {
            Poll::Ready(next) => Poll::Ready(next),
            Poll::Pending => self.ending.poll(context),
        }
    }

    fn flush(&self) -> Flush {
        if self.is_busy.load(Ordering::Relaxed) { Flush::Batched } else { Flush::Now }
    }

    /// Ends `receive` when writing fails, or when `unread` completes: nobody reads the output.
    #[cfg(feature = "stdio")]
    pub(crate) fn must_write(&self, unread: impl Future<Output = ()> + Send + 'static) {
        self.writer.must_write(unread);
    }

    /// Closes only the sending half.
    #[cfg(feature = "stdio")]
    pub(crate) async fn close_output(&self) {
        self.writer.close().await;
    }

    /// Ends `receive` once it would have to wait.
    #[cfg(feature = "stdio")]
    pub(crate) fn ending(&self) -> Arc<Ending> {
        Arc::clone(&self.ending)
    }
}

impl<R, W> Transport for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(poll_fn(|context| self.poll_receive(context)))
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(self.writer.send(outbound.bytes, self.flush()))
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.writer.close().await;
            self.ending.declare(None);
        })
    }
}

impl<R, W> fmt::Debug for LineTransport<R, W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LineTransport").finish_non_exhaustive()
    }
}
