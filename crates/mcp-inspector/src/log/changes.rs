//! Which rows have changed, in order.

use std::collections::{BTreeSet, VecDeque};

use serde::Serialize;

use crate::frame::Row;

/// More changes than this are not remembered: who is further behind is told everything anew.
const REMEMBERED: usize = 65_536;

#[derive(Debug, Default)]
pub(super) struct Changes {
    numbers: VecDeque<u64>,
    /// How many changes came before the first that is remembered.
    forgotten: u64,
}

/// What a reader does not know yet.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Since {
    /// Where to go on.
    pub(crate) cursor: u64,
    /// Whether the reader has missed changes, so that it must be told everything anew.
    pub(crate) is_behind: bool,
    /// The rows as they are now.
    pub(crate) rows: Vec<Row>,
}

impl Changes {
    pub(super) fn push(&mut self, number: u64) {
        self.numbers.push_back(number);
        if self.numbers.len() > REMEMBERED {
            self.numbers.pop_front();
            self.forgotten += 1;
        }
    }

    /// Forgets all changes, so that all readers begin anew.
    pub(super) fn begun_anew(self) -> Changes {
        Changes { forgotten: self.end() + 1, numbers: VecDeque::new() }
    }

    /// The number of changes so far.
    pub(super) fn end(&self) -> u64 {
        self.forgotten + self.numbers.len() as u64
    }

    /// The rows that have changed since `cursor`; those that are gone are left out.
    pub(super) fn since(
        &self,
        cursor: u64,
        most: usize,
        row: impl Fn(u64) -> Option<Row>,
    ) -> Since {
        if cursor < self.forgotten || cursor > self.end() {
            return Since { cursor: self.end(), is_behind: true, rows: Vec::new() };
        }
        let skipped = usize::try_from(cursor - self.forgotten).unwrap_or(usize::MAX);
        let numbers: Vec<u64> = self.numbers.iter().skip(skipped).take(most).copied().collect();
        let cursor = cursor + numbers.len() as u64;
        // Each row once, as it is now.
        let numbers: BTreeSet<u64> = numbers.into_iter().collect();
        let rows = numbers.into_iter().filter_map(row).collect();
        Since { cursor, is_behind: false, rows }
    }
}
