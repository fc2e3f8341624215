//! The transports from outside.

#[cfg(feature = "http")]
mod http_server;
