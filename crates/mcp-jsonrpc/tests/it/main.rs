//! Conversations as they are driven, with a hand-made other side.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod processor;
mod rig;
mod serde;
mod tools;
