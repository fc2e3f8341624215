//! Tests the tester: every fault must be found by its rule, and nothing without a fault.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod expected;
mod family;
mod limits;
mod server;
mod spotless;
