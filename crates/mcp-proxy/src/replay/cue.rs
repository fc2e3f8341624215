use bytes::Bytes;
use mcp_core::Side;
use mcp_json::{Limits, Node};
use mcp_jsonrpc::Envelope;
use mcp_rules::ReadLine;

use crate::{Conversations, bridge::text::one_line};

/// What a line of a recording asks of whoever replays it.
#[derive(Debug)]
pub struct Cue {
    pub(super) conversation: usize,
    pub(super) exchange: Option<u64>,
    /// When it was recorded, in milliseconds since 1970.
    pub(super) millis: Option<i64>,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// The client sends this.
    Send(Bytes),
    /// The server has sent this.
    Hear(Bytes),
    /// The server has refused the request of the exchange without a message.
    Failed,
    /// The client has given up the exchange.
    Left,
}

impl Cue {
    /// Reads a line; `None` if it asks for nothing.
    pub fn of(line: &ReadLine<'_>, conversations: &mut Conversations) -> Option<Cue> {
        let record = line.record()?;
        let conversation = conversations.of(line)?;
        let http = record.http.as_deref();
        let text = match line.message() {
            // Other JSON over HTTP is for others: an authorization server, for example.
            Some(message) if http.is_some() && !is_message(message) => return None,
            Some(message) => Some(message.raw()),
            // What the client has sent counts, whatever it is.
            None if http.is_none() => record.text(),
            None => None,
        };
        let is_refused = http.and_then(|http| http.status).is_some_and(|status| status >= 400);
        let what = match (text, record.from) {
            (Some(text), Side::Client) => {
                What::Send(one_line(Bytes::copy_from_slice(text), Limits::default()))
            }
            (Some(text), Side::Server) => What::Hear(Bytes::copy_from_slice(text)),
            (None, Side::Server) if is_refused => What::Failed,
            (None, Side::Client) if http.is_some_and(|http| http.ends) => What::Left,
            (None, _) => return None,
        };
        let exchange = http.and_then(|http| http.exchange);
        Some(Cue { conversation, exchange, millis: record.millis, what })
    }
}

/// Whether a value is meant as a message, or as several.
fn is_message(value: Node<'_>) -> bool {
    value.is_array() || Envelope::of(value).kind().is_some()
}
