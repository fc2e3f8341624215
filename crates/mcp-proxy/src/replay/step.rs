use bytes::Bytes;
use mcp_core::Side;
use mcp_json::{Limits, Node};
use mcp_jsonrpc::Envelope;
use mcp_rules::ReadLine;

use crate::{Conversations, bridge::text::one_line};

/// What a line of a recording means for its replay.
#[derive(Debug)]
pub struct ReplayStep {
    pub(super) conversation: usize,
    pub(super) exchange: Option<u64>,
    /// Time of recording, in milliseconds since 1970.
    pub(super) millis: Option<i64>,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// Send this message of the client.
    Send(Bytes),
    /// Wait for this message of the server.
    Hear(Bytes),
    /// The server refused the request of this exchange without a message.
    Failed,
    /// The client abandoned the exchange.
    Left,
}

impl ReplayStep {
    /// Reads a line; `None` if it does not matter for the replay.
    pub fn of(line: &ReadLine<'_>, conversations: &mut Conversations) -> Option<ReplayStep> {
        // Skip replacements made by a proxy.
        let record = line.record().filter(|record| record.replaces.is_none())?;
        let conversation = conversations.of(line)?;
        let http = record.http.as_deref();
        let text = match line.message() {
            // Skip other JSON over HTTP, such as requests to an authorization server.
            Some(message) if http.is_some() && !is_message(message) => return None,
            Some(message) => Some(message.raw()),
            // Text of the client is sent again even if it is not JSON.
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
        Some(ReplayStep { conversation, exchange, millis: record.millis, what })
    }
}

/// Whether a value is meant as a message or a batch.
fn is_message(value: Node<'_>) -> bool {
    value.is_array() || Envelope::of(value).kind().is_some()
}
