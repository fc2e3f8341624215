//! Streamable HTTP.

pub mod headers;
pub mod sse;
