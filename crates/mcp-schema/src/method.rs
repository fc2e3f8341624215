use mcp_core::Side;

use crate::definition::Definition;

/// A method as one revision defines it.
#[derive(Debug)]
pub struct Method {
    /// The name on the wire, such as `tools/call`.
    pub name: &'static str,
    /// Whether it is a request or a notification.
    pub kind: MethodKind,
    /// Who may send it.
    pub sender: Sender,
    /// Schema of `params`, when present.
    pub params: Option<&'static Definition>,
    /// Whether `params` must be present.
    pub params_required: bool,
    /// Schema of the result of a request; `None` for notifications. In 2026-07-28 this is the
    /// result whose `resultType` is `complete`.
    pub result: Option<&'static Definition>,
    /// Schema of the result when the request was accepted as a task (2025-11-25).
    pub task_result: Option<&'static Definition>,
    /// Schema of the result when its `resultType` is `input_required`, where that is allowed
    /// (2026-07-28).
    pub input_required: Option<&'static Definition>,
    /// Whether a complete result must carry cache hints (2026-07-28).
    pub cacheable: bool,
    /// The capability that must have been declared before the method is used.
    pub capability: Option<Capability>,
    /// Whether the method is not a JSON-RPC request but only an entry of `inputRequests` in a
    /// result (2026-07-28: `elicitation/create`, `sampling/createMessage`, `roots/list`).
    pub input_request_only: bool,
}

/// Whether messages of a method are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of JSON-RPC")]
pub enum MethodKind {
    Request,
    Notification,
}

/// The sides that may send messages of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Sender {
    Client,
    Server,
    Both,
}

impl Sender {
    /// Whether `side` may send it.
    pub const fn allows(self, side: Side) -> bool {
        matches!(
            (self, side),
            (Sender::Both, _) | (Sender::Client, Side::Client) | (Sender::Server, Side::Server)
        )
    }
}

/// A capability that a method depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability {
    /// Who declares it.
    pub declared_by: Declarer,
    /// The path of member names: `resources.subscribe` is `["resources", "subscribe"]`.
    pub path: &'static [&'static str],
}

/// The side that declares the capability a method depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Declarer {
    /// Always the client.
    Client,
    /// Always the server.
    Server,
    /// The side that receives the message.
    Receiver,
    /// The side that sends the message.
    Sender,
}

impl Declarer {
    /// The side that declares it when `sender` sends the message.
    pub const fn side(self, sender: Side) -> Side {
        match self {
            Declarer::Client => Side::Client,
            Declarer::Server => Side::Server,
            Declarer::Receiver => sender.other(),
            Declarer::Sender => sender,
        }
    }
}
