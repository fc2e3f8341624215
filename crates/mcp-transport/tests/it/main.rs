//! Every transport against peers that are slow, silent, dying or hostile.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod laws;
mod lines;
mod support;
