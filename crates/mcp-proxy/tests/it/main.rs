//! The proxy between clients and servers over loopback.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod backlog;
mod bytes;
mod enforce;
mod failures;
mod record;
mod support;
