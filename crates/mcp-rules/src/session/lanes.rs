//! Sessions of HTTP that run side by side: each request names its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Bounded, Families, Memory};

/// Sessions that are kept apart. Beyond that the oldest is forgotten.
const MAX_PARKED: usize = 64;

/// What is remembered of the sessions that are not being followed right now.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Lanes {
    current: u64,
    count: u64,
    parked: BTreeMap<u64, Box<Lane>>,
    by_session_id: Bounded<Box<str>, u64>,
    by_exchange: Bounded<u64, u64>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Lane {
    pub(crate) memory: Memory,
    pub(crate) families: Families,
}

impl Lanes {
    /// The lane of an exchange: the one it has begun, else that of the session it names.
    pub(super) fn of(&self, exchange: u64, session_id: Option<&str>) -> Option<u64> {
        let begun = self.by_exchange.get(&exchange);
        begun.or_else(|| self.by_session_id.get(session_id?)).copied()
    }

    /// Whether `lane` is another one than that being followed, and can be gone over to.
    pub(super) fn is_parked(&self, lane: u64) -> bool {
        self.parked.contains_key(&lane)
    }

    /// Goes over to a parked lane and parks the one that was followed.
    pub(super) fn switch(&mut self, lane: u64, memory: &mut Memory, families: &mut Families) {
        if let Some(mut next) = self.parked.remove(&lane) {
            std::mem::swap(&mut next.memory, memory);
            std::mem::swap(&mut next.families, families);
            self.parked.insert(self.current, next);
            self.current = lane;
        }
    }

    /// An exchange has begun the session that is being followed.
    pub(super) fn keep(&mut self, exchange: u64) {
        self.by_exchange.insert(exchange, self.current, MAX_PARKED);
    }

    /// Parks what was followed and begins a new lane with an exchange.
    pub(super) fn begin(&mut self, exchange: u64, memory: Memory, families: Families) {
        self.parked.insert(self.current, Box::new(Lane { memory, families }));
        if self.parked.len() > MAX_PARKED {
            self.parked.pop_first();
        }
        self.count += 1;
        self.current = self.count;
        self.keep(exchange);
    }

    /// The server has named the session of the lane being followed.
    pub(super) fn name(&mut self, session_id: &str) {
        if self.by_session_id.get(session_id) != Some(&self.current) {
            self.by_session_id.insert(session_id.into(), self.current, 2 * MAX_PARKED);
        }
    }

    /// A request names a session that nobody was seen to begin: the one being followed, if that has
    /// no name yet.
    pub(super) fn adopt(&mut self, session_id: &str) {
        let unnamed = self.by_session_id.iter().all(|(_, lane)| *lane != self.current);
        if unnamed && !self.by_session_id.contains(session_id) {
            self.name(session_id);
        }
    }

    /// Takes out all that are parked.
    pub(super) fn drain(&mut self) -> Vec<Lane> {
        std::mem::take(&mut self.parked).into_values().map(|lane| *lane).collect()
    }
}
