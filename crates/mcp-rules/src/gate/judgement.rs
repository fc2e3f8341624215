//! The result of judging a message.

use mcp_core::Revision;
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, JsonRpcId, MessageKind, Verdict};

use crate::{Context, Finding, Followed};

/// A gate's judgement of a message, whether it passes or not.
#[derive(Debug)]
#[non_exhaustive]
pub struct Judgement {
    /// Whether it may pass.
    pub verdict: Verdict,
    /// The findings, including those that do not block it, and faults of earlier messages that it
    /// reveals.
    pub findings: Vec<Finding>,
    /// The message, or each entry of a batch.
    pub messages: Vec<Identity>,
    /// Its number in the conversation, from 1; the `line` of findings about it.
    pub number: u64,
}

/// Identifies a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Identity {
    /// Its kind, by its members; `None` if they contradict each other.
    pub kind: Option<MessageKind>,
    /// Its id, if readable.
    pub id: Option<JsonRpcId>,
    /// The method it names, or that of the request it answers.
    pub method: Option<String>,
    /// The revision it was judged by.
    pub revision: Revision,
}

impl Identity {
    fn of(message: Node<'_>, context: &Context) -> Identity {
        let envelope = Envelope::of(message);
        let named = envelope.method.and_then(Node::as_str).map(String::from);
        let answered = || context.answers?.method.map(|method| method.name.to_owned());
        Identity {
            kind: envelope.kind(),
            id: envelope.readable_id(),
            method: named.or_else(answered),
            revision: context.revision,
        }
    }
}

pub(crate) fn identities(root: Node<'_>, followed: &Followed) -> Vec<Identity> {
    match followed {
        Followed::One(context) => vec![Identity::of(root, context)],
        Followed::Batch(_, contexts) => root
            .elements()
            .zip(contexts)
            .map(|(entry, context)| Identity::of(entry, context))
            .collect(),
    }
}
