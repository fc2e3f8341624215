//! What it costs to know whether a message is right: plumb beside its peers.
//!
//! Makes the messages ([`corpus`], [`trace`]), asks every [`contestants`] member for its verdict
//! on the same bytes, times them side by side ([`measure`]) and writes what came out
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
