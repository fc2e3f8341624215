use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

use super::connections::Activity;

/// A connection that fails when the peer accepts no data for too long. Otherwise a client that does
/// not read would hold its pending responses in memory forever.
#[derive(Debug)]
pub(super) struct WriteTimeout<IO> {
    io: IO,
    limit: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    activity: Arc<Activity>,
}

impl<IO: Unpin> WriteTimeout<IO> {
    pub(super) fn new(io: IO, limit: Duration, activity: Arc<Activity>) -> WriteTimeout<IO> {
        WriteTimeout { io, limit, waiting: None, activity }
    }

    fn poll_with_timeout<T>(
        &mut self,
        context: &mut Context<'_>,
        attempt: impl FnOnce(Pin<&mut IO>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(outcome) = attempt(Pin::new(&mut self.io), context) {
            self.waiting = None;
            return Poll::Ready(outcome);
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for WriteTimeout<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.io).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.activity.read();
        }
        read
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<IO> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.activity.touch();
        self.poll_with_timeout(context, |io, context| io.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.activity.touch();
        self.poll_with_timeout(context, |io, context| io.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_with_timeout(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_with_timeout(context, AsyncWrite::poll_shutdown)
    }
}
