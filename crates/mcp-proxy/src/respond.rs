//! What the two sides are told when a message is held back.

use bytes::Bytes;
use mcp_core::Refusal;
use mcp_json::{Node, Tape};
use mcp_jsonrpc::{Envelope, ErrorCode, JsonRpcError, JsonRpcId, JsonRpcResponse, MessageKind};

/// Whom recordings name for what the proxy has sent itself.
pub(crate) const PROXY: &str = "proxy";

/// The messages that take the place of one that was held back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// Goes back to the sender: a request is answered in the receiver's place.
    pub(crate) to_sender: Option<Bytes>,
    /// Goes on to the receiver: whoever waits for an answer gets an error.
    pub(crate) to_receiver: Option<Bytes>,
}

impl Replacement {
    /// What to send instead of `text`, which was held back because of `refusals`.
    pub(crate) fn of(text: &[u8], refusals: &[Refusal]) -> Replacement {
        let mut tape = Tape::new();
        let Ok(document) = tape.parse(text, mcp_json::Limits::default()) else {
            // Nobody waits for an answer to it, as far as one can tell, and it has no id to answer
            // to. The sender is told all the same: it may wait for something.
            return Replacement { to_sender: error_without_id(refusals), to_receiver: None };
        };
        let root = document.root();
        if !root.is_array() {
            return match answer(root, None, refusals) {
                Some((Direction::Back, response)) => to_sender(response.to_bytes()),
                Some((Direction::On, response)) => to_receiver(response.to_bytes()),
                None => Replacement::default(),
            };
        }
        let answers = root.elements().enumerate();
        let (mut back, mut on) = (Vec::new(), Vec::new());
        for (index, entry) in answers {
            match answer(entry, Some(index), refusals) {
                Some((Direction::Back, response)) => back.push(response),
                Some((Direction::On, response)) => on.push(response),
                None => {}
            }
        }
        if back.is_empty() && on.is_empty() && root.elements().next().is_none() {
            return Replacement { to_sender: error_without_id(refusals), to_receiver: None };
        }
        Replacement { to_sender: batch(&back), to_receiver: batch(&on) }
    }
}

enum Direction {
    Back,
    On,
}

fn to_sender(bytes: Bytes) -> Replacement {
    Replacement { to_sender: Some(bytes), to_receiver: None }
}

fn to_receiver(bytes: Bytes) -> Replacement {
    Replacement { to_sender: None, to_receiver: Some(bytes) }
}

/// The answer in place of one message; `None` if nobody waits for one.
fn answer(
    message: Node<'_>,
    index: Option<usize>,
    refusals: &[Refusal],
) -> Option<(Direction, JsonRpcResponse)> {
    let envelope = Envelope::of(message);
    let own = refusals.iter().find(|refusal| refusal.index.is_none() || refusal.index == index);
    let error = match own {
        Some(refusal) => JsonRpcError::of_refusal(refusal),
        None => JsonRpcError {
            code: ErrorCode::InvalidRequest.code(),
            message: "not forwarded: another entry of the batch is invalid".into(),
            data: None,
        },
    };
    let id = envelope.readable_id();
    match envelope.kind() {
        Some(MessageKind::Notification) => None,
        Some(MessageKind::Response) => {
            let error = JsonRpcError { code: ErrorCode::InternalError.code(), ..error };
            Some((Direction::On, response(Some(id?), error)))
        }
        // What has a result or an error besides a method is no request: nobody answers it.
        None if envelope.result.is_some() || envelope.error.is_some() => None,
        Some(MessageKind::Request) | None => Some((Direction::Back, response(id, error))),
    }
}

fn error_without_id(refusals: &[Refusal]) -> Option<Bytes> {
    let error = JsonRpcError::of_refusal(refusals.first()?);
    Some(response(None, error).to_bytes())
}

fn response(id: Option<JsonRpcId>, error: JsonRpcError) -> JsonRpcResponse {
    // MCP has no null ids: an answer to something unreadable has none.
    JsonRpcResponse { id, outcome: Err(error) }
}

fn batch(responses: &[JsonRpcResponse]) -> Option<Bytes> {
    if responses.is_empty() {
        return None;
    }
    let mut out = vec![b'['];
    for (position, response) in responses.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&response.to_bytes());
    }
    out.push(b']');
    Some(out.into())
}
