//! How much may wait for clients that do not read.

use mcp_core::{MemoryBudget, MemoryShare};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Bytes of messages that wait for one client.
pub(super) const PER_CLIENT: usize = UNITS as usize * UNIT;
/// Bytes of messages that wait for all clients of a script.
pub(super) const FOR_ALL: usize = 256 << 20;
/// What a semaphore counts: it cannot count as many bytes everywhere.
const UNIT: usize = 1 << 10;
const UNITS: u32 = 32 << 10;

/// Where the messages to one client wait. They are only written down once there is room.
#[derive(Debug)]
pub(super) struct Room {
    own: Semaphore,
    all: MemoryBudget,
}

/// The place of a message, given back when dropped.
#[derive(Debug)]
pub(super) struct Place<'r> {
    _own: SemaphorePermit<'r>,
    _all: MemoryShare,
}

impl Room {
    /// A room for one client; `all` is shared with those of the others.
    pub(super) fn new(all: MemoryBudget) -> Room {
        Room { own: Semaphore::new(UNITS as usize), all }
    }

    /// Waits for a place among the messages to this client. `None` if those to all clients together
    /// leave no room.
    pub(super) async fn place(&self, bytes: usize) -> Option<Place<'_>> {
        // One that is longer than all that may wait waits alone.
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(UNITS).clamp(1, UNITS);
        let own = self.own.acquire_many(units).await.ok()?;
        Some(Place { _own: own, _all: self.all.take(bytes)? })
    }
}
