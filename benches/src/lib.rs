//! Measures the cost of validating a message, for plumb and its peers.
//!
//! Generates the messages ([`corpus`], [`trace`]), asks every contestant ([`contestants`]) for its
//! verdict on the same bytes, times them side by side ([`measure`]) and writes the results
//! ([`report`]). Nothing here is part of the product.

pub mod agreement;
pub mod command;
pub mod contestants;
pub mod conversation;
pub mod corpus;
pub mod machine;
pub mod measure;
pub mod report;
pub mod selection;
pub mod trace;
