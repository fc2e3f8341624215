use std::{
    pin::{Pin, pin},
    time::Duration,
};

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;
use mcp_core::{MemoryBudget, MemoryShare};

use super::{HttpFault, HttpSettings};

/// The maximum number of bytes to read and discard of a body that is too long. A client that is cut
/// off while still sending may see a broken connection instead of the response.
const DISCARDED: usize = 16 << 20;
/// How long discarding may take.
const DISCARDING: Duration = Duration::from_secs(2);

/// Reads the bodies of requests, and limits the memory of all incomplete ones together.
#[derive(Debug)]
pub(super) struct BodyReader {
    budget: MemoryBudget,
}

impl BodyReader {
    pub(super) fn new(settings: &HttpSettings) -> BodyReader {
        BodyReader { budget: MemoryBudget::new(settings.max_unfinished) }
    }

    /// Reads a body within the limits on size and time.
    pub(super) async fn read<B>(&self, body: B, settings: &HttpSettings) -> Result<Bytes, HttpFault>
    where
        B: Body<Data = Bytes>,
    {
        let limit = settings.max_body;
        let mut body = pin!(body);
        let outcome = if body.size_hint().lower() > limit as u64 {
            Err(HttpFault::BodyTooLong { limit })
        } else {
            let collected = self.collect(body.as_mut(), limit);
            let seconds = settings.body_timeout.as_secs();
            tokio::time::timeout(settings.body_timeout, collected)
                .await
                .unwrap_or(Err(HttpFault::BodyTooSlow { seconds }))
        };
        let can_end = body.size_hint().lower() <= DISCARDED as u64;
        if can_end && matches!(outcome, Err(HttpFault::BodyTooLong { .. })) {
            let patience = DISCARDING.min(settings.body_timeout);
            let _ = tokio::time::timeout(patience, discard(body)).await;
        }
        outcome
    }

    async fn collect<B>(&self, mut body: Pin<&mut B>, limit: usize) -> Result<Bytes, HttpFault>
    where
        B: Body<Data = Bytes>,
    {
        let announced = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
        let most = announced.unwrap_or(limit).min(limit);
        let mut first = Bytes::new();
        let mut joined = PartialBody { text: Vec::new(), held: self.budget.share(), most };
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return Err(HttpFault::BodyBroken) };
            let Ok(data) = frame.into_data() else { continue };
            if first.len() + joined.text.len() + data.len() > limit {
                return Err(HttpFault::BodyTooLong { limit });
            }
            // Most messages arrive in one piece, which need not be copied.
            if first.is_empty() && joined.text.is_empty() {
                first = data;
                if !body.is_end_stream() {
                    joined.hold(first.len())?;
                }
            } else {
                if joined.text.is_empty() {
                    joined.add(&std::mem::take(&mut first))?;
                }
                joined.add(&data)?;
            }
        }
        Ok(if joined.text.is_empty() { first } else { joined.finish() })
    }
}

/// Reads and discards the rest of a body, within limits.
async fn discard<B: Body<Data = Bytes>>(mut body: Pin<&mut B>) {
    let mut left = DISCARDED;
    while let Some(Ok(frame)) = body.frame().await {
        match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// A body that arrives in pieces, and the memory it takes.
struct PartialBody {
    text: Vec<u8>,
    held: MemoryShare,
    /// The maximum length of the body, as far as known.
    most: usize,
}

impl PartialBody {
    fn add(&mut self, data: &[u8]) -> Result<(), HttpFault> {
        let needed = self.text.len() + data.len();
        if needed > self.text.capacity() {
            // Doubles, but never beyond the length of the body: the message keeps this memory.
            let capacity = needed.max(self.most.min(2 * self.text.capacity()));
            self.hold(capacity)?;
            self.text.reserve_exact(capacity - self.text.len());
        }
        self.text.extend_from_slice(data);
        Ok(())
    }

    /// Holds `bytes` in all.
    fn hold(&mut self, bytes: usize) -> Result<(), HttpFault> {
        let more = bytes.saturating_sub(self.held.bytes());
        if self.held.grow(more) { Ok(()) } else { Err(HttpFault::TooManyUnfinished) }
    }

    fn finish(mut self) -> Bytes {
        self.text.shrink_to_fit();
        self.text.into()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        task::{Context, Poll},
    };

    use http_body::{Frame, SizeHint};

    use super::*;

    /// A body of pieces of 1000 bytes.
    struct Pieces {
        left: usize,
        is_announced: bool,
    }

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let piece = Bytes::from_static(&[b'x'; 1000]).slice(..self.left.min(1000));
            self.left -= piece.len();
            Poll::Ready((!piece.is_empty()).then_some(Ok(Frame::data(piece))))
        }

        fn size_hint(&self) -> SizeHint {
            if self.is_announced { SizeHint::with_exact(self.left as u64) } else { SizeHint::new() }
        }
    }

    #[tokio::test]
    async fn a_body_takes_no_more_memory_than_its_length() {
        let settings = HttpSettings::default();
        for is_announced in [true, false] {
            for length in [1, 1000, 1001, 70_001, 1 << 20, (1 << 20) + 1] {
                let reader = BodyReader::new(&settings);
                let body = Pieces { left: length, is_announced };
                let read = reader.read(body, &settings).await.unwrap();
                assert_eq!(read.len(), length);
                if length > 1000 {
                    assert_eq!(Vec::from(read).capacity(), length, "announced: {is_announced}");
                }
                assert_eq!(reader.budget.used(), 0);
            }
        }
    }

    #[tokio::test]
    async fn room_for_an_unfinished_body_counts_even_if_nothing_is_in_it_yet() {
        let mut settings = HttpSettings::default();
        (settings.max_unfinished, settings.max_body) = (100_000, 100_000);
        let reader = BodyReader::new(&settings);
        let _other = reader.budget.take(1).unwrap();
        // 64,000 bytes become 99,999 before there are that many.
        let body = Pieces { left: 65_000, is_announced: false };
        let refused = reader.read(body, &settings).await;
        assert!(matches!(refused, Err(HttpFault::TooManyUnfinished)), "{refused:?}");
        let body = Pieces { left: 65_000, is_announced: true };
        assert_eq!(reader.read(body, &settings).await.unwrap().len(), 65_000);
    }
}
