//! Counters for tests that code parses a text only once and visits its values in linear time.

use std::cell::Cell;

thread_local! {
    static PARSES: Cell<u64> = const { Cell::new(0) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// How many texts this thread has parsed.
pub fn parses() -> u64 {
    PARSES.get()
}

/// How many members and elements this thread has visited.
pub fn steps() -> u64 {
    STEPS.get()
}

pub(crate) fn count_step() {
    STEPS.set(STEPS.get() + 1);
}

pub(crate) fn count_parse() {
    PARSES.set(PARSES.get() + 1);
}
