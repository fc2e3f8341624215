//! Stores for the session state shared by replicas of a proxy.
//!
//! ```text
//! plumb:1:{K}:head   hash   id     tells this log from another one of the same session
//!                           base   how many entries the state stands for
//!                           state  what is known after those, in the form of `tap::shared`
//!                           bytes  of the state and the entries
//! plumb:1:{K}:log    list   the entries since then
//! plumb:1:key        text   the key that session ids are sealed with, unless a file holds it
//! ```
//!
//! `K` is a digest of the session id, so that read access to the store does not allow taking over
//! sessions. The braces keep both keys in one slot of a cluster. `1` is the version of this layout:
//! another layout uses another number. Both keys expire together, some time after the last entry.
//!
//! Only `append.lua` and `replace.lua` write. Each runs atomically, so no reader sees a
//! half-written log. Appends to several sessions share one round trip.

mod memory;
mod redis;

use std::time::Duration;

pub use self::{
    memory::MemoryStore,
    redis::{RedisStore, StoreUrlError},
};

/// The limits of a store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoreSettings {
    /// How long to keep a session after its last message. Default: 24 h.
    pub lifetime: Duration,
    /// Maximum bytes stored per session. Default: 4 MiB.
    pub session_bytes: usize,
    /// Timeout for connecting to the store, and for each answer. Default: 500 ms.
    pub timeout: Duration,
    /// CA certificates (PEM) to verify a store at `rediss://` against. Default: those of the
    /// system.
    pub trusted: Option<Vec<u8>>,
}

impl Default for StoreSettings {
    fn default() -> Self {
        StoreSettings {
            lifetime: Duration::from_secs(24 * 60 * 60),
            session_bytes: 4 << 20,
            timeout: Duration::from_millis(500),
            trusted: None,
        }
    }
}
