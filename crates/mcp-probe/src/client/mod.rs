//! Tests an MCP client: starts it with a scripted server, and judges every message it sends.
//!
//! ```text
//! ClientRun ─► discover: a run with a plain server at each revision ─► scenarios ─► Report
//!    ScenarioRun ── Process: the client, given its server in arguments and variables
//!      └─ Listeners (a command, a URL, or the client's own streams) ─► Play ─► Scenario
//!                                          messages of the client ◄┘   └► acts, as data
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`ClientUnderTest`], [`ConnectVia`] | how to start the client, and how it connects to the server |
//! | `Process` | the running client; dropping it kills the client and its children |
//! | `Listeners` | the ways to reach the server: [`relay`] for a command, a listener for a URL, pipes |
//! | `Play` | one conversation: messages of the client, and the acts in reaction to them |
//! | `Scenario` | what the server does differently from a plain one, and what is expected of the client |
//! | `ScenarioRun` | one run of the client, from its start to its end |
//! | [`NormalBehaviour`] | what the client does at a revision with a plain server |
//!
//! A scripted server is a table that maps a `Cue` to a list of `Act`s. All traffic becomes lines of
//! a [`Recording`](crate::Recording), so the client's messages are judged by the same rules as
//! recordings. What the client should do is judged by comparison with its normal behaviour: a
//! client that never does something is not blamed, but one that stops doing it is, if that happens
//! twice with a normal run in between.

mod act;
mod client_under_test;
mod cue;
mod discover;
mod judge;
mod listeners;
mod offer;
mod overview;
mod play;
mod process;
mod run;
mod scenario;
mod scenario_run;
mod scenarios;
mod settings;

pub use self::{
    client_under_test::{ClientUnderTest, ConnectVia},
    listeners::relay,
    overview::{ClientOverview, NormalBehaviour},
    run::{ClientRun, ClientRunError},
    settings::ClientSettings,
};
