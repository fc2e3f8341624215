use mcp_core::{Era, Revision};
use serde_json::{Value, json};

use super::{
    act::{Act, Ask},
    offer,
};
use crate::WireKind;

/// What the client has said that a scripted server may react to: a request, or that it is ready.
#[derive(Debug)]
pub(crate) struct Cue<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a Value,
    /// Null for a notification.
    pub(crate) id: &'a Value,
    /// How often the method was used in this visit, this time included.
    pub(crate) nth: usize,
    /// How many requests came after the opening, this one included.
    pub(crate) after_opening: usize,
    pub(crate) revision: Revision,
    pub(crate) wire: WireKind,
    /// Whether the client asks for nothing after the opening, so that this must do.
    pub(crate) is_quiet: bool,
    /// What the client declares.
    pub(crate) capabilities: &'a Value,
}

impl Cue<'_> {
    /// What a plain server answers.
    pub(crate) fn plain(&self) -> Vec<Act> {
        offer::acts(self)
    }

    /// The result that a plain server answers with, or null.
    pub(crate) fn plain_result(&self) -> Value {
        match self.plain().pop() {
            Some(Act::Tell(mut message)) => message["result"].take(),
            _ => Value::Null,
        }
    }

    /// A successful answer.
    pub(crate) fn result(&self, result: Value) -> Value {
        let mut message = json!({ "jsonrpc": "2.0", "id": self.id });
        message["result"] = result;
        message
    }

    /// A failed one.
    pub(crate) fn error(&self, code: i64, message: &str) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": { "code": code, "message": message } })
    }

    /// Whether this is the first request after the opening, or what must do for it.
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

    /// These acts, and then the answer, at the first request.
    pub(crate) fn first(&self, acts: impl FnOnce() -> Vec<Act>) -> Option<Vec<Act>> {
        self.is_first().then(|| {
            let mut acts = acts();
            acts.extend(self.plain());
            acts
        })
    }

    /// A question, and then the answer, at the first request.
    pub(crate) fn first_ask(&self, asks: impl IntoIterator<Item = Ask>) -> Option<Vec<Act>> {
        self.first(|| asks.into_iter().map(Act::Ask).collect())
    }

    /// The token that progress can be reported under.
    pub(crate) fn progress_token(&self) -> Option<&Value> {
        self.params.pointer("/_meta/progressToken")
    }

    /// Whether there is no handshake.
    pub(crate) fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }
}
