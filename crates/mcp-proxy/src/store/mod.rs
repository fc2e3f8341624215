//! Where replicas of a proxy keep what they know of sessions together.
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
//! `K` is a digest of the session id: who can read the store cannot take over sessions. The braces
//! keep both keys in one slot of a cluster. `1` is the version of all this: another layout takes
//! another number and leaves these alone. Both keys expire together, some time after the last entry.
//!
//! `append.lua` and `replace.lua` are the only writers. Each runs as a whole, so nobody sees a log
//! half written. Appends to several sessions travel in one round trip.

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
    /// How long a session is kept after its last message. Default: 24 h.
    pub lifetime: Duration,
    /// How many bytes are kept of one session. Default: 4 MiB.
    pub session_bytes: usize,
    /// How long the store may take to answer, and to be connected to. Default: 500 ms.
    pub timeout: Duration,
    /// The certificates in PEM that a store at `rediss://` is trusted by. Default: those of the
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
