use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body that passes the proxy.
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

/// A body as far as it has come, up to a limit.
#[derive(Debug)]
pub(super) struct Collected {
    limit: usize,
    length: u64,
    text: Text,
}

/// Most bodies come in one piece, which is not copied then.
#[derive(Debug)]
enum Text {
    Nothing,
    One(Bytes),
    Several(BytesMut),
}

impl Collected {
    pub(super) fn new(limit: usize) -> Collected {
        Collected { limit, length: 0, text: Text::Nothing }
    }

    pub(super) fn push(&mut self, piece: &Bytes) {
        self.length += piece.len() as u64;
        self.text = match std::mem::replace(&mut self.text, Text::Nothing) {
            _ if self.is_too_long() => Text::Nothing,
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

    pub(super) fn is_too_long(&self) -> bool {
        self.length > self.limit as u64
    }

    /// How long it is, whether or not it is kept.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// All of it, which is nothing if it was too long.
    pub(super) fn take(&mut self) -> Bytes {
        match std::mem::replace(&mut self.text, Text::Nothing) {
            Text::Nothing => Bytes::new(),
            Text::One(text) => text,
            Text::Several(text) => text.freeze(),
        }
    }
}

/// Why a body could not be read whole.
#[derive(Debug)]
pub(super) enum Unread {
    TooLong,
    Broken,
}

/// Reads all of a body.
pub(super) async fn read_whole<B>(mut body: B, limit: usize) -> Result<Bytes, Unread>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut collected = Collected::new(limit);
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(Unread::Broken) };
        if let Some(data) = frame.data_ref() {
            collected.push(data);
            if collected.is_too_long() {
                return Err(Unread::TooLong);
            }
        }
    }
    Ok(collected.take())
}
