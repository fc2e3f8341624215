//! Concurrent conversations on one HTTP endpoint: sessions, which requests name, and the requests
//! that need none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Families, Memory};
use crate::conversation::{Bounded, Lifecycle};

/// Maximum sessions kept apart. Beyond that the oldest is forgotten.
const MAX_PARKED: usize = 64;

/// The lane of requests without a session (2026-07-28). As the last one it is never evicted.
const MODERN: u64 = u64::MAX;

/// The state of lanes that are not currently followed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Lanes {
    current: u64,
    count: u64,
    parked: BTreeMap<u64, Box<Lane>>,
    by_session_id: Bounded<Box<str>, u64>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Lane {
    pub(crate) memory: Memory,
    pub(crate) families: Families,
}

impl Lanes {
    pub(super) fn current(&self) -> u64 {
        self.current
    }

    /// Whether there are no others than the current one.
    pub(super) fn is_single(&self) -> bool {
        self.parked.is_empty()
    }

    /// Whether requests without a session are currently followed.
    pub(super) fn is_in_modern(&self) -> bool {
        self.current == MODERN
    }

    /// The state of requests without a session, if parked.
    pub(super) fn parked_modern(&self) -> Option<&Memory> {
        self.parked.get(&MODERN).map(|lane| &lane.memory)
    }

    /// The session that began last.
    pub(super) fn newest(&self) -> u64 {
        self.count
    }

    /// The state of the session that began last, if parked.
    pub(super) fn parked_newest(&self) -> Option<&Memory> {
        self.parked.get(&self.count).map(|lane| &lane.memory)
    }

    pub(super) fn of_session(&self, session_id: &str) -> Option<u64> {
        self.by_session_id.get(session_id).copied()
    }

    /// Switches to another lane and parks the current one. A lane that is unknown, or was
    /// forgotten, starts empty.
    pub(super) fn switch(&mut self, lane: u64, memory: &mut Memory, families: &mut Families) {
        if lane == self.current {
            return;
        }
        let mut next = self.parked.remove(&lane).unwrap_or_else(|| {
            Box::new(Lane { memory: memory.beside(), families: Families::default() })
        });
        std::mem::swap(&mut next.memory, memory);
        std::mem::swap(&mut next.families, families);
        families.swap_common(&mut next.families);
        self.park(next);
        self.current = lane;
    }

    /// Switches to the lane of requests without a session.
    pub(super) fn switch_to_modern(&mut self, memory: &mut Memory, families: &mut Families) {
        let begins = !self.is_in_modern() && !self.parked.contains_key(&MODERN);
        self.switch(MODERN, memory, families);
        if begins && memory.is_all_seen {
            memory.lifecycle = Lifecycle::from_start();
        }
    }

    /// Parks the current lane and begins a new session with the state `fresh`.
    pub(super) fn begin(&mut self, fresh: Memory, memory: &mut Memory, families: &mut Families) {
        let restarted = families.restarted();
        self.park(Box::new(Lane {
            memory: std::mem::replace(memory, fresh),
            families: std::mem::replace(families, restarted),
        }));
        self.count += 1;
        self.current = self.count;
    }

    fn park(&mut self, lane: Box<Lane>) {
        self.parked.insert(self.current, lane);
        if self.parked.len() > MAX_PARKED {
            self.parked.pop_first();
        }
    }

    /// Records the session id that the server assigned to the current lane.
    pub(super) fn name(&mut self, session_id: &str) {
        if !self.is_in_modern() && self.of_session(session_id) != Some(self.current) {
            self.by_session_id.insert(session_id.into(), self.current, 2 * MAX_PARKED);
        }
    }

    /// Handles a request that names a session whose start was not observed: it is the current one,
    /// if that has no id yet, otherwise a new one.
    pub(super) fn adopt(&mut self, id: &str, memory: &mut Memory, families: &mut Families) {
        if self.is_in_modern() || self.by_session_id.contains(id) {
            return;
        }
        if self.by_session_id.iter().any(|(_, lane)| *lane == self.current) {
            self.begin(memory.beside(), memory, families);
        }
        self.name(id);
    }

    /// Removes all parked lanes.
    pub(super) fn drain(&mut self) -> Vec<Lane> {
        std::mem::take(&mut self.parked).into_values().map(|lane| *lane).collect()
    }
}
