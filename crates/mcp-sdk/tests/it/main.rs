//! Servers and clients of this crate, connected to each other at every revision.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod arguments;
#[cfg(all(feature = "http", feature = "ws"))]
mod canary;
mod careless;
mod client;
mod compat;
mod contracts;
mod everyday;
mod failures;
#[cfg(feature = "http")]
mod forms;
mod host;
#[cfg(all(feature = "http", feature = "stdio", feature = "ws"))]
mod hostile;
#[cfg(feature = "http")]
mod http_eras;
#[cfg(feature = "http")]
mod limits;
mod listen;
mod live_http;
mod negotiation;
mod offers;
mod one_reading;
mod outputs;
mod over;
#[cfg(feature = "http")]
mod reconnecting;
mod refusals;
mod rounds;
mod subscriptions;
#[cfg(all(feature = "http", feature = "ws"))]
mod too_long;
mod tool_functions;
mod unruly;
mod wire;
