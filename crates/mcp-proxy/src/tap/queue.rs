use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::oneshot;

use super::{Judgement, Observation, Rules};

/// An observation queued for judging.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) observation: Observation,
    size: usize,
    /// Number of observations just before it that found no room.
    pub(super) lost: u64,
    /// The shared sessions that the lost ones belong to.
    pub(super) lost_in: BTreeSet<Arc<str>>,
    /// Receives the verdict, if the sender waits for it.
    pub(super) reply: Option<oneshot::Sender<Judgement>>,
}

/// An item of the queue, or an instruction.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly always the large one, and never kept")]
pub(super) enum Next {
    Item {
        item: Item,
        /// Whether the queue is so long that there is no time to judge it.
        behind: bool,
    },
    /// Later items are judged by these rules.
    Rules(Box<Rules>),
    /// The queue is empty: a good time to flush.
    Idle,
    Closed {
        lost: u64,
    },
}

/// The queue of observations to judge, bounded in bytes. Pushing never blocks.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    capacity: usize,
    /// Number of queued observations and their bytes: those in `state`, and those that the
    /// [`QueueReader`] has taken but not handed out.
    waiting: AtomicUsize,
    bytes: AtomicUsize,
}

/// The single reader of a queue. It takes everything at once, so that it rarely contends with
/// writers.
#[derive(Debug)]
pub(super) struct QueueReader<'q> {
    queue: &'q Queue,
    taken: VecDeque<Item>,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    lost: u64,
    lost_in: BTreeSet<Arc<str>>,
    /// New rules for the items that follow, if they have changed.
    rules: Option<Box<Rules>>,
    closed: bool,
    wait: Wait,
    /// Whether the reader is working on items.
    busy: bool,
}

/// How the reader waits for the next item.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// It does not wait.
    #[default]
    No,
    /// It will look again soon without being woken. Waking a thread costs more than judging a
    /// message, so under load it looks once for everything that has arrived.
    Dozing,
    /// It has to be woken.
    Asleep,
}

/// How long the reader sleeps before it looks again.
const DOZE: Duration = Duration::from_millis(1);

/// Capacity of a batch to keep for the next one.
const KEPT_PLACES: usize = 1024;

impl Queue {
    pub(super) fn new(capacity: usize) -> Queue {
        Queue {
            state: Mutex::default(),
            filled: Condvar::new(),
            capacity,
            waiting: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Adds an observation, if there is room for it.
    pub(super) fn push(&self, observation: Observation) {
        self.add(observation, None);
    }

    /// Adds an observation whose sender waits for the verdict, which limits their number.
    pub(super) fn push_held(&self, observation: Observation, reply: oneshot::Sender<Judgement>) {
        self.add(observation, Some(reply));
    }

    fn add(&self, observation: Observation, reply: Option<oneshot::Sender<Judgement>>) {
        let size = observation.size();
        let mut state = self.lock();
        if state.closed {
            return;
        }
        // A single observation always has room, however large.
        let bytes = self.bytes.load(Ordering::Relaxed) + size;
        let is_full = bytes > self.capacity && !self.is_empty();
        if is_full && reply.is_none() {
            state.lost += 1;
            state.lost_in.extend(observation.shared_session().cloned());
            return;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(size, Ordering::Relaxed);
        let is_urgent = reply.is_some() || bytes > self.capacity / 4;
        let (lost, lost_in) = (std::mem::take(&mut state.lost), std::mem::take(&mut state.lost_in));
        state.items.push_back(Item { observation, size, lost, lost_in, reply });
        if state.wait == Wait::Asleep || is_urgent && state.wait == Wait::Dozing {
            self.filled.notify_one();
        }
    }

    /// Counts an observation that was not kept.
    pub(super) fn lose(&self, observation: &Observation) {
        let mut state = self.lock();
        state.lost += 1;
        state.lost_in.extend(observation.shared_session().cloned());
    }

    /// Has everything that was not taken yet judged with other rules.
    pub(super) fn change_rules(&self, rules: Rules) {
        self.lock().rules = Some(Box::new(rules));
        self.filled.notify_one();
    }

    /// Whether the queue is empty and the reader has finished its items.
    pub(super) fn is_at_rest(&self) -> bool {
        let state = self.lock();
        self.is_empty() && !state.busy
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 0
    }

    /// Accepts nothing more; queued items are still handed out.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueReader<'_> {
    pub(super) fn new(queue: &Queue) -> QueueReader<'_> {
        QueueReader { queue, taken: VecDeque::new() }
    }

    /// Waits for the next item; returns `Next::Idle` instead of waiting if `idle`.
    pub(super) fn next(&mut self, idle: bool) -> Next {
        self.next_within(if idle { Some(Duration::ZERO) } else { None })
    }

    /// Waits for the next item, at most for `limit` if there is one.
    pub(super) fn next_within(&mut self, limit: Option<Duration>) -> Next {
        if let Some(next) = self.hand_out() {
            return next;
        }
        self.taken.shrink_to(KEPT_PLACES);
        let queue = self.queue;
        let mut state = queue.lock();
        let mut limit = limit;
        let mut has_dozed = false;
        loop {
            if let Some(rules) = state.rules.take() {
                return Next::Rules(rules);
            }
            std::mem::swap(&mut state.items, &mut self.taken);
            if let Some(next) = self.hand_out() {
                state.busy = true;
                return next;
            }
            if state.closed {
                return Next::Closed { lost: std::mem::take(&mut state.lost) };
            }
            if limit == Some(Duration::ZERO) {
                return Next::Idle;
            }
            state.busy &= limit.is_some();
            let dozes = limit.is_none() && !has_dozed;
            state.wait = if dozes { Wait::Dozing } else { Wait::Asleep };
            state = match limit {
                None if dozes => {
                    has_dozed = true;
                    let waited = queue.filled.wait_timeout(state, DOZE);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => queue.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(time) => {
                    // With a limit, the caller handles the timeout.
                    limit = Some(Duration::ZERO);
                    let waited = queue.filled.wait_timeout(state, time);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.wait = Wait::No;
        }
    }

    /// The first of the items taken together.
    fn hand_out(&mut self) -> Option<Next> {
        let item = self.taken.pop_front()?;
        self.queue.waiting.fetch_sub(1, Ordering::Relaxed);
        let bytes = self.queue.bytes.fetch_sub(item.size, Ordering::Relaxed);
        Some(Next::Item { item, behind: bytes > self.queue.capacity / 4 * 3 })
    }
}

#[cfg(test)]
mod tests {
    use mcp_core::Side;

    use super::*;

    fn message() -> Observation {
        Observation::stdio(Side::Client, "{}")
    }

    #[track_caller]
    fn lost_before_next(items: &mut QueueReader<'_>) -> u64 {
        match items.next(true) {
            Next::Item { item, .. } => item.lost,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_taken_with_others_still_waits() {
        let queue = Queue::new(1 << 20);
        let mut items = QueueReader::new(&queue);
        for _ in 0..3 {
            queue.push(message());
        }
        for _ in 0..2 {
            assert_eq!(lost_before_next(&mut items), 0);
            assert!(!queue.is_empty() && !queue.is_at_rest());
        }
        assert_eq!(lost_before_next(&mut items), 0);
        // It may still be worked on.
        assert!(queue.is_empty() && !queue.is_at_rest());
        assert!(matches!(items.next(true), Next::Idle));
        queue.close();
        assert!(matches!(items.next(false), Next::Closed { lost: 0 }));
    }

    #[test]
    fn what_was_taken_with_others_still_needs_room() {
        let queue = Queue::new(2 * message().size());
        let mut items = QueueReader::new(&queue);
        queue.push(message());
        queue.push(message());
        assert_eq!(lost_before_next(&mut items), 0);
        // The other one was taken with it, and is not handed out yet.
        queue.push(message());
        queue.push(message());
        assert_eq!(lost_before_next(&mut items), 0);
        assert_eq!(lost_before_next(&mut items), 0);
        assert!(queue.is_empty());
        queue.push(message());
        assert_eq!(lost_before_next(&mut items), 1);
    }

    #[test]
    fn losses_behind_the_last_are_told_at_the_end() {
        let queue = Queue::new(1 << 20);
        let mut items = QueueReader::new(&queue);
        queue.push(message());
        queue.push(message());
        assert_eq!(lost_before_next(&mut items), 0);
        queue.lose(&message());
        queue.close();
        assert_eq!(lost_before_next(&mut items), 0);
        assert!(matches!(items.next(false), Next::Closed { lost: 1 }));
    }
}
