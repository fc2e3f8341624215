//! The proxy between clients and servers over loopback.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod backlog;
mod bytes;
#[cfg(unix)]
mod bytes_bridged;
#[cfg(unix)]
mod bytes_random;
#[cfg(unix)]
mod children;
mod connections;
mod encoding;
mod enforce;
mod failures;
mod limits;
mod lost;
mod otlp;
#[cfg(unix)]
mod overlong;
mod partial;
mod record;
mod redis_server;
#[cfg(unix)]
mod remote;
mod replicas;
mod routes;
mod slow;
mod store;
mod store_tls;
mod support;
mod tls;
#[cfg(unix)]
mod web_socket;
