//! Reusable tapes.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::error::SyntaxError;
use crate::limits::Limits;
use crate::parsed::Parsed;
use crate::tape::Tape;

/// Maximum number of idle tapes.
const MAX_IDLE: usize = 64;
/// Size of the largest tape that is kept, in bytes. Ordinary messages need far less; a tape that
/// has outgrown it for a single large message is freed.
const MAX_TAPE: usize = 64 * 1024;

/// A pool of tapes for [`Parsed`] texts: once it has warmed up, parsing an ordinary message does
/// not have to grow one. Clones share the pool.
///
/// It keeps at most 64 idle tapes of at most 64 KiB each.
#[derive(Clone, Default)]
pub struct TapePool {
    idle: Arc<Mutex<Vec<Tape>>>,
}

impl TapePool {
    /// An empty pool.
    pub fn new() -> TapePool {
        TapePool::default()
    }

    /// Parses `text` on a tape of this pool, which is returned when the last reader is dropped.
    ///
    /// # Errors
    /// The first syntax error, or an exceeded limit.
    pub fn parse(&self, text: Bytes, limits: Limits) -> Result<Parsed, SyntaxError> {
        let tape = self.idle().pop().unwrap_or_default();
        Parsed::parse_on(tape, Some(self.clone()), text, limits).map_err(|(error, tape)| {
            self.put_back(tape);
            error
        })
    }

    pub(crate) fn put_back(&self, tape: Tape) {
        if tape.memory() > MAX_TAPE {
            return;
        }
        let mut idle = self.idle();
        if idle.len() < MAX_IDLE {
            idle.push(tape);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Tape>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for TapePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapePool").field("idle", &self.idle().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pool: &TapePool, text: String) -> Result<Parsed, SyntaxError> {
        pool.parse(text.into(), Limits::default())
    }

    #[test]
    fn tapes_come_back() {
        let pool = TapePool::new();
        let parsed = parse(&pool, "[1,2]".into()).unwrap();
        let document = parsed.document();
        let part = parsed.part(document.root().elements().next().unwrap());
        assert_eq!(pool.idle().len(), 0);
        drop(parsed);
        assert_eq!(pool.idle().len(), 0, "a part still reads it");
        drop(part);
        assert_eq!(pool.idle().len(), 1);
        assert!(parse(&pool, "[1,".into()).is_err());
        assert_eq!(pool.idle().len(), 1, "also after an error");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let pool = TapePool::new();
        drop(parse(&pool, format!("[{}0]", "0,".repeat(MAX_TAPE / 16))).unwrap());
        assert_eq!(pool.idle().len(), 0, "it is too large to be kept");
        let many: Vec<_> = (0..2 * MAX_IDLE).map(|_| parse(&pool, "0".into()).unwrap()).collect();
        drop(many);
        assert_eq!(pool.idle().len(), MAX_IDLE);
    }
}
