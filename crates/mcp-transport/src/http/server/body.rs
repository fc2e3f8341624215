use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{HttpFault, HttpSettings};

/// Reads the bodies of requests, which together take only so much room until they are whole.
#[derive(Debug)]
pub(super) struct Bodies {
    room: Semaphore,
}

impl Bodies {
    pub(super) fn new(settings: &HttpSettings) -> Bodies {
        let bytes = settings.max_unfinished.max(settings.max_body);
        Bodies { room: Semaphore::new(bytes.min(Semaphore::MAX_PERMITS)) }
    }

    /// Reads a body, but not more than allowed and not longer.
    pub(super) async fn read<B>(&self, body: B, settings: &HttpSettings) -> Result<Bytes, HttpFault>
    where
        B: Body<Data = Bytes>,
    {
        let limit = settings.max_body;
        if body.size_hint().lower() > limit as u64 {
            return Err(HttpFault::BodyTooLong { limit });
        }
        let seconds = settings.body_timeout.as_secs();
        match tokio::time::timeout(settings.body_timeout, self.collect(body, limit)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(HttpFault::BodyTooSlow { seconds }),
        }
    }

    async fn collect<B>(&self, body: B, limit: usize) -> Result<Bytes, HttpFault>
    where
        B: Body<Data = Bytes>,
    {
        let mut body = pin!(body);
        let mut first = Bytes::new();
        let mut joined = Unfinished::new(self);
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return Err(HttpFault::BodyBroken) };
            let Ok(data) = frame.into_data() else { continue };
            if first.len() + joined.text.len() + data.len() > limit {
                return Err(HttpFault::BodyTooLong { limit });
            }
            // Most messages come in one piece, which need not be copied.
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

/// A body that comes in pieces, and the room it takes.
struct Unfinished<'r> {
    text: BytesMut,
    bodies: &'r Bodies,
    taken: Option<SemaphorePermit<'r>>,
}

impl<'r> Unfinished<'r> {
    fn new(bodies: &'r Bodies) -> Unfinished<'r> {
        Unfinished { text: BytesMut::new(), bodies, taken: None }
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
