//! Conversations with a scripted peer.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod processor;
mod rig;
mod serde;
mod tools;
