//! A web page that shows an MCP conversation, what is wrong with it, and why.
//!
//! ```text
//! Tap ─► Watcher ─┐
//!                 ├─► Log: rows, texts, findings, problems ─► service (JSON, a stream of changes) ─► page
//! file ─► Feed ───┘
//! ```
//!
//! The page shows lines of a recording, whether they come from live traffic
//! ([`mcp_proxy::TapEvent`]) or from a file. The [`Log`] keeps as many of them as its limit allows.
//! With a [`InspectorClient`], users can send requests to a server themselves; its traffic passes a tap
//! like any other. Nothing here judges: findings come from [`mcp_rules`], and the page only
//! displays them.

mod demo;
mod frame;
mod import;
mod log;
mod preview;
mod problems;
mod report;
mod schemas;
mod service;
mod session;
mod speak;
mod text;

pub use frame::{Frame, Kind, Row};
pub use log::{Log, LogLimits};
pub use problems::Problem;
pub use service::{PageAccess, Service, new_token};
pub use speak::{InspectorClient, Launch, Target};
