//! Streamable HTTP.

pub mod client;
pub mod headers;
pub mod sse;
