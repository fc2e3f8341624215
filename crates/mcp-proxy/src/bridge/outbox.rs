use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// How much may wait for a client, in bytes, if it is not a single message.
const MOST: u32 = 1 << 20;
/// What a message takes besides its text, roughly.
const OVERHEAD: usize = 64;

/// Where messages wait for a client. Bounded in bytes: whoever adds one waits for room.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    messages: mpsc::UnboundedSender<Posted>,
    room: Arc<Semaphore>,
}

/// A message for a client. Its room is free when it is dropped.
#[derive(Debug)]
pub(crate) struct Posted {
    pub(crate) text: Bytes,
    _room: OwnedSemaphorePermit,
}

impl Outbox {
    pub(crate) fn new() -> (Outbox, mpsc::UnboundedReceiver<Posted>) {
        let (messages, posted) = mpsc::unbounded_channel();
        (Outbox { messages, room: Arc::new(Semaphore::new(MOST as usize)) }, posted)
    }

    /// Adds a message when there is room; `false` if nobody takes any more.
    pub(crate) async fn post(&self, text: Bytes) -> bool {
        let size = u32::try_from(text.len() + OVERHEAD).unwrap_or(MOST).min(MOST);
        // If nobody takes any more, what waits is dropped, and so there is room.
        let Ok(room) = Arc::clone(&self.room).acquire_many_owned(size).await else { return false };
        self.messages.send(Posted { text, _room: room }).is_ok()
    }

    /// Completes when nobody takes messages any more.
    pub(crate) async fn closed(&self) {
        self.messages.closed().await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// Whether a message of `length` bytes has room at once.
    async fn has_room(outbox: &Outbox, length: usize) -> bool {
        let mut posting = Box::pin(outbox.post(vec![0; length].into()));
        poll_fn(|context| std::task::Poll::Ready(posting.as_mut().poll(context).is_ready())).await
    }

    #[tokio::test]
    async fn it_is_full_at_its_limit_and_has_room_again_when_something_is_taken() {
        let (outbox, mut posted) = Outbox::new();
        let half = MOST as usize / 2 - OVERHEAD;
        assert!(has_room(&outbox, half).await && has_room(&outbox, half).await);
        assert!(!has_room(&outbox, 0).await, "both together take all of it");
        assert_eq!(posted.recv().await.unwrap().text.len(), half);
        assert!(has_room(&outbox, half).await);
        assert!(!has_room(&outbox, 0).await);
    }

    #[tokio::test]
    async fn one_larger_message_has_room_alone() {
        let (outbox, mut posted) = Outbox::new();
        assert!(has_room(&outbox, 3 * MOST as usize).await);
        assert!(!has_room(&outbox, 0).await);
        drop(posted.recv().await);
        assert!(has_room(&outbox, 0).await);
        assert!(!has_room(&outbox, 3 * MOST as usize).await, "not before the other is taken");
    }

    #[tokio::test]
    async fn nobody_waits_for_a_client_that_has_left() {
        let (outbox, posted) = Outbox::new();
        assert!(has_room(&outbox, MOST as usize).await);
        let (waits, ()) = tokio::join!(outbox.post(Bytes::from_static(b"{}")), async {
            drop(posted);
        });
        assert!(!waits);
        outbox.closed().await;
    }
}
