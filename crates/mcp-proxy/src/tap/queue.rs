use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use super::{Observation, Rules};

/// An observation that waits to be judged.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) observation: Observation,
    size: usize,
    /// How many just before it found no room.
    pub(super) lost: u64,
}

/// What a queue hands out.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly always the large one, and never kept")]
pub(super) enum Next {
    Item {
        item: Item,
        /// Whether so much waits that there is no time to judge it.
        behind: bool,
    },
    /// What follows is judged by other rules.
    Rules(Box<Rules>),
    /// Nothing waits at the moment: a good time to flush.
    Idle,
    Closed {
        lost: u64,
    },
}

/// Observations that wait to be judged, bounded in bytes. Pushing never waits.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    capacity: usize,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    bytes: usize,
    lost: u64,
    /// The rules for what is taken next, if they have changed.
    rules: Option<Box<Rules>>,
    closed: bool,
    waiting: bool,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Queue {
        Queue { state: Mutex::default(), filled: Condvar::new(), capacity }
    }

    /// Adds an observation, if there is room for it.
    pub(super) fn push(&self, observation: Observation) {
        let size = observation.size();
        let mut state = self.lock();
        if state.closed {
            return;
        }
        // One always has room, however large.
        if state.bytes + size > self.capacity && !state.items.is_empty() {
            state.lost += 1;
            return;
        }
        state.bytes += size;
        let lost = std::mem::take(&mut state.lost);
        state.items.push_back(Item { observation, size, lost });
        if state.waiting {
            self.filled.notify_one();
        }
    }

    /// The next observation; waits for one, unless `idle` says that there is something else to do then.
    pub(super) fn next(&self, idle: bool) -> Next {
        let mut state = self.lock();
        loop {
            if let Some(rules) = state.rules.take() {
                return Next::Rules(rules);
            }
            if let Some(item) = state.items.pop_front() {
                let behind = state.bytes > self.capacity / 4 * 3;
                state.bytes -= item.size;
                return Next::Item { item, behind };
            }
            if state.closed {
                return Next::Closed { lost: std::mem::take(&mut state.lost) };
            }
            if idle {
                return Next::Idle;
            }
            state.waiting = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting = false;
        }
    }

    /// Has everything that is not taken yet judged by other rules.
    pub(super) fn change_rules(&self, rules: Rules) {
        self.lock().rules = Some(Box::new(rules));
        self.filled.notify_one();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }

    /// Nothing more is taken; what waits is still handed out.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
