//! Refusals that wait to be sent.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes of refusals may wait before nothing more is received.
const MAX_BYTES: usize = 1 << 20;

/// The memory of refusals that wait to be sent. They are no requests in flight, so a peer that never
/// reads could pile them up.
#[derive(Debug, Default)]
pub(super) struct UnsentRefusals(AtomicUsize);

/// A refusal that waits.
pub(super) struct Unsent<'r> {
    refusals: &'r UnsentRefusals,
    bytes: usize,
}

impl UnsentRefusals {
    /// Counts a refusal of `bytes` until the result is dropped.
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
