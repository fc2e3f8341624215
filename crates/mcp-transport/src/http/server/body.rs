use std::{
    pin::{Pin, pin},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use mcp_core::{MemoryBudget, MemoryShare};

use super::{HttpFault, HttpSettings};

/// How much of a body that is too long is read and discarded. A client that is cut off while still
/// sending may never read the response, and sees a broken connection instead.
const DISCARDED: usize = 16 << 20;
/// How long that may take.
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
        let mut first = Bytes::new();
        let mut joined = PartialBody { text: BytesMut::new(), held: self.budget.share() };
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
                    joined.take_room(first.len())?;
                }
            } else {
                if joined.text.is_empty() {
                    joined.text.extend_from_slice(&std::mem::take(&mut first));
                }
                joined.take_room(data.len())?;
                joined.text.extend_from_slice(&data);
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
struct PartialBody {
    text: BytesMut,
    held: MemoryShare,
}

impl PartialBody {
    fn take_room(&mut self, bytes: usize) -> Result<(), HttpFault> {
        if self.held.grow(bytes) { Ok(()) } else { Err(HttpFault::TooManyUnfinished) }
    }
}
