//! Every transport with peers that are slow, silent, dying or hostile.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(all(unix, feature = "stdio"))]
mod child;
#[cfg(feature = "http")]
mod http_client;
#[cfg(feature = "http")]
mod http_server;
mod laws;
mod lines;
#[cfg(all(unix, feature = "stdio"))]
mod stdio;
mod support;
#[cfg(feature = "ws")]
mod ws;
#[cfg(feature = "ws")]
mod ws_hostile;
#[cfg(all(feature = "tls", feature = "ws"))]
mod ws_tls;
