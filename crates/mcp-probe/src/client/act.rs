use std::time::Duration;

use mcp_rules::{RuleMeta, client_behaviour};
use serde_json::Value;

/// One thing that a scripted server does.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Sends a message.
    Tell(Value),
    /// Sends a request, and waits for the answer as long as answers may take.
    Ask(Ask),
    /// Sends a line, or the data of an event, whatever it is.
    Text(String),
    /// Sends a message a few bytes at a time.
    Pieces(Value),
    /// Sends several messages at once.
    Together(Vec<Value>),
    /// Writes to standard error; nothing where there is none.
    Stderr(&'static str),
    /// Waits.
    Pause(Duration),
    /// Waits until the client cancels its request with this id, but not longer than answers may take.
    AwaitCancel(Value),
    /// Leaves the request open until the end of the visit.
    Hold,
    /// Ends the connection, or over HTTP the answer, where it stands.
    Cut,
    /// Over HTTP ends the answer before the message, which the client gets when it asks for what is
    /// missing; elsewhere the message is sent.
    Owe(Value),
    /// Answers with this HTTP status and no body; only as the first and last act.
    Status(u16),
}

/// A request of the server.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) params: Option<Value>,
    /// Its id; a new string if none is given.
    pub(crate) id: Option<Value>,
    pub(crate) expect: Expected,
}

/// What the answer to a request of the server must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// A result.
    Result,
    /// The error −32601: nobody knows the method.
    NotFound,
    /// An error: it was not declared.
    Error,
}

impl Ask {
    pub(crate) const fn new(method: &'static str, expect: Expected) -> Ask {
        Ask { method, params: None, id: None, expect }
    }

    pub(crate) fn with(mut self, params: Value) -> Ask {
        self.params = Some(params);
        self
    }

    pub(crate) fn id(mut self, id: Value) -> Ask {
        self.id = Some(id);
        self
    }

    /// The rule that is broken if no answer comes.
    pub(crate) fn unanswered(&self) -> &'static RuleMeta {
        match self.method {
            "ping" => &client_behaviour::PING_UNANSWERED,
            _ => &client_behaviour::SERVER_REQUEST_UNANSWERED,
        }
    }
}
