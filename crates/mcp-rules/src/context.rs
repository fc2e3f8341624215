use mcp_core::{Era, Revision, Side};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use mcp_schema::Method;

use crate::conversation::{Negotiation, Notes};

/// The context of one message in its conversation so far. Created by [`Engine::follow`] and used to
/// judge the message, possibly on another thread.
///
/// [`Engine::follow`]: crate::Engine::follow
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, none of them a state")]
pub struct Context {
    /// The sender, as given by the observer or else inferred.
    pub from: Option<Side>,
    /// The revision to judge it by.
    pub revision: Revision,
    /// Whether that revision is certain, rather than a best guess.
    pub settled: bool,
    /// Whether an unknown revision was negotiated, so that payloads cannot be judged.
    pub foreign: bool,
    /// Whether it is a request that declares an unknown revision, or the answer to one. It is then
    /// judged by the closest known revision.
    pub(crate) approximate: bool,
    /// Whether it is of a kind its sender must not send at all: since 2026-07-28 only clients send
    /// requests and only servers send responses.
    pub forbidden: bool,
    /// For a request or notification: its entry in the revision's method table.
    pub method: Option<&'static Method>,
    /// For a response: the request it answers, if that was observed.
    pub answers: Option<Answered>,
    /// Whether a side declared something (`experimental`, `extensions`) that may explain names and
    /// shapes no revision defines, or whether the declarations are unknown.
    pub extensible: bool,
    /// Whether it is the session's first result that does not name its server (2026-07-28).
    pub lacks_server_info: bool,
    /// Whether it refuses what may be a probe for a modern server, which an older server may answer
    /// in any way.
    pub refuses_probe: bool,
    /// Whether it is the body of an HTTP error status, which may lack an id.
    pub http_error_body: bool,
    /// Whether the other side sent a message too broken for its id to be read.
    pub unreadable_before: bool,
    /// Whether it is a batch whose validity depends on the rest of the handshake.
    pub(crate) undecided: bool,
    /// Whether to suggest a known name for an unknown one.
    pub(crate) suggests: bool,
    /// The versions in an `initialize` result, to compare several sessions of a server.
    pub(crate) negotiated: Option<Box<Negotiation>>,
    /// The faults that the conversation reveals.
    pub(crate) notes: Notes,
}

/// The request that a response answers.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Answered {
    /// Its entry in the method table, unless the method is unknown.
    pub method: Option<&'static Method>,
    /// Whether it asked to run as a task.
    pub task: bool,
    /// Whether it declared extensions, whose result types no revision lists.
    pub extensions: bool,
    /// For `tasks/result`: the method of the task's original request, whose result the response
    /// must carry.
    pub original: Option<&'static Method>,
}

/// What is known about a message that is judged by itself.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "all there is to know without a conversation")]
pub struct Alone {
    /// The revision to judge it by.
    pub revision: Revision,
    /// Who sent it, if known.
    pub from: Option<Side>,
    /// For a response: the method of the request it answers, if known.
    pub answers: Option<&'static Method>,
}

impl Alone {
    pub(crate) fn context(self, envelope: &Envelope<'_>) -> Context {
        let name = envelope.method.and_then(Node::str_bytes);
        let answered = |method| Answered {
            method: Some(method),
            task: false,
            extensions: false,
            original: None,
        };
        let forbidden = self.revision.era() == Era::Modern
            && match envelope.kind() {
                Some(MessageKind::Request) => self.from == Some(Side::Server),
                Some(MessageKind::Response) => self.from == Some(Side::Client),
                Some(MessageKind::Notification) | None => false,
            };
        Context {
            from: self.from,
            revision: self.revision,
            settled: true,
            foreign: false,
            approximate: false,
            forbidden,
            method: name.and_then(|name| mcp_schema::method(self.revision, &name)),
            answers: self.answers.map(answered),
            extensible: true,
            lacks_server_info: false,
            refuses_probe: false,
            http_error_body: false,
            unreadable_before: false,
            undecided: false,
            suggests: true,
            negotiated: None,
            notes: Notes::default(),
        }
    }
}
