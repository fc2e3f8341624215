//! Tests a server actively: finds out what it offers and at which revisions, asks it what a client
//! might ask and what none should, and judges every word it says.
//!
//! ```text
//! Target ─► discover ─► phases of probes ─► Report
//!              │             │ Stage: opens conversations, reports failures
//!              └── Conversation ── Wire (stdio, HTTP, WebSocket)
//!                        └── Recording: lines as `plumb check` reads them, judged as they come
//! ```
//!
//! A [`Probe`] has a name, the revisions and transports it is for, and steps. What the server says
//! while it runs passes the rules that recordings are judged by; what it should have said is up to
//! the probe, which reports it by a rule of the layer `behaviour`. After each probe the server must
//! still be alive; if not, that is a failure too, and the next probe gets a new one.
//!
//! Nothing is printed here: whoever starts a [`Run`] listens to its [`Event`]s.

pub mod client;
mod conversation;
mod discover;
mod event;
mod failure;
mod foreign_file;
mod found;
mod leaks;
mod limits;
mod lock;
mod probe;
mod protocol;
mod recording;
mod report;
mod run;
mod safety;
mod seed;
mod settings;
mod stage;
mod stateful;
mod target;
mod tools;
mod values;
mod wire;

pub use conversation::{Conversation, Incoming, Kind, Opening, Reply, Trouble};
pub use event::{Event, Reporter};
pub use failure::Failure;
pub use found::{Found, Offer};
pub use limits::Limits;
pub use lock::{LOCK_BYTES, LockDocument, LockError};
pub use probe::{Needs, Outcome, Phase, Probe, Steps, StepsFuture, Stop};
pub use recording::Recording;
pub use report::{ProbeResult, Report};
pub use run::{Run, RunError};
pub use safety::{Refused, Safety};
pub use seed::{Random, Seed};
pub use settings::Settings;
pub use stage::Stage;
pub use target::{Launch, Target, TargetError};
pub use wire::{HttpReply, HttpRequest, WireKind};
