//! The page in a real browser.

#![allow(clippy::unwrap_used, clippy::tests_outside_test_module, reason = "an integration test")]

mod accessibility;
mod browser;
mod faults;
mod frames;
mod live;
mod served;
mod session;
mod speak;
