//! Recordings of MCP traffic in files.
//!
//! ```text
//! file ─► LineStream ─► Tail (reads, follows, judges) ─► Audience
//! HAR capture ─► har::read ─► lines of a recording
//! lines of a recording ─► HarWriter ─► HAR capture
//! ```
//!
//! What lines mean and what is wrong with them is known to [`mcp_rules`]; whoever wants to show them
//! is an [`Audience`]. Nothing is opened, created or printed here.

pub mod har;
mod line_stream;
mod tail;

pub use line_stream::{LineStream, MAX_LINE, Piece};
pub use tail::{Audience, Shown, Tail, TailError};
