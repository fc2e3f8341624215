//! The queue of events for the client of one stream, bounded in number and in bytes.

use std::{
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use mcp_core::{MemoryBudget, MemoryShare};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::{HttpSettings, events::Event};

/// A queue that holds as much as the settings allow, or one event that is larger.
pub(super) fn event_queue(settings: &HttpSettings) -> (EventSender, EventReceiver) {
    let (sender, receiver) = mpsc::channel(settings.stream_queue.max(1));
    let capacity = settings.stream_queue_bytes.clamp(1, MAX_CAPACITY);
    let room = Arc::new(Semaphore::new(capacity));
    let shared = Arc::new(Shared { room, capacity, budget: OnceLock::new() });
    (EventSender { sender, shared: Arc::clone(&shared) }, EventReceiver { receiver, shared })
}

const MAX_CAPACITY: usize = if (u32::MAX as usize) < Semaphore::MAX_PERMITS {
    u32::MAX as usize
} else {
    Semaphore::MAX_PERMITS
};

#[derive(Debug)]
struct Shared {
    /// The bytes that are left.
    room: Arc<Semaphore>,
    capacity: usize,
    /// The memory budget shared by the events of all streams.
    budget: OnceLock<MemoryBudget>,
}

#[derive(Debug)]
struct Queued {
    event: Event,
    _room: OwnedSemaphorePermit,
    _held: Option<MemoryShare>,
}

/// The sending end.
#[derive(Debug, Clone)]
pub(super) struct EventSender {
    sender: mpsc::Sender<Queued>,
    shared: Arc<Shared>,
}

/// The stream must end: the client no longer reads it, or there is no memory for another event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unread;

impl EventSender {
    /// Waits for room for an event of about this size.
    pub(super) async fn reserve(&self, bytes: usize) -> Result<EventPermit, Unread> {
        let wanted = u32::try_from(bytes.clamp(1, self.shared.capacity)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.shared.room).acquire_many_owned(wanted);
        let room = room.await.map_err(|_| Unread)?;
        let permit = self.sender.clone().reserve_owned().await.map_err(|_| Unread)?;
        let held = match self.shared.budget.get() {
            Some(budget) => Some(budget.take(bytes).ok_or(Unread)?),
            None => None,
        };
        Ok(EventPermit { permit, room, held })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    pub(super) fn same_queue(&self, other: &EventSender) -> bool {
        self.sender.same_channel(&other.sender)
    }
}

/// Room for one event.
#[derive(Debug)]
pub(super) struct EventPermit {
    permit: mpsc::OwnedPermit<Queued>,
    room: OwnedSemaphorePermit,
    held: Option<MemoryShare>,
}

impl EventPermit {
    pub(super) fn send(self, event: Event) {
        let EventPermit { permit, room, held } = self;
        permit.send(Queued { event, _room: room, _held: held });
    }

    pub(super) fn is_for(&self, sender: &EventSender) -> bool {
        self.permit.same_channel_as_sender(&sender.sender)
    }
}

/// The receiving end, read by the client's response.
#[derive(Debug)]
pub(super) struct EventReceiver {
    receiver: mpsc::Receiver<Queued>,
    shared: Arc<Shared>,
}

impl EventReceiver {
    /// Counts events queued from now on towards `budget`.
    pub(super) fn count_in(&self, budget: &MemoryBudget) {
        let _ = self.shared.budget.set(budget.clone());
    }

    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.receiver.poll_recv(context).map(|queued| Some(queued?.event))
    }
}

impl Drop for EventReceiver {
    fn drop(&mut self) {
        self.receiver.close();
        self.shared.room.close();
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, time::Duration};

    use bytes::Bytes;

    use super::*;

    fn queue(events: usize, bytes: usize) -> (EventSender, EventReceiver) {
        let mut settings = HttpSettings::default();
        (settings.stream_queue, settings.stream_queue_bytes) = (events, bytes);
        event_queue(&settings)
    }

    fn event(bytes: usize) -> Event {
        Bytes::from(vec![b'x'; bytes]).into()
    }

    /// Whether an event finds room without waiting.
    async fn fits(sender: &EventSender, bytes: usize) -> bool {
        match tokio::time::timeout(Duration::from_secs(1), sender.reserve(bytes)).await {
            Ok(permit) => permit.map(|permit| permit.send(event(bytes))).is_ok(),
            Err(_) => false,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_holds_so_many_bytes_or_one_larger_event() {
        let (sender, mut receiver) = queue(100, 10);
        assert!(fits(&sender, 4).await && fits(&sender, 6).await && !fits(&sender, 1).await);
        poll_fn(|context| receiver.poll_next(context)).await.unwrap();
        assert!(!fits(&sender, 5).await && fits(&sender, 4).await);
        for _ in 0..2 {
            poll_fn(|context| receiver.poll_next(context)).await.unwrap();
        }
        assert!(fits(&sender, 1000).await && !fits(&sender, 1).await);
        let (sender, _receiver) = queue(2, 10);
        assert!(fits(&sender, 1).await && fits(&sender, 1).await && !fits(&sender, 1).await);
    }

    #[tokio::test(start_paused = true)]
    async fn all_streams_share_the_memory_and_give_it_back() {
        let budget = MemoryBudget::new(100);
        let (first, reader) = queue(100, 80);
        let (second, other) = queue(100, 80);
        reader.count_in(&budget);
        other.count_in(&budget);
        assert!(fits(&first, 60).await && fits(&second, 40).await);
        assert_eq!(second.reserve(1).await.unwrap_err(), Unread, "it has to end");
        drop(reader);
        assert_eq!(budget.used(), 40);
        assert!(fits(&second, 30).await);
        drop(other);
        assert_eq!(budget.used(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_room_learns_that_nobody_reads() {
        for (events, bytes) in [(100, 10), (1, 1000)] {
            let (sender, receiver) = queue(events, bytes);
            assert!(fits(&sender, 10).await && !fits(&sender, 10).await);
            let waiting = sender.reserve(10);
            let leaving = async {
                tokio::task::yield_now().await;
                drop(receiver);
            };
            let (outcome, ()) = tokio::join!(waiting, leaving);
            assert_eq!(outcome.unwrap_err(), Unread);
            assert!(sender.is_closed());
        }
    }
}
