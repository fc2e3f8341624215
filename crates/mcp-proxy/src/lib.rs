//! Sits between an MCP client and an MCP server that nobody can change: passes their traffic,
//! records it, judges it, and holds back what breaks the protocol if asked to.
//!
//! ```text
//! client ◄────────── copy, or judge and then pass ──────────► server
//!                                │
//!                               Tap ──► Journal ──► record, verdict, watchers
//! ```
//!
//! Everything that passes becomes a line of a recording ([`mcp_rules::TraceEntry`]) and is judged in
//! that form, by the same [`mcp_rules::Observer`] that reads recordings. So `plumb check` on the
//! record of a proxy finds what the proxy found.
//!
//! Observing never holds up traffic: the [`Tap`] gets a copy, and looks at it later. What
//! cannot be judged in time is recorded all the same, and counted. Enforcing waits for the verdict.

mod access;
mod address;
mod bad_tools;
pub mod bridge;
mod conversations;
mod entrance;
pub mod http;
pub mod metrics;
pub mod mock;
pub mod otlp;
mod pairs;
mod policy;
mod record;
pub mod replay;
mod respond;
mod routes;
pub mod shutdown;
mod splice;
pub mod stdio;
pub mod store;
mod tap;
mod verdict;
pub mod ws;

pub use access::{Access, AccessError};
pub(crate) use address::Address;
pub use address::{UpstreamError, UrlKind};
pub use bad_tools::BadTools;
pub use conversations::Conversations;
pub use entrance::{Entrance, EntranceSettings};
pub use policy::{Action, Policy};
pub use record::{RecordError, RecordSettings, Recorder};
pub use routes::{Prefix, PrefixError, Routes};
pub use tap::{Counts, Knowledge, Observation, OpenRequests, Passage, Tap, TapSettings, Watcher};
pub use verdict::Verdict;
