//! Transports against the other side of the wire.

#[cfg(feature = "http")]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod http_client;
#[cfg(feature = "http")]
mod http_server;
