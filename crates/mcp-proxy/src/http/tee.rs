use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// How a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Complete,
    /// The sender did not finish it.
    Broken,
    /// The receiver did not read it to the end.
    Unread,
}

/// Observes a body as it passes.
pub(super) trait Watch {
    fn data(&mut self, data: &Bytes);

    /// Called once, last.
    fn end(&mut self, end: End);
}

/// Forwards a body unchanged, and shows it to a [`Watch`].
#[derive(Debug)]
pub(super) struct Tee<B, W: Watch> {
    body: B,
    watch: W,
    ended: bool,
}

impl<B, W: Watch> Tee<B, W> {
    pub(super) fn new(body: B, watch: W) -> Tee<B, W> {
        Tee { body, watch, ended: false }
    }

    fn end(&mut self, end: End) {
        if !std::mem::replace(&mut self.ended, true) {
            self.watch.end(end);
        }
    }
}

impl<B, W> Body for Tee<B, W>
where
    B: Body<Data = Bytes> + Unpin,
    W: Watch + Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    this.watch.data(data);
                }
                // Report the end now: the reader need not poll again.
                if this.body.is_end_stream() {
                    this.end(End::Complete);
                }
            }
            Some(Err(_)) => this.end(End::Broken),
            None => this.end(End::Complete),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B, W: Watch> Drop for Tee<B, W> {
    fn drop(&mut self) {
        self.end(End::Unread);
    }
}
