//! Refusals that are waiting to be sent.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Nothing more is received while more than this many bytes of refusals are waiting.
const MAX_BYTES: usize = 1 << 20;

/// Counts the memory of refusals that are waiting to be sent. They are not requests in flight, so a
/// peer that never reads could otherwise accumulate any number of them.
#[derive(Debug, Default)]
pub(super) struct UnsentRefusals(AtomicUsize);

/// One waiting refusal, counted until dropped.
pub(super) struct Unsent<'r> {
    refusals: &'r UnsentRefusals,
    bytes: usize,
}

impl UnsentRefusals {
    /// Counts a refusal of `bytes` until the returned guard is dropped.
    pub(super) fn add(&self, bytes: usize) -> Unsent<'_> {
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Unsent { refusals: self, bytes }
    }

    /// Whether there is room for more.
    pub(super) fn has_room(&self) -> bool {
        self.0.load(Ordering::Relaxed) < MAX_BYTES
    }
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        self.refusals.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_again_once_refusals_are_sent() {
        let refusals = UnsentRefusals::default();
        let first = refusals.add(MAX_BYTES - 1);
        assert!(refusals.has_room());
        let second = refusals.add(1);
        assert!(!refusals.has_room());
        drop(first);
        assert!(refusals.has_room());
        drop(second);
        assert_eq!(refusals.0.into_inner(), 0);
    }
}
