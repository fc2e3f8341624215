//! Streamable HTTP, in all its revisions.

mod arrived;
pub mod client;
pub mod headers;
pub mod server;
pub mod sse;
#[cfg(feature = "tls")]
pub mod tls;
pub mod watch;
