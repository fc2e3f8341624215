use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use mcp_core::{MemoryBudget, MemoryShare};

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body forwarded by the proxy.
pub(crate) type ProxyBody = UnsyncBoxBody<Bytes, BoxError>;

pub(crate) fn boxed<B>(body: B) -> ProxyBody
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    body.map_err(Into::into).boxed_unsync()
}

pub(crate) fn full(bytes: Bytes) -> ProxyBody {
    boxed(Full::new(bytes))
}

/// Prepends bytes to a body.
pub(super) fn after<B>(first: Bytes, body: B) -> ProxyBody
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    boxed(Prefixed { first: Some(first), body: boxed(body) })
}

struct Prefixed {
    first: Option<Bytes>,
    body: ProxyBody,
}

impl Body for Prefixed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        match this.first.take() {
            Some(first) => Poll::Ready(Some(Ok(Frame::data(first)))),
            None => Pin::new(&mut this.body).poll_frame(context),
        }
    }
}

/// An event stream that ends early when `ended` completes; `last` is sent then.
pub(super) fn events_until(
    body: ProxyBody,
    ended: impl Future<Output = ()> + Send + 'static,
    last: impl FnOnce() -> Option<Bytes> + Send + 'static,
) -> ProxyBody {
    let (ended, last) = (Box::pin(ended), Some(Box::new(last) as Box<_>));
    boxed(EventsUntil { body: Some(body), ended, last, tail: [b'\n'; 4] })
}

struct EventsUntil {
    body: Option<ProxyBody>,
    ended: Pin<Box<dyn Future<Output = ()> + Send>>,
    last: Option<Box<dyn FnOnce() -> Option<Bytes> + Send>>,
    /// The last bytes, which show whether an event is complete.
    tail: [u8; 4],
}

impl EventsUntil {
    fn note(&mut self, data: &[u8]) {
        for byte in data.iter().skip(data.len().saturating_sub(self.tail.len())) {
            self.tail.rotate_left(1);
            self.tail[3] = *byte;
        }
    }

    fn is_between_events(&self) -> bool {
        self.tail.ends_with(b"\n\n") || self.tail.ends_with(b"\r\n\r\n")
    }
}

impl Body for EventsUntil {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(context) {
            if let Some(Ok(frame)) = &frame
                && let Some(data) = frame.data_ref()
            {
                this.note(data);
            }
            return Poll::Ready(frame);
        }
        if this.ended.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        let last = this.last.take().filter(|_| this.is_between_events()).and_then(|last| last());
        this.body = None;
        Poll::Ready(last.map(|last| Ok(Frame::data(last))))
    }
}

/// The received part of a body, up to a limit, and as long as there is memory for it.
#[derive(Debug)]
pub(super) struct Collected {
    limit: usize,
    length: u64,
    text: Text,
    held: MemoryShare,
    has_room: bool,
}

/// Most bodies arrive in one piece, which need not be copied.
#[derive(Debug)]
enum Text {
    Nothing,
    One(Bytes),
    Several(BytesMut),
}

impl Collected {
    pub(super) fn new(limit: usize, held: MemoryShare) -> Collected {
        Collected { limit, length: 0, text: Text::Nothing, held, has_room: true }
    }

    pub(super) fn push(&mut self, piece: &Bytes) {
        self.length += piece.len() as u64;
        if self.is_too_long() || !self.has_room {
            return self.discard();
        }
        if !self.held.grow(piece.len()) {
            self.has_room = false;
            return self.discard();
        }
        self.text = match std::mem::replace(&mut self.text, Text::Nothing) {
            Text::Nothing => Text::One(piece.clone()),
            Text::One(first) => {
                let mut several = BytesMut::from(&*first);
                several.extend_from_slice(piece);
                Text::Several(several)
            }
            Text::Several(mut several) => {
                several.extend_from_slice(piece);
                Text::Several(several)
            }
        };
    }

    fn discard(&mut self) {
        self.text = Text::Nothing;
        self.held.clear();
    }

    pub(super) fn is_too_long(&self) -> bool {
        self.length > self.limit as u64
    }

    /// Whether it was not kept for lack of memory.
    pub(super) fn is_crowded_out(&self) -> bool {
        !self.has_room && !self.is_too_long()
    }

    /// Its length, whether or not it was kept.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Takes the whole text; empty if it was not kept. Its memory share is returned with `self`.
    pub(super) fn take(&mut self) -> Bytes {
        match std::mem::replace(&mut self.text, Text::Nothing) {
            Text::Nothing => Bytes::new(),
            Text::One(text) => text,
            Text::Several(text) => text.freeze(),
        }
    }
}

/// Why a body could not be read completely.
#[derive(Debug)]
pub(super) enum ReadError {
    TooLong,
    Broken,
    /// There is no memory left for it.
    NoRoom,
}

/// A complete body, with its share of the memory budget.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) text: Bytes,
    pub(super) held: MemoryShare,
}

impl Whole {
    /// Turns it into a body that returns its memory share once sent.
    pub(super) fn into_body(self) -> ProxyBody {
        held_until_sent(self.text, self.held)
    }
}

/// A body that returns its memory share once sent.
pub(super) fn held_until_sent(text: Bytes, held: MemoryShare) -> ProxyBody {
    full(Bytes::from_owner(HeldText { text, _held: held }))
}

struct HeldText {
    text: Bytes,
    _held: MemoryShare,
}

impl AsRef<[u8]> for HeldText {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

/// Reads a complete body.
pub(super) async fn read_whole<B>(
    mut body: B,
    limit: usize,
    room: &MemoryBudget,
) -> Result<Whole, ReadError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut collected = Collected::new(limit, room.share());
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(ReadError::Broken) };
        if let Some(data) = frame.data_ref() {
            collected.push(data);
            if collected.is_too_long() {
                return Err(ReadError::TooLong);
            }
            if collected.is_crowded_out() {
                return Err(ReadError::NoRoom);
            }
        }
    }
    Ok(Whole { text: collected.take(), held: collected.held })
}

/// Reads a complete body that is known to be short; `None` if it is incomplete.
pub(super) async fn read_short<B>(mut body: B) -> Option<Bytes>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut pieces: Vec<Bytes> = Vec::new();
    while let Some(frame) = body.frame().await {
        pieces.extend(frame.ok()?.into_data().ok());
    }
    Some(match <[Bytes; 1]>::try_from(pieces) {
        Ok([whole]) => whole,
        Err(pieces) => pieces.concat().into(),
    })
}
