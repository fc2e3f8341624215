//! Tests the testers: every fault of the family must be found by name, and nothing without a fault.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod expected;
mod family;
mod limits;
mod server;
mod spotless;
