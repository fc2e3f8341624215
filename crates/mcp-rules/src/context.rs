use mcp_core::{Era, Revision, Side};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use mcp_schema::Method;

use crate::conversation::{Negotiation, Notes};

/// What the conversation so far says about one message. Made by [`Engine::follow`], used to
/// judge the message; the two may happen on different threads.
///
/// [`Engine::follow`]: crate::Engine::follow
#[derive(Debug, Clone)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, none of them a state")]
pub struct Context {
    /// Who sent it: told by the observer, else inferred.
    pub from: Option<Side>,
    /// The revision to judge it by.
    pub revision: Revision,
    /// Whether that revision is certain, rather than a best guess.
    pub settled: bool,
    /// Whether a revision was agreed on that nobody here knows, so that payloads cannot be judged.
    pub foreign: bool,
    /// Whether it is of a kind that its sender must not send at all: since 2026-07-28 only clients
    /// ask and only servers answer.
    pub forbidden: bool,
    /// For a request or notification: its row in the revision's method table.
    pub method: Option<&'static Method>,
    /// For a response: the request it answers, if that was seen.
    pub answers: Option<Answered>,
    /// Whether a side declared something (`experimental`, `extensions`) that may explain names
    /// and shapes no revision knows, or whether what was declared is not known at all.
    pub extensible: bool,
    /// Whether it is the first result of the session that does not name its server (2026-07-28).
    pub lacks_server_info: bool,
    /// Whether it refuses what may be a question whether the server is modern at all: an older one
    /// answers in its own way.
    pub refuses_probe: bool,
    /// Whether it is the body of an HTTP error status, which may lack an id.
    pub http_error_body: bool,
    /// Whether the other side has sent something so broken that its id could not be read.
    pub unreadable_before: bool,
    /// Whether it is a batch of which only the rest of the handshake tells whether it may be one.
    pub(crate) undecided: bool,
    /// What an `initialize` result says about versions, for whoever sees several sessions.
    pub(crate) negotiated: Option<Box<Negotiation>>,
    /// What the conversation shows to be wrong with it.
    pub(crate) notes: Notes,
}

/// The request that a response answers.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Answered {
    /// Its row in the method table, unless the method is unknown.
    pub method: Option<&'static Method>,
    /// Whether it asked to be run as a task.
    pub task: bool,
    /// Whether it declared extensions, whose result types no revision lists.
    pub extensions: bool,
    /// For `tasks/result`: the method of the request that the task came from, whose result it
    /// must bring.
    pub original: Option<&'static Method>,
}

/// What is known about a message that is judged by itself.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "all there is to know without a conversation")]
pub struct Alone {
    /// The revision to judge it by.
    pub revision: Revision,
    /// Who sent it, if that is known.
    pub from: Option<Side>,
    /// For a response: the method of the request it answers, if that is known.
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
            forbidden,
            method: name.and_then(|name| mcp_schema::method(self.revision, &name)),
            answers: self.answers.map(answered),
            extensible: true,
            lacks_server_info: false,
            refuses_probe: false,
            http_error_body: false,
            unreadable_before: false,
            undecided: false,
            negotiated: None,
            notes: Notes::default(),
        }
    }
}
