//! Recordings of MCP traffic in files.
//!
//! ```text
//! file ─► LineStream ─► Tail (reads, follows, judges) ─► LineHandler
//! HAR capture ─► har::read ─► lines of a recording
//! lines of a recording ─► HarWriter ─► HAR capture
//! ```
//!
//! [`mcp_rules`] interprets and judges lines; a [`LineHandler`] shows them. Nothing is opened,
//! created or printed here.

pub mod har;
mod line_stream;
mod tail;

use std::time::{Duration, UNIX_EPOCH};

pub use line_stream::{LineStream, MAX_LINE, Piece};
pub use tail::{LineHandler, Tail, TailError, TailLine};

/// A time in milliseconds since 1970, as `2026-01-01T10:00:00.250Z`.
pub fn date_time(millis: i64) -> String {
    let since = Duration::from_millis(u64::try_from(millis).unwrap_or_default());
    // RFC 3339 has no dates after the year 9999.
    let latest = Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(UNIX_EPOCH + since.min(latest)).to_string()
}
