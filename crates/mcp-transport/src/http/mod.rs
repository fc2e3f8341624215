//! Streamable HTTP, in all its revisions.

pub mod server;
#[cfg(feature = "tls")]
pub mod tls;
