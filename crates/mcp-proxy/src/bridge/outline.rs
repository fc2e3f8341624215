use bytes::Bytes;
use mcp_core::{Meta, Revision};
use mcp_json::{Limits, Node, Span, Tape};
use mcp_jsonrpc::{Envelope, JsonRpcId, MessageKind};

/// The parts of a text that a bridge needs to forward it over another transport.
#[derive(Debug)]
pub(crate) struct Outline {
    /// The message, or each entry of a batch.
    pub(crate) messages: Vec<Message>,
    pub(crate) is_batch: bool,
}

/// The parts of one message that a bridge needs.
#[derive(Debug)]
pub(crate) struct Message {
    /// Where it is in the text.
    span: Span,
    /// `None` if it is neither request, notification nor response.
    pub(crate) kind: Option<MessageKind>,
    pub(crate) id: Option<Located>,
    pub(crate) method: Option<String>,
    /// The revision in its `_meta`, if known.
    pub(crate) revision: Option<Revision>,
    /// Whether its `_meta` names a revision, known or not.
    pub(crate) has_revision: bool,
    /// The progress token that it requests.
    pub(crate) token: Option<Located>,
    /// The request that it refers to.
    pub(crate) reference: Option<Reference>,
    /// The revision in its result, if it answers `initialize`.
    pub(crate) agreed: Option<Revision>,
    pub(crate) error_code: Option<i64>,
}

/// An id or a token, and its position in the text.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) id: JsonRpcId,
    pub(crate) span: Span,
}

/// How a message refers to a request.
#[derive(Debug, Clone)]
pub(crate) enum Reference {
    /// By progress token.
    Progress(Located),
    /// By the id that is cancelled.
    Cancelled(Located),
    /// By the id of the subscription.
    Subscription(Located),
}

impl Outline {
    /// The outline of an unreadable text.
    pub(crate) const EMPTY: Outline = Outline { messages: Vec::new(), is_batch: false };

    /// Outlines a text; `None` if it is not JSON.
    pub(crate) fn at(text: &[u8], limits: Limits) -> Option<Outline> {
        read(text, limits, Outline::of)
    }

    pub(crate) fn of(root: Node<'_>) -> Outline {
        let is_batch = root.is_array();
        let messages = if is_batch {
            root.elements().map(Message::of).collect()
        } else {
            vec![Message::of(root)]
        };
        Outline { messages, is_batch }
    }

    /// The message, unless it is a batch.
    pub(crate) fn single(&self) -> Option<&Message> {
        self.messages.first().filter(|_| !self.is_batch)
    }

    /// The texts of the entries of a batch.
    pub(crate) fn entries(&self, text: &Bytes) -> Vec<Bytes> {
        let part = |message: &Message| {
            let Span { start, end } = message.span;
            text.slice(start.min(text.len())..end.clamp(start.min(text.len()), text.len()))
        };
        self.messages.iter().map(part).collect()
    }

    /// Whether it contains a request, or something that can only be answered with an error.
    pub(crate) fn expects_response(&self) -> bool {
        self.messages.is_empty() || self.messages.iter().any(Message::expects_response)
    }

    pub(crate) fn requests(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| message.kind == Some(MessageKind::Request))
    }

    pub(crate) fn responses(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| message.kind == Some(MessageKind::Response))
    }
}

impl Message {
    fn of(node: Node<'_>) -> Message {
        let envelope = Envelope::of(node);
        let method = envelope.method.and_then(Node::as_str);
        let meta = envelope.params.or(envelope.result).and_then(|payload| payload.get("_meta"));
        let meta = |key| meta.and_then(|meta| meta.get(key));
        Message {
            span: node.span(),
            kind: envelope.kind(),
            id: envelope.id.and_then(Located::of),
            revision: meta(Meta::PROTOCOL_VERSION).and_then(revision_of),
            has_revision: meta(Meta::PROTOCOL_VERSION).is_some(),
            token: meta(Meta::PROGRESS_TOKEN).and_then(Located::of),
            reference: reference(method.as_deref(), &envelope).or_else(|| {
                meta(Meta::SUBSCRIPTION_ID).and_then(Located::of).map(Reference::Subscription)
            }),
            agreed: envelope.result.and_then(|result| revision_of(result.get("protocolVersion")?)),
            error_code: envelope.error_code(),
            method: method.map(std::borrow::Cow::into_owned),
        }
    }

    pub(crate) fn is(&self, kind: MessageKind, method: &str) -> bool {
        self.kind == Some(kind) && self.method.as_deref() == Some(method)
    }

    fn expects_response(&self) -> bool {
        !matches!(self.kind, Some(MessageKind::Notification | MessageKind::Response))
    }
}

impl Located {
    fn of(node: Node<'_>) -> Option<Located> {
        Some(Located { id: JsonRpcId::read(node)?, span: node.span() })
    }
}

fn reference(method: Option<&str>, envelope: &Envelope<'_>) -> Option<Reference> {
    let member = |name| envelope.params.and_then(|params| params.get(name)).and_then(Located::of);
    match method? {
        "notifications/progress" => member(Meta::PROGRESS_TOKEN).map(Reference::Progress),
        "notifications/cancelled" => member("requestId").map(Reference::Cancelled),
        _ => None,
    }
}

fn revision_of(node: Node<'_>) -> Option<Revision> {
    node.as_str()?.parse().ok()
}

/// Passes the root of a text to `look`; `None` if it is not JSON.
pub(crate) fn read<T>(text: &[u8], limits: Limits, look: impl FnOnce(Node<'_>) -> T) -> Option<T> {
    let mut tape = Tape::new();
    let document = tape.parse(text, limits).ok()?;
    Some(look(document.root()))
}
