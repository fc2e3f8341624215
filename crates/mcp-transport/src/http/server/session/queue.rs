//! Received messages waiting for the application.

use mcp_core::{Inbound, MemoryBudget, MemoryShare};
use tokio::sync::{Mutex, mpsc};

use super::HttpFault;

/// The messages of one session that wait for the application. They are limited in number, and in
/// bytes together with those of all other sessions.
#[derive(Debug)]
pub(super) struct Queue {
    sender: mpsc::Sender<Queued>,
    /// Only one task receives, so this lock is never contended.
    receiver: Mutex<mpsc::Receiver<Queued>>,
    budget: MemoryBudget,
}

#[derive(Debug)]
struct Queued {
    message: Inbound,
    _held: MemoryShare,
}

/// Room for one message.
pub(super) struct Room<'q> {
    permit: mpsc::Permit<'q, Queued>,
    held: MemoryShare,
}

impl Queue {
    pub(super) fn new(messages: usize, budget: MemoryBudget) -> Queue {
        let (sender, receiver) = mpsc::channel(messages.max(1));
        Queue { sender, receiver: Mutex::new(receiver), budget }
    }

    /// Waits for room for a message of `bytes`. A message counts towards the budget while it waits.
    pub(super) async fn room(&self, bytes: usize) -> Result<Room<'_>, HttpFault> {
        let held = self.budget.take(bytes).ok_or(HttpFault::TooManyQueued)?;
        let permit = match self.sender.try_reserve() {
            Ok(permit) => permit,
            Err(_) => self.sender.reserve().await.map_err(|_| HttpFault::SessionUnknown)?,
        };
        Ok(Room { permit, held })
    }

    /// The next message.
    pub(super) async fn next(&self) -> Option<Inbound> {
        let queued = self.receiver.lock().await.recv().await?;
        Some(queued.message)
    }
}

impl Room<'_> {
    pub(super) fn send(self, message: Inbound) {
        self.permit.send(Queued { message, _held: self.held });
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    async fn put(queue: &Queue, bytes: usize) -> Result<(), HttpFault> {
        let message = Inbound::Message { ticket: None, bytes: Bytes::from(vec![0; bytes]) };
        queue.room(bytes).await?.send(message);
        Ok(())
    }

    #[tokio::test]
    async fn what_waits_in_all_sessions_is_limited_in_bytes() {
        let budget = MemoryBudget::new(100);
        let queues = [Queue::new(10, budget.clone()), Queue::new(10, budget.clone())];
        put(&queues[0], 60).await.unwrap();
        put(&queues[1], 40).await.unwrap();
        assert!(matches!(put(&queues[0], 1).await, Err(HttpFault::TooManyQueued)));
        queues[0].next().await.unwrap();
        put(&queues[1], 60).await.unwrap();
        drop(queues);
        assert_eq!(budget.used(), 0);
    }

    #[tokio::test]
    async fn a_message_that_waits_for_its_place_counts_too() {
        let queue = Queue::new(1, MemoryBudget::new(100));
        put(&queue, 50).await.unwrap();
        tokio::select! {
            biased;
            _ = put(&queue, 50) => panic!("there is no place for it"),
            full = async { put(&queue, 1).await } => assert!(full.is_err()),
        }
    }
}
