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

/// Whom WebSocket connections are opened for, and their limits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SocketSettings {
    /// The hosts that clients may address. Default: loopback.
    pub hosts: Allowed,
    /// The pages that may open connections. Default: loopback.
    pub origins: Allowed,
    /// How many connections may be open; further clients get 503. Default: 1,000.
    pub max_sockets: usize,
    /// The longest message that is judged and recorded, in bytes. Default: 16 MiB.
    pub max_message: usize,
    /// What the proxy may hold of messages at once, in bytes; what finds no room passes unjudged, or
    /// gets an error if it would be held back. Default: 256 MiB.
    pub room: MemoryBudget,
    /// How long a server may take to open a connection. Default: 10 s.
    pub open_timeout: Duration,
    /// How long a side may read nothing while something waits for it, and how long a closed
    /// connection may take to end. Default: 60 s.
    pub stall_timeout: Duration,
    /// How names of conversations begin in recordings. Default: `socket`.
    pub name: Arc<str>,
    /// Where open connections are counted.
    pub sessions: OpenSessions,
    /// When to end. Default: never.
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

/// The connections that are open.
#[derive(Debug)]
pub(super) struct Places {
    room: Arc<Semaphore>,
    max_sockets: u32,
    opened: AtomicU64,
    name: Arc<str>,
    sessions: OpenSessions,
    stop: watch::Sender<bool>,
}

/// The place of a connection, until it is closed.
#[derive(Debug)]
pub(super) struct Place {
    /// The name of its conversation.
    pub(super) name: Arc<str>,
    stop: watch::Receiver<bool>,
    _open: OpenSession,
    _permit: OwnedSemaphorePermit,
}

impl Places {
    pub(super) fn new(settings: &SocketSettings) -> Places {
        let max_sockets = u32::try_from(settings.max_sockets.max(1)).unwrap_or(u32::MAX);
        let max_sockets =
            max_sockets.min(u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX));
        Places {
            room: Arc::new(Semaphore::new(max_sockets as usize)),
            max_sockets,
            opened: AtomicU64::new(0),
            name: Arc::clone(&settings.name),
            sessions: settings.sessions.clone(),
            stop: watch::channel(false).0,
        }
    }

    /// A place for another connection; `None` if there is none.
    pub(super) fn take(&self) -> Option<Place> {
        let permit = Arc::clone(&self.room).try_acquire_owned().ok()?;
        let number = self.opened.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("{}-{number}", self.name).into();
        let (stop, open) = (self.stop.subscribe(), self.sessions.begin());
        Some(Place { name, stop, _open: open, _permit: permit })
    }

    /// Ends all connections, and waits for that.
    pub(super) async fn close(&self) {
        self.stop.send_replace(true);
        let _ = self.room.acquire_many(self.max_sockets).await;
        self.room.close();
    }
}

impl Place {
    /// Completes when the connection has to end.
    pub(super) async fn should_end(&mut self) {
        // If nobody can tell it any more, it has to end as well.
        let _ = self.stop.wait_for(|stop| *stop).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_places_as_allowed_and_those_given_back() {
        let places = Places::new(&SocketSettings { max_sockets: 2, ..SocketSettings::default() });
        let (first, second) = (places.take(), places.take());
        assert!(first.is_some() && second.is_some() && places.take().is_none());
        drop(first);
        assert_eq!(&*places.take().unwrap().name, "socket-3");
    }
}
