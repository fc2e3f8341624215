use std::time::Duration;

use mcp_rules::{RuleMeta, client_behaviour};
use serde_json::Value;

/// An action of a scripted server.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Sends a message.
    Tell(Value),
    /// Sends a request, and waits for the answer up to the time limit.
    Ask(Ask),
    /// Sends a raw line, or the raw data of an event.
    Text(String),
    /// Sends a message a few bytes at a time.
    Pieces(Value),
    /// Sends several messages at once.
    Together(Vec<Value>),
    /// Writes to standard error, if there is one.
    Stderr(&'static str),
    /// Waits.
    Pause(Duration),
    /// Waits until the client cancels its request with this id, up to the time limit for answers.
    AwaitCancel(Value),
    /// Leaves the request open until the end of the run.
    Hold,
    /// Drops the connection, or over HTTP the response, at this point.
    Cut,
    /// Over HTTP, ends the response before the message, which the client gets when it resumes the
    /// stream; over other transports, sends the message.
    Owe(Value),
    /// Answers with this HTTP status and no body. Must be the only act.
    Status(u16),
}

/// A request of the scripted server.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) params: Option<Value>,
    /// Its id; a generated string if `None`.
    pub(crate) id: Option<Value>,
    pub(crate) expect: Expected,
}

/// The expected answer to a request of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// A result.
    Result,
    /// The error −32601, since the method does not exist.
    NotFound,
    /// An error, since the capability was not declared.
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

    /// The rule that is broken if there is no answer.
    pub(crate) fn unanswered(&self) -> &'static RuleMeta {
        match self.method {
            "ping" => &client_behaviour::PING_UNANSWERED,
            _ => &client_behaviour::SERVER_REQUEST_UNANSWERED,
        }
    }
}
