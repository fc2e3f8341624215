//! Which rows have changed, in order.

use std::collections::{BTreeSet, VecDeque};

use serde::Serialize;

use crate::frame::Row;

/// Maximum number of changes to remember: a reader further behind gets everything again.
const REMEMBERED: usize = 65_536;

#[derive(Debug, Default)]
pub(super) struct Changes {
    numbers: VecDeque<u64>,
    /// The number of changes before the first remembered one.
    forgotten: u64,
}

/// Changes that a reader has not seen.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Since {
    /// The cursor to continue from.
    pub(crate) cursor: u64,
    /// Whether the reader has missed changes and must be sent everything again.
    pub(crate) is_behind: bool,
    /// The current rows.
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

    /// Forgets all changes, so that all readers start over.
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
        // Each row once, in its current state.
        let numbers: BTreeSet<u64> = numbers.into_iter().collect();
        let rows = numbers.into_iter().filter_map(row).collect();
        Since { cursor, is_behind: false, rows }
    }
}
