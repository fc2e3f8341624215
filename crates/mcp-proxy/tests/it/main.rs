//! The proxy between clients and servers over loopback.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod backlog;
mod bytes;
#[cfg(unix)]
mod children;
mod enforce;
mod failures;
mod otlp;
mod record;
#[cfg(unix)]
mod remote;
mod support;
#[cfg(unix)]
mod web_socket;
