use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Maximum bytes queued for a client, except for a single larger message.
const MOST: u32 = 1 << 20;
/// Approximate memory of a message besides its text.
const OVERHEAD: usize = 64;

/// A queue of messages for a client, bounded in bytes. Senders wait for room.
#[derive(Debug, Clone)]
pub(crate) struct ClientQueue {
    messages: mpsc::UnboundedSender<Queued>,
    room: Arc<Semaphore>,
}

/// A queued message. Dropping it frees its room.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) text: Bytes,
    _room: OwnedSemaphorePermit,
}

impl ClientQueue {
    pub(crate) fn new() -> (ClientQueue, mpsc::UnboundedReceiver<Queued>) {
        let (messages, posted) = mpsc::unbounded_channel();
        (ClientQueue { messages, room: Arc::new(Semaphore::new(MOST as usize)) }, posted)
    }

    /// Adds a message once there is room; `false` if the receiver is gone.
    pub(crate) async fn post(&self, text: Bytes) -> bool {
        let size = u32::try_from(text.len() + OVERHEAD).unwrap_or(MOST).min(MOST);
        // If the receiver is gone, queued messages are dropped, which makes room.
        let Ok(room) = Arc::clone(&self.room).acquire_many_owned(size).await else { return false };
        self.messages.send(Queued { text, _room: room }).is_ok()
    }

    /// Completes when the receiver is gone.
    pub(crate) async fn closed(&self) {
        self.messages.closed().await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// Whether a message of `length` bytes has room at once.
    async fn has_room(queue: &ClientQueue, length: usize) -> bool {
        let mut posting = Box::pin(queue.post(vec![0; length].into()));
        poll_fn(|context| std::task::Poll::Ready(posting.as_mut().poll(context).is_ready())).await
    }

    #[tokio::test]
    async fn it_is_full_at_its_limit_and_has_room_again_when_something_is_taken() {
        let (queue, mut posted) = ClientQueue::new();
        let half = MOST as usize / 2 - OVERHEAD;
        assert!(has_room(&queue, half).await && has_room(&queue, half).await);
        assert!(!has_room(&queue, 0).await, "both together take all of it");
        assert_eq!(posted.recv().await.unwrap().text.len(), half);
        assert!(has_room(&queue, half).await);
        assert!(!has_room(&queue, 0).await);
    }

    #[tokio::test]
    async fn one_larger_message_has_room_alone() {
        let (queue, mut posted) = ClientQueue::new();
        assert!(has_room(&queue, 3 * MOST as usize).await);
        assert!(!has_room(&queue, 0).await);
        drop(posted.recv().await);
        assert!(has_room(&queue, 0).await);
        assert!(!has_room(&queue, 3 * MOST as usize).await, "not before the other is taken");
    }

    #[tokio::test]
    async fn nobody_waits_for_a_client_that_has_left() {
        let (queue, posted) = ClientQueue::new();
        assert!(has_room(&queue, MOST as usize).await);
        let (waits, ()) = tokio::join!(queue.post(Bytes::from_static(b"{}")), async {
            drop(posted);
        });
        assert!(!waits);
        queue.closed().await;
    }
}
