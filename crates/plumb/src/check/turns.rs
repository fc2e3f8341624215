//! Lets threads do part of their work one at a time, in a given order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A value that is visited in order: first by number 0, then by number 1, and so on.
#[derive(Debug)]
pub(super) struct Turns<T> {
    inner: Mutex<Inner<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Inner<T> {
    value: T,
    next: u64,
    stopped: bool,
}

impl<T> Turns<T> {
    pub(super) fn new(value: T) -> Turns<T> {
        let inner = Inner { value, next: 0, stopped: false };
        Turns { inner: Mutex::new(inner), changed: Condvar::new() }
    }

    /// Waits for the turn of `number`, then visits the value; `None` if the work was stopped.
    pub(super) fn take<R>(&self, number: u64, visit: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut inner = self.lock();
        while inner.next != number && !inner.stopped {
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        if inner.stopped {
            return None;
        }
        let result = visit(&mut inner.value);
        inner.next += 1;
        self.changed.notify_all();
        Some(result)
    }

    /// Releases all threads waiting for a turn that may never come.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_taken_in_order() {
        let turns = Turns::new(Vec::new());
        std::thread::scope(|scope| {
            for number in (0..20).rev() {
                let turns = &turns;
                scope.spawn(move || turns.take(number, |seen| seen.push(number)));
            }
        });
        let seen = turns.take(20, std::mem::take);
        assert_eq!(seen.unwrap(), (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn stopping_releases_those_who_wait() {
        let turns = Turns::new(());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.take(5, |()| ()));
            turns.stop();
            assert_eq!(waiting.join().unwrap(), None);
        });
    }
}
