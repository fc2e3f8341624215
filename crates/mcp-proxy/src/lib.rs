//! A proxy between an unmodified MCP client and server: relays their traffic, records it, judges
//! it, and on request holds back what breaks the protocol.
//!
//! ```text
//! client ◄────────── copy, or judge and then pass ──────────► server
//!                                │
//!                               Tap ──► Journal ──► record, verdict, watchers
//! ```
//!
//! All traffic becomes lines of a recording ([`mcp_rules::TraceEntry`]) and is judged in that form,
//! by the same [`mcp_rules::Observer`] that reads recordings. So `plumb check` on the recording of
//! a proxy finds what the proxy found.
//!
//! Observing never delays traffic: the [`Tap`] gets a copy and judges it later. What cannot be
//! judged in time is still recorded, and counted. Enforcing waits for the verdict.

mod access;
mod address;
mod bad_tools;
pub mod bridge;
mod conversations;
pub mod http;
pub mod metrics;
pub mod mock;
pub mod otlp;
mod pairs;
mod policy;
mod proxied_server;
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
pub use policy::{Action, Policy};
pub use proxied_server::{ProxiedServer, ProxiedServerSettings};
pub use record::{RecordError, RecordSettings, Recorder};
pub use routes::{Prefix, PrefixError, Routes};
pub use tap::{
    Counts, Observation, OpenRequests, SessionHistory, Tap, TapEvent, TapSettings, Watcher,
};
pub use verdict::Verdict;
