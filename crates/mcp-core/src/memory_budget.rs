use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// A memory limit that several conversations share. Clones share the same budget.
///
/// The last quarter is reserved for holders of at most [`MemoryBudget::SMALL`] bytes, so that a few
/// large messages do not lock out everyone else. If nobody else holds anything, any request is
/// granted, as the size limit of messages bounds it.
#[derive(Debug, Clone)]
pub struct MemoryBudget {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    limit: usize,
    used: AtomicUsize,
}

impl MemoryBudget {
    /// A holder of at most this many bytes may use the whole budget.
    pub const SMALL: usize = 64 << 10;

    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> MemoryBudget {
        MemoryBudget { inner: Arc::new(Inner { limit, used: AtomicUsize::new(0) }) }
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.inner.limit
    }

    /// How many bytes are held at the moment.
    pub fn used(&self) -> usize {
        self.inner.used.load(Ordering::Relaxed)
    }

    /// A share that holds nothing yet.
    pub fn share(&self) -> MemoryShare {
        MemoryShare { budget: self.clone(), bytes: 0 }
    }

    /// A share that holds `bytes`; `None` if the budget has no room for them.
    pub fn take(&self, bytes: usize) -> Option<MemoryShare> {
        let mut share = self.share();
        share.grow(bytes).then_some(share)
    }
}

/// Part of a [`MemoryBudget`], given back when dropped.
#[derive(Debug)]
pub struct MemoryShare {
    budget: MemoryBudget,
    bytes: usize,
}

impl MemoryShare {
    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes `bytes` more. Returns `false`, and changes nothing, if the budget has no room for them.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        let Some(held) = self.bytes.checked_add(bytes) else { return false };
        let limit = self.budget.inner.limit;
        let limit = if held <= MemoryBudget::SMALL { limit } else { limit - limit / 4 };
        let taken =
            self.budget.inner.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                let is_alone = used == self.bytes;
                used.checked_add(bytes).filter(|used| is_alone || *used <= limit)
            });
        if taken.is_ok() {
            self.bytes = held;
        }
        taken.is_ok()
    }

    /// Gives `bytes` back.
    pub fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.budget.inner.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Gives everything back.
    pub fn clear(&mut self) {
        self.shrink(self.bytes);
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1 << 10;

    #[test]
    fn the_limit_holds_over_all_shares_and_what_is_dropped_returns() {
        let budget = MemoryBudget::new(8);
        let (first, second) = (budget.take(4).unwrap(), budget.take(3).unwrap());
        assert!(budget.take(2).is_none());
        let mut third = budget.take(1).unwrap();
        assert!(!third.grow(1));
        assert_eq!((budget.used(), third.bytes()), (8, 1));
        drop(first);
        assert!(third.grow(4) && !third.grow(1));
        third.shrink(2);
        assert_eq!((budget.used(), third.bytes()), (6, 3));
        drop((second, third));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn the_last_quarter_is_for_small_holders() {
        let budget = MemoryBudget::new(400 * KIB);
        let _first = budget.take(200 * KIB).unwrap();
        assert!(budget.take(101 * KIB).is_none());
        let _large = budget.take(100 * KIB).unwrap();
        let _small = budget.take(MemoryBudget::SMALL).unwrap();
        assert!(budget.take(36 * KIB + 1).is_none());
        assert!(budget.take(36 * KIB).is_some());
    }

    #[test]
    fn one_alone_may_exceed_the_limit() {
        let budget = MemoryBudget::new(8);
        let mut alone = budget.take(100).unwrap();
        assert!(alone.grow(100));
        assert!(budget.take(1).is_none());
        assert!(!alone.grow(usize::MAX));
    }
}
