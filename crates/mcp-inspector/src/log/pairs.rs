//! Matches answers to requests.

use std::collections::HashMap;

use mcp_core::Side;

use crate::frame::{Kind, Row};

/// Open requests by conversation, sender and id. When there are too many, the oldest half is
/// forgotten, and their answers remain unlinked.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    requests: HashMap<Key, u64>,
}

type Key = (Option<String>, Option<Side>, String);

const MOST: usize = 100_000;

impl Pairs {
    /// Notes a request; for an answer, returns the frame of its request.
    pub(super) fn note(&mut self, row: &Row) -> Option<u64> {
        let id = row.id.clone()?;
        let side = row.from;
        match row.kind {
            Kind::Request => {
                self.make_room();
                self.requests.insert((row.session.clone(), side, id), row.number);
                None
            }
            Kind::Result | Kind::Error => {
                let asker = side.map(Side::other);
                self.requests.get(&(row.session.clone(), asker, id)).copied()
            }
            _ => None,
        }
    }

    fn make_room(&mut self) {
        if self.requests.len() < MOST {
            return;
        }
        let mut numbers: Vec<u64> = self.requests.values().copied().collect();
        let middle = numbers.len() / 2;
        let (_, middle, _) = numbers.select_nth_unstable(middle);
        let middle = *middle;
        self.requests.retain(|_, number| *number >= middle);
    }
}
