//! Sends the client's side of a recording to a server.
//!
//! ```text
//! recording ─► Conversations ─► ReplayStep ─► Player ─► Peer, one per conversation ─► server
//!                                        ▲ Heard ──────────┘
//! ```
//!
//! The recording is read as a stream: messages of the client are sent, and answers of the server
//! are waited for. So the order of messages and answers stays the same, and requests that were open
//! at the same time are open at the same time again. The new conversation goes through a
//! [`Tap`](crate::Tap) as lines over stdio, whatever the transport.

mod conversation_state;
mod peer;
mod player;
mod step;
mod tokens;

pub use self::{
    peer::Target,
    player::{Player, ReplayError, ReplaySettings, ReplaySummary},
    step::ReplayStep,
};
