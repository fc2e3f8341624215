//! For tests that hold code to reading a text once.

use std::cell::Cell;

thread_local! {
    static PARSES: Cell<u64> = const { Cell::new(0) };
}

/// How many texts this thread has parsed.
pub fn parses() -> u64 {
    PARSES.get()
}

pub(crate) fn count_parse() {
    PARSES.set(PARSES.get() + 1);
}
