use mcp_core::{Era, RequestId, Revision, Side};
use mcp_json::{Node, Span};
use mcp_jsonrpc::Envelope;
use mcp_schema::Method;

use super::{
    Bounded, Capabilities, Declared, Exchanges, Lifecycle, Listings, META_CLIENT_INFO, Moment,
    Request, Requests, Topic, digest::digest,
};
use crate::{Limits, criteria::Criteria};

/// A valid message, with what is known about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event<'a> {
    pub(crate) at: Moment,
    pub(crate) from: Side,
    /// The revision to judge it by.
    pub(crate) revision: Revision,
    /// Whether that is certain.
    pub(crate) settled: bool,
    /// Whether its own revision is unknown, and `revision` is only the closest.
    pub(crate) approximate: bool,
    /// The method, or that of the request it answers; empty if unknown.
    pub(crate) name: &'a str,
    pub(crate) topic: Topic,
    pub(crate) method: Option<&'static Method>,
    pub(crate) envelope: &'a Envelope<'a>,
    /// `_meta` of the params of a request or notification, looked up once as many features need it.
    pub(crate) meta: Option<Node<'a>>,
    pub(crate) what: What<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum What<'a> {
    Request(&'a RequestId),
    Notification,
    Answer(Answer<'a>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    pub(crate) id: Option<&'a RequestId>,
    /// The request it answers, if that was observed and is not forgotten.
    pub(crate) request: Option<&'a Request>,
}

impl<'a> Event<'a> {
    /// The whole message.
    pub(crate) fn node(&self) -> Node<'a> {
        self.envelope.object
    }

    /// The span of the method name, or else of the whole message.
    pub(crate) fn method_span(&self) -> Span {
        self.envelope.method.unwrap_or(self.node()).span()
    }

    pub(crate) fn params(&self) -> Option<Node<'a>> {
        self.envelope.params
    }

    /// The result of a successful answer.
    pub(crate) fn result(&self) -> Option<Node<'a>> {
        self.envelope.result.filter(|_| self.envelope.error.is_none())
    }

    pub(crate) fn error(&self) -> Option<Node<'a>> {
        self.envelope.error
    }

    pub(crate) fn error_code(&self) -> Option<i64> {
        self.envelope.error_code()
    }

    /// `_meta` of the params or of the result.
    pub(crate) fn meta(&self) -> Option<Node<'a>> {
        match self.what {
            What::Request(_) | What::Notification => self.meta,
            What::Answer(_) => self.envelope.params.or(self.envelope.result)?.get("_meta"),
        }
    }

    /// The id, if it is a request.
    pub(crate) fn request(&self) -> Option<&'a RequestId> {
        match self.what {
            What::Request(id) => Some(id),
            What::Notification | What::Answer(_) => None,
        }
    }

    /// The method, if it is a request or notification rather than an answer.
    pub(crate) fn call(&self) -> Option<&'a str> {
        match self.what {
            What::Request(_) | What::Notification => Some(self.name),
            What::Answer(_) => None,
        }
    }

    /// Whether it is an answer to any request.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self.what, What::Answer(_))
    }

    /// The request it answers, if it is an answer and that was observed.
    pub(crate) fn answered(&self) -> Option<&'a Request> {
        match self.what {
            What::Answer(answer) => answer.request,
            What::Request(_) | What::Notification => None,
        }
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }

    /// Digest of the client that a modern request names.
    pub(crate) fn sender(&self) -> Option<u64> {
        if !self.is_modern() || self.at.stream().is_none() {
            return None;
        }
        Some(digest(self.meta()?.get(META_CLIENT_INFO)?.raw()))
    }

    /// Whether it is an answer that only a server without a handshake gives. (Clients do not answer
    /// in that era.)
    pub(crate) fn is_from_modern_server(&self) -> bool {
        if !self.is_modern() {
            return false;
        }
        match self.result() {
            Some(result) => result.get("resultType").is_some_and(Node::is_string),
            None => matches!(self.error_code(), Some(-32022..=-32020)),
        }
    }
}

/// What all rules may know about the conversation before the current message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'s> {
    pub(crate) criteria: &'s Criteria,
    pub(crate) limits: &'s Limits,
    /// Whether the start was observed. If not, the absence of a message proves nothing.
    pub(crate) from_start: bool,
    /// Whether there was no traffic before that start, not even another session.
    pub(crate) is_all_seen: bool,
    /// Whether the revision was set by the caller, overriding what the peers say.
    pub(crate) is_revision_given: bool,
    pub(crate) lifecycle: &'s Lifecycle,
    pub(crate) declared: &'s Declared,
    pub(crate) requests: &'s Requests,
    pub(crate) listings: &'s Listings,
    /// Since when the server is known to support a revision without a handshake.
    pub(crate) modern_server: Option<&'s Moment>,
    pub(crate) http: Option<&'s dyn Exchanges>,
    /// Requests of the client whose answers were seen before their exchange was chosen.
    pub(crate) unplaced: Option<&'s Bounded<RequestId, Request>>,
    /// Whether that side has sent something unreadable, by `Side as usize`.
    pub(crate) unreadable: [bool; 2],
}

impl<'s> Known<'s> {
    /// Whether `side` has sent something unreadable, which may have been any message that seems
    /// missing.
    pub(crate) fn sent_unreadable(&self, side: Side) -> bool {
        self.unreadable[side as usize]
    }

    /// Whether the message may be from or for any of several clients, so that what one sent must not
    /// be held against another.
    pub(crate) fn is_anonymous(&self, event: &Event<'_>) -> bool {
        !event.is_modern() && self.http.is_some_and(|http| http.is_anonymous(event.at.stream()))
    }

    /// The client's request with this id whose answer was judged, but has only now been placed on an
    /// exchange.
    pub(crate) fn awaiting(&self, id: &RequestId) -> Option<&'s Request> {
        self.requests.open(Side::Client, id).or_else(|| self.unplaced?.get(id))
    }

    /// What `side` has declared that applies to the current message; `None` if unknown, and then
    /// rules must stay silent.
    ///
    /// Without a handshake a client declares in each request, a server in its answer to
    /// `server/discover`.
    pub(crate) fn capabilities<'e>(&self, side: Side, event: &Event<'e>) -> Option<&'e Capabilities>
    where
        's: 'e,
    {
        match (event.revision.era(), side) {
            (Era::Legacy, side) => self.declared.in_handshake(side),
            (Era::Modern, Side::Server) => self.declared.discovered(),
            (Era::Modern, Side::Client) => event.answered()?.declared.as_ref(),
        }
    }
}
