use std::{
    fmt, io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::partial::PartialMessage;

/// Any bidirectional byte stream.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Byte counts, to distinguish a slow peer from a dead one.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    read: AtomicU64,
    written: AtomicU64,
}

impl Traffic {
    pub(super) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    pub(super) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

/// A stream that counts its bytes.
pub(super) struct Metered {
    stream: Box<dyn ByteStream>,
    traffic: Arc<Traffic>,
    /// What is read counts as part of this message.
    partial: Option<Arc<PartialMessage>>,
}

impl Metered {
    pub(super) fn new(stream: impl ByteStream + 'static) -> Self {
        Metered { stream: Box::new(stream), traffic: Arc::default(), partial: None }
    }

    /// Counts what is read from now on as part of `message`.
    pub(super) fn count_in(&mut self, message: Arc<PartialMessage>) {
        self.partial = Some(message);
    }

    pub(super) fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let count = buffer.filled().len().saturating_sub(before);
        self.traffic.read.fetch_add(count as u64, Ordering::Relaxed);
        if let Some(partial) = &self.partial {
            partial.add(count)?;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        self.traffic.written.fetch_add(count as u64, Ordering::Relaxed);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl fmt::Debug for Metered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.traffic.fmt(formatter)
    }
}
