//! Limits on messages queued for slow clients.

use mcp_core::{MemoryBudget, MemoryShare};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Maximum bytes queued for one client.
pub(super) const PER_CLIENT: usize = UNITS as usize * UNIT;
/// Maximum bytes queued for all clients of a script.
pub(super) const FOR_ALL: usize = 256 << 20;
/// The unit that the semaphore counts, since it cannot count as many bytes on every platform.
const UNIT: usize = 1 << 10;
const UNITS: u32 = 32 << 10;

/// The budget for messages to one client. Messages are only written once there is room.
#[derive(Debug)]
pub(super) struct ClientBudget {
    own: Semaphore,
    all: MemoryBudget,
}

/// The share of a queued message, returned on drop.
#[derive(Debug)]
pub(super) struct Reservation<'r> {
    _own: SemaphorePermit<'r>,
    _all: MemoryShare,
}

impl ClientBudget {
    /// A budget for one client; `all` is shared with other clients.
    pub(super) fn new(all: MemoryBudget) -> ClientBudget {
        ClientBudget { own: Semaphore::new(UNITS as usize), all }
    }

    /// Waits for room among the messages to this client. `None` if messages to all clients together
    /// leave no room.
    pub(super) async fn place(&self, bytes: usize) -> Option<Reservation<'_>> {
        // A message larger than the whole budget is queued alone.
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(UNITS).clamp(1, UNITS);
        let own = self.own.acquire_many(units).await.ok()?;
        Some(Reservation { _own: own, _all: self.all.take(bytes)? })
    }
}
