use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use super::body::BoxError;

/// A body that fails if it stalls for too long, so that half a body cannot hold a connection
/// forever.
#[derive(Debug)]
pub(super) struct Patience<B> {
    body: B,
    limit: Duration,
    /// Set while a read is pending.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<B> Patience<B> {
    pub(super) fn new(body: B, limit: Duration) -> Patience<B> {
        Patience { body, limit, waiting: None }
    }
}

impl<B> Body for Patience<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.waiting = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let limit = this.limit;
        let waiting = this.waiting.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Some(Err("nothing more of the body has come".into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
