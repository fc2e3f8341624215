//! Tests a client actively: starts it against a scripted server and judges every word it says.
//!
//! ```text
//! ClientRun ─► acquaint: a visit with a plain server at each revision ─► scenarios ─► Report
//!    Visit ── Process: the client, started with the way to its server in arguments and variables
//!      └─ Door (a command, a URL, or the client's own streams) ─► Play ─► Scenario
//!                                        what the client says ◄┘   └► acts, as data
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`ClientUnderTest`], [`Meeting`] | what is started, and how it meets the server |
//! | `Process` | the client while it runs; it and its children end with it |
//! | `Door` | where a client comes in: [`relay`] for a command, a listener for a URL, pipes |
//! | `Play` | one conversation: what was heard, and the acts that follow from it |
//! | `Scenario` | what the server does that a plain one does not, and what a client must make of it |
//! | `Visit` | one start of the client, from the first byte to its end |
//! | [`Met`] | what the client does at a revision when nothing is unusual |
//!
//! A scripted server is a table: for a `Cue`, a list of `Act`s. Everything
//! that passes is a line of a [`Recording`](crate::Recording), so what the client sends is judged by
//! the rules that recordings are judged by. What it should have done is judged by comparison with
//! what it does when nothing is unusual: a client that does less is not blamed, one that stops doing
//! what it did is, if it does so twice while a plain visit in between goes as before.

mod acquaint;
mod act;
mod cue;
mod door;
mod judge;
mod meeting;
mod met;
mod offer;
mod play;
mod process;
mod run;
mod scenario;
mod scenarios;
mod settings;
mod visit;

pub use self::{
    door::relay,
    meeting::{ClientUnderTest, Meeting},
    met::{Acquaintance, Met},
    run::{ClientRun, ClientRunError},
    settings::ClientSettings,
};
