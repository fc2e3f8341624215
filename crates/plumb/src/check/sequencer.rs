//! Lets results leave in order, although they come as they are ready.

use std::{
    collections::BTreeMap,
    io,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// Results that may wait for their turn, so that whoever has them can go on. Whoever comes with
/// more waits.
const MOST: usize = 64;

/// Takes results by number, and hands them on from number 0 without a gap.
#[derive(Debug)]
pub(super) struct Outbox<T, P> {
    inner: Mutex<Inner<T, P>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Inner<T, P> {
    receiver: T,
    waiting: BTreeMap<u64, P>,
    next: u64,
    stopped: bool,
}

impl<T, P> Outbox<T, P> {
    pub(super) fn new(receiver: T) -> Outbox<T, P> {
        let inner = Inner { receiver, waiting: BTreeMap::new(), next: 0, stopped: false };
        Outbox { inner: Mutex::new(inner), changed: Condvar::new() }
    }

    /// Leaves the result of `number`, which `deliver` hands to the receiver when its turn comes.
    /// One that `may_wait` does so while there is room; any other waits here. Returns whether the
    /// receiver wants no more, as `deliver` says; `None` if the work was stopped.
    pub(super) fn put(
        &self,
        number: u64,
        result: P,
        may_wait: bool,
        mut deliver: impl FnMut(&mut T, P) -> io::Result<bool>,
    ) -> Option<io::Result<bool>> {
        let mut inner = self.lock();
        while !inner.stopped && inner.next != number && !(may_wait && inner.waiting.len() < MOST) {
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        if inner.stopped {
            return None;
        }
        inner.waiting.insert(number, result);
        let Inner { receiver, waiting, next, .. } = &mut *inner;
        let mut delivered = Ok(false);
        while let Ok(false) = delivered
            && let Some(result) = waiting.remove(next)
        {
            *next += 1;
            delivered = deliver(receiver, result);
        }
        self.changed.notify_all();
        Some(delivered)
    }

    /// Sends everybody home who waits for a turn that may never come.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// The receiver, now that nobody has anything to leave any more.
    pub(super) fn into_inner(self) -> T {
        self.inner.into_inner().unwrap_or_else(PoisonError::into_inner).receiver
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T, P>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "delivering may fail elsewhere")]
    fn push(seen: &mut Vec<u64>, number: u64) -> io::Result<bool> {
        seen.push(number);
        Ok(false)
    }

    #[test]
    fn results_leave_in_order_whenever_they_come() {
        let outbox = Outbox::new(Vec::new());
        for number in [2, 1, 0, 3] {
            outbox.put(number, number, true, push).unwrap().unwrap();
        }
        assert_eq!(outbox.into_inner(), [0, 1, 2, 3]);
    }

    #[test]
    fn those_that_may_not_wait_or_find_no_room_are_held_up() {
        let outbox = Outbox::new(Vec::new());
        let count = 2 * MOST as u64;
        std::thread::scope(|scope| {
            for number in (0..count).rev() {
                let outbox = &outbox;
                scope.spawn(move || outbox.put(number, number, number % 3 != 0, push));
            }
        });
        assert_eq!(outbox.into_inner(), (0..count).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_leaves_after_the_receiver_has_had_enough() {
        let outbox = Outbox::new(Vec::new());
        let push_two = |seen: &mut Vec<u64>, number| {
            seen.push(number);
            Ok(seen.len() == 2)
        };
        for number in [1, 2] {
            assert!(!outbox.put(number, number, true, push_two).unwrap().unwrap());
        }
        assert!(outbox.put(0, 0, true, push_two).unwrap().unwrap());
        assert_eq!(outbox.into_inner(), [0, 1]);
    }

    #[test]
    fn stopping_releases_those_who_wait() {
        let outbox = Outbox::new(Vec::new());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| outbox.put(5, 5, false, push));
            outbox.stop();
            assert!(waiting.join().unwrap().is_none());
        });
    }
}
