use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use mcp_core::MemoryBudget;
use mcp_transport::Allowed;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::{
    metrics::{OpenSession, OpenSessions},
    shutdown::Drain,
};

/// The clients that may open WebSocket connections, and their limits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SocketSettings {
    /// The `Host` values to accept. Default: loopback.
    pub hosts: Allowed,
    /// The web origins to accept. Default: loopback.
    pub origins: Allowed,
    /// Maximum number of open connections; further clients get 503. Default: 1,000.
    pub max_sockets: usize,
    /// Maximum size of a message that is judged and recorded, in bytes. Default: 16 MiB.
    pub max_message: usize,
    /// Memory for messages, in bytes. Beyond it, messages pass unjudged, or get an error under
    /// enforcement. Default: 256 MiB.
    pub room: MemoryBudget,
    /// Timeout for opening a connection to the server. Default: 10 s.
    pub open_timeout: Duration,
    /// How long a side may stop reading while data waits for it, and how long a closed connection
    /// may take to end. Default: 60 s.
    pub stall_timeout: Duration,
    /// Prefix of the names of conversations in recordings. Default: `socket`.
    pub name: Arc<str>,
    /// Counts open connections.
    pub sessions: OpenSessions,
    /// When to stop. Default: never.
    pub drain: Drain,
}

impl Default for SocketSettings {
    fn default() -> Self {
        SocketSettings {
            hosts: Allowed::loopback(),
            origins: Allowed::loopback(),
            max_sockets: 1000,
            max_message: 16 << 20,
            room: MemoryBudget::new(256 << 20),
            open_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(60),
            name: "socket".into(),
            sessions: OpenSessions::default(),
            drain: Drain::default(),
        }
    }
}

/// Slots for open connections.
#[derive(Debug)]
pub(super) struct Slots {
    room: Arc<Semaphore>,
    max_sockets: u32,
    opened: AtomicU64,
    name: Arc<str>,
    sessions: OpenSessions,
    stop: watch::Sender<bool>,
}

/// The slot of a connection, freed on drop.
#[derive(Debug)]
pub(super) struct Slot {
    /// The name of its conversation.
    pub(super) name: Arc<str>,
    stop: watch::Receiver<bool>,
    _open: OpenSession,
    _permit: OwnedSemaphorePermit,
}

impl Slots {
    pub(super) fn new(settings: &SocketSettings) -> Slots {
        let max_sockets = u32::try_from(settings.max_sockets.max(1)).unwrap_or(u32::MAX);
        let max_sockets =
            max_sockets.min(u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX));
        Slots {
            room: Arc::new(Semaphore::new(max_sockets as usize)),
            max_sockets,
            opened: AtomicU64::new(0),
            name: Arc::clone(&settings.name),
            sessions: settings.sessions.clone(),
            stop: watch::channel(false).0,
        }
    }

    /// Takes a slot for another connection; `None` if all are taken.
    pub(super) fn take(&self) -> Option<Slot> {
        let permit = Arc::clone(&self.room).try_acquire_owned().ok()?;
        let number = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("{}-{number}", self.name).into();
        let (stop, open) = (self.stop.subscribe(), self.sessions.begin());
        Some(Slot { name, stop, _open: open, _permit: permit })
    }

    /// Ends all connections, and waits until they are closed.
    pub(super) async fn close(&self) {
        self.stop.send_replace(true);
        let _ = self.room.acquire_many(self.max_sockets).await;
        self.room.close();
    }
}

impl Slot {
    /// Completes when the connection should be closed.
    pub(super) async fn should_end(&mut self) {
        // If the sender is gone, it has to end as well.
        let _ = self.stop.wait_for(|stop| *stop).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_places_as_allowed_and_those_given_back() {
        let slots = Slots::new(&SocketSettings { max_sockets: 2, ..SocketSettings::default() });
        let (first, second) = (slots.take(), slots.take());
        assert!(first.is_some() && second.is_some() && slots.take().is_none());
        drop(first);
        assert_eq!(&*slots.take().unwrap().name, "socket-3");
    }
}
