//! Tests an MCP server by talking to it: discovers what it offers at each revision, sends requests
//! that clients send and some that no client should, and judges every message it sends.
//!
//! ```text
//! Target ─► discover ─► phases of probes ─► Report
//!              │             │ Stage: opens conversations, reports failures
//!              └── Conversation ── Wire (stdio, HTTP, WebSocket)
//!                        └── Recording: lines as `plumb check` reads them, judged as they come
//! ```
//!
//! A [`Probe`] has a name, the revisions and transports it applies to, and steps. The server's
//! messages during a probe are judged by the same rules as recordings; what the server should have
//! done is decided by the probe, which reports failures under rules of the layer `behaviour`. After
//! each probe the server must still be alive; if not, that is a failure too, and the next probe
//! gets a new server.
//!
//! Nothing is printed here: the caller of a [`Run`] receives its [`Event`]s.

pub mod client;
mod conversation;
mod discover;
mod discovery;
mod event;
mod failure;
mod foreign_file;
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

pub use conversation::{Conversation, ConversationError, Incoming, Kind, Opening, Reply};
pub use discovery::{Discovery, Offer};
pub use event::{Event, Reporter};
pub use failure::Failure;
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
