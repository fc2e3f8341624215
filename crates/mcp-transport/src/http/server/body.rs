use std::{
    pin::{Pin, pin},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{HttpFault, HttpSettings};

/// How much of a body that is too long is read and discarded. A client that is cut off while still
/// sending may never read the response, and sees a broken connection instead.
const DISCARDED: usize = 16 << 20;
/// How long that may take.
const DISCARDING: Duration = Duration::from_secs(2);

/// Reads the bodies of requests, and limits the memory of all incomplete ones together.
#[derive(Debug)]
pub(super) struct BodyReader {
    room: Semaphore,
}

impl BodyReader {
    pub(super) fn new(settings: &HttpSettings) -> BodyReader {
        let bytes = settings.max_unfinished.max(settings.max_body);
        BodyReader { room: Semaphore::new(bytes.min(Semaphore::MAX_PERMITS)) }
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
        let mut first = Bytes::new();
        let mut joined = PartialBody::new(self);
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return Err(HttpFault::BodyBroken) };
            let Ok(data) = frame.into_data() else { continue };
            if first.len() + joined.text.len() + data.len() > limit {
                return Err(HttpFault::BodyTooLong { limit });
            }
            // Most messages arrive in one piece, which need not be copied.
            if first.is_empty() && joined.text.is_empty() {
                first = data;
            } else {
                if joined.text.is_empty() {
                    joined.add(&std::mem::take(&mut first))?;
                }
                joined.add(&data)?;
            }
        }
        Ok(if joined.text.is_empty() { first } else { joined.text.freeze() })
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
struct PartialBody<'r> {
    text: BytesMut,
    bodies: &'r BodyReader,
    taken: Option<SemaphorePermit<'r>>,
}

impl<'r> PartialBody<'r> {
    fn new(bodies: &'r BodyReader) -> PartialBody<'r> {
        PartialBody { text: BytesMut::new(), bodies, taken: None }
    }

    fn add(&mut self, data: &[u8]) -> Result<(), HttpFault> {
        let room =
            u32::try_from(data.len()).ok().map(|bytes| self.bodies.room.try_acquire_many(bytes));
        let Some(Ok(room)) = room else { return Err(HttpFault::TooManyUnfinished) };
        match &mut self.taken {
            Some(taken) => taken.merge(room),
            None => self.taken = Some(room),
        }
        self.text.extend_from_slice(data);
        Ok(())
    }
}
