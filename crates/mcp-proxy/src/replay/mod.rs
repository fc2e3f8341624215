//! Sends the client's side of a recording to a server again.
//!
//! ```text
//! recording ─► Conversations ─► Cue ─► Player ─► Peer, one per conversation ─► server
//!                                        ▲ Heard ──────────┘
//! ```
//!
//! The recording is read as a stream: a message of the client is sent, and an answer of the server
//! is waited for. So whatever the recorded client did after an answer is done after the new answer,
//! and what was open at the same time is open at the same time again. The new conversation is shown
//! to a [`Tap`](crate::Tap) as the lines of standard streams, whatever carries it.

mod cue;
mod peer;
mod player;
mod talk;
mod tokens;

pub use self::{
    cue::Cue,
    peer::Target,
    player::{Played, Player, ReplayError, ReplaySettings},
};
