//! Transports against the other side of the wire.

#![cfg_attr(feature = "http", expect(clippy::unwrap_used, reason = "a test may panic"))]

#[cfg(feature = "http")]
mod http_client;
