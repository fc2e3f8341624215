//! Puts results that finish in any order back in sequence.

use std::{
    collections::BTreeMap,
    io,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// Maximum number of results held for later. A thread that brings more has to wait.
const MOST: usize = 64;

/// Takes numbered results in any order, and hands them on from number 0 without gaps.
#[derive(Debug)]
pub(super) struct Sequencer<T, P> {
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

impl<T, P> Sequencer<T, P> {
    pub(super) fn new(receiver: T) -> Sequencer<T, P> {
        let inner = Inner { receiver, waiting: BTreeMap::new(), next: 0, stopped: false };
        Sequencer { inner: Mutex::new(inner), changed: Condvar::new() }
    }

    /// Hands in the result of `number`, which `deliver` passes to the receiver when its turn comes.
    /// If it `may_wait` and there is room, the call returns at once; otherwise it blocks until the
    /// turn of `number`. Returns what `deliver` returns, true if the receiver wants no more; `None`
    /// if the work was stopped.
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

    /// Wakes all threads that wait for a turn which may never come.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Returns the receiver, once all results were handed in.
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
        let sequencer = Sequencer::new(Vec::new());
        for number in [2, 1, 0, 3] {
            sequencer.put(number, number, true, push).unwrap().unwrap();
        }
        assert_eq!(sequencer.into_inner(), [0, 1, 2, 3]);
    }

    #[test]
    fn those_that_may_not_wait_or_find_no_room_are_held_up() {
        let sequencer = Sequencer::new(Vec::new());
        let count = 2 * MOST as u64;
        std::thread::scope(|scope| {
            for number in (0..count).rev() {
                let sequencer = &sequencer;
                scope.spawn(move || sequencer.put(number, number, number % 3 != 0, push));
            }
        });
        assert_eq!(sequencer.into_inner(), (0..count).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_leaves_after_the_receiver_has_had_enough() {
        let sequencer = Sequencer::new(Vec::new());
        let push_two = |seen: &mut Vec<u64>, number| {
            seen.push(number);
            Ok(seen.len() == 2)
        };
        for number in [1, 2] {
            assert!(!sequencer.put(number, number, true, push_two).unwrap().unwrap());
        }
        assert!(sequencer.put(0, 0, true, push_two).unwrap().unwrap());
        assert_eq!(sequencer.into_inner(), [0, 1]);
    }

    #[test]
    fn stopping_releases_those_who_wait() {
        let sequencer = Sequencer::new(Vec::new());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| sequencer.put(5, 5, false, push));
            sequencer.stop();
            assert!(waiting.join().unwrap().is_none());
        });
    }
}
