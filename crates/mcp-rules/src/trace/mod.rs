//! The recording format: one JSON object per line, in wire order as the observer saw it.
//!
//! [`Line::read`] parses a line and [`TraceWriter`] writes one; the round trip preserves every
//! byte. A line is a [`Record`] (`{"from":"client","msg":{…}}`) or, in a plain NDJSON file, the
//! bare JSON-RPC message itself. Unknown members are ignored.

mod http;
mod lines;
mod reader;
mod writer;

use std::borrow::Cow;

use mcp_core::Side;
use mcp_json::Node;

pub use http::{HttpRecord, SseRecord};
pub(crate) use lines::Unread;
pub use lines::{LineReader, ParsedLine, ReadLine};
pub use reader::message_of;
pub use writer::{TraceEntry, TraceWriter};

use crate::{Carrier, conversation::Moment};

/// The content of one line of a file.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "a line is one or the other")]
pub enum Line<'a> {
    /// A trace record.
    Record(Record<'a>),
    /// A JSON-RPC message (or something meant to be one), without a sender.
    Bare(Node<'a>),
}

/// One observation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Record<'a> {
    /// Who sent it.
    pub from: Side,
    /// What was sent.
    pub content: Content<'a>,
    /// The HTTP facts, for traffic over HTTP.
    pub http: Option<Box<HttpRecord<'a>>>,
    /// Which of several interleaved conversations it belongs to; empty if there is only one.
    pub session: Cow<'a, [u8]>,
    /// How it was carried.
    pub carrier: Carrier,
    /// Whether the stdio stream ended right after it, without a line break.
    pub ends: bool,
    /// When it was recorded, in milliseconds since 1970.
    pub millis: Option<i64>,
    /// The length in bytes of a text that was too long for the recorder to keep.
    pub skipped: Option<u64>,
    /// Whether it marks a gap: observations that the recorder has lost.
    pub is_gap: bool,
    /// Whether someone else, such as a proxy, sent it in place of `from`.
    pub is_stand_in: bool,
    /// The number of the line that was blocked, if this one was passed on instead.
    pub replaces: Option<u64>,
    /// Output or exit of the server's process, if the line records that.
    pub process: Option<ProcessRecord<'a>>,
}

/// Output or exit of a server's process, which is not part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessRecord<'a> {
    /// `stderr` or `stderrBase64`: a line that it wrote to its standard error.
    Stderr(Cow<'a, [u8]>),
    /// `exit`: it has ended.
    Exit {
        /// The code that it ended with.
        code: Option<i64>,
        /// The signal that ended it.
        signal: Option<i64>,
    },
}

/// The content of a record.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "the format is fixed")]
pub enum Content<'a> {
    /// `msg`: a JSON value.
    Message(Node<'a>),
    /// `raw` or `rawBase64`: the exact bytes.
    Raw(Cow<'a, [u8]>),
    /// The `data` of the event in `http.sse`, where there is no `msg`.
    Data,
    /// The `body` in `http`, which is declared as JSON, although the recorder could not parse it as
    /// a message.
    Body,
    /// None of these: just headers, or the end of a stream.
    Nothing,
}

/// Why a line is not a valid record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum RecordFault {
    #[error("a trace record needs `from`")]
    FromMissing,
    #[error("`from` must be \"client\" or \"server\"")]
    FromInvalid,
    #[error("`{0}` must be a string")]
    NotString(&'static str),
    #[error("`{0}` is not base64")]
    NotBase64(&'static str),
    #[error("`http.exchange` must be a whole number")]
    ExchangeInvalid,
    #[error("`http.headers` must be an object")]
    HeadersInvalid,
}

impl Record<'_> {
    /// The text that was sent, if the record has it as text.
    pub fn text(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Raw(bytes) => Some(bytes),
            Content::Data => self.http.as_ref()?.sse.as_ref()?.data.as_deref(),
            Content::Body => self.http.as_ref()?.body.as_deref(),
            Content::Message(_) | Content::Nothing => None,
        }
    }

    /// When and where it was observed, as far as the record itself shows.
    pub(crate) fn moment(&self, line: u64) -> Moment {
        Moment::on_line(Some(line)).at_millis(self.millis)
    }
}
