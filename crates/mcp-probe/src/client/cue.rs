use mcp_core::{Era, Revision};
use serde_json::{Value, json};

use super::{
    act::{Act, Ask},
    offer,
};
use crate::WireKind;

/// The message that a scripted server reacts to: a request, or the `initialized` notification.
#[derive(Debug)]
pub(crate) struct Cue<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a Value,
    /// Null for a notification.
    pub(crate) id: &'a Value,
    /// How often the client has used the method in this run, including this time.
    pub(crate) nth: usize,
    /// Number of requests after the opening, including this one.
    pub(crate) after_opening: usize,
    pub(crate) revision: Revision,
    pub(crate) wire: WireKind,
    /// Whether the client sends no requests after the opening, so that the opening itself has to
    /// serve as the cue.
    pub(crate) is_quiet: bool,
    /// The capabilities of the client.
    pub(crate) capabilities: &'a Value,
}

impl Cue<'_> {
    /// The acts of a plain server.
    pub(crate) fn plain(&self) -> Vec<Act> {
        offer::acts(self)
    }

    /// The result of a plain server, or null.
    pub(crate) fn plain_result(&self) -> Value {
        match self.plain().pop() {
            Some(Act::Tell(mut message)) => message["result"].take(),
            _ => Value::Null,
        }
    }

    /// A result response.
    pub(crate) fn result(&self, result: Value) -> Value {
        let mut message = json!({ "jsonrpc": "2.0", "id": self.id });
        message["result"] = result;
        message
    }

    /// An error response.
    pub(crate) fn error(&self, code: i64, message: &str) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": { "code": code, "message": message } })
    }

    /// Whether this is the first request after the opening, or serves as such.
    pub(crate) fn is_first(&self) -> bool {
        if self.id.is_null() {
            return self.is_quiet && self.wire == WireKind::Stdio;
        }
        self.after_opening == 1
    }

    /// Whether the message opens a conversation, or asks whether one can be opened.
    pub(crate) fn is_opening(&self) -> bool {
        self.method == "initialize" || self.method == "server/discover"
    }

    /// At the first request, these acts followed by the answer.
    pub(crate) fn first(&self, acts: impl FnOnce() -> Vec<Act>) -> Option<Vec<Act>> {
        self.is_first().then(|| {
            let mut acts = acts();
            acts.extend(self.plain());
            acts
        })
    }

    /// At the first request, these requests of the server followed by the answer.
    pub(crate) fn first_ask(&self, asks: impl IntoIterator<Item = Ask>) -> Option<Vec<Act>> {
        self.first(|| asks.into_iter().map(Act::Ask).collect())
    }

    /// The progress token of the request.
    pub(crate) fn progress_token(&self) -> Option<&Value> {
        self.params.pointer("/_meta/progressToken")
    }

    /// Whether there is no handshake.
    pub(crate) fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }
}
