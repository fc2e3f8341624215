//! Short names for messages.

use std::borrow::Cow;

use mcp_json::Node;
use mcp_jsonrpc::Envelope;

/// The parts of a message's name.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageName {
    method: Option<String>,
    /// `result` or `error`.
    answer: Option<&'static str>,
    pub(crate) id: Option<String>,
}

impl MessageName {
    pub(crate) fn of(message: Node<'_>) -> MessageName {
        let envelope = Envelope::of(message);
        let answer = envelope.result.map(|_| "result").or(envelope.error.map(|_| "error"));
        MessageName {
            method: envelope.method.and_then(Node::as_str).map(Cow::into_owned),
            answer,
            id: envelope.readable_id().map(|id| id.to_string()),
        }
    }

    /// `tools/call` or `result of tools/call`; empty if it is not a message. `answered` is the
    /// method of the request that it answers, if known.
    pub(crate) fn without_id(&self, answered: Option<&str>) -> String {
        match (&self.method, self.answer, answered) {
            (Some(method), ..) => method.clone(),
            (None, Some(word), Some(method)) => format!("{word} of {method}"),
            (None, Some(word), None) => word.to_owned(),
            (None, None, _) => String::new(),
        }
    }

    /// Identifies the message: `tools/call, id 3` or `result of tools/call, id 3`.
    pub(crate) fn title(&self, answered: Option<&str>) -> String {
        let name = self.without_id(answered);
        match &self.id {
            Some(id) if name.is_empty() => format!("id {id}"),
            Some(id) => format!("{name}, id {id}"),
            None => name,
        }
    }
}
