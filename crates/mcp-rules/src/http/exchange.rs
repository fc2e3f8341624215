use mcp_core::{RequestId, Revision};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use serde::{Deserialize, Serialize};

use super::{
    HeaderName, HttpPart, Observation, auth, endpoints::Aim, headers, legacy_sse, requests,
    responses, sessions, streams,
};
use crate::conversation::Moment;

/// Messages of one POST that are kept.
const MAX_POSTED: usize = 1000;

/// A request and what came back, as far as seen.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, none of them a state")]
pub(crate) struct Exchange {
    pub(crate) number: u64,
    pub(crate) at: Moment,
    /// Whether the request was seen, not only something of the response.
    pub(crate) seen: bool,
    /// `POST`, `GET`, `DELETE`, … as written.
    pub(crate) method: Box<str>,
    pub(crate) url: Box<str>,
    pub(crate) aim: Aim,
    /// The revision of the request, and whether that is certain.
    pub(crate) revision: Option<Revision>,
    pub(crate) settled: bool,
    /// The lane in which a POST is followed, and its answer.
    pub(crate) lane: Option<u64>,
    pub(crate) session_id: Option<Box<str>>,
    pub(crate) last_event_id: Option<Box<str>>,
    /// Whether the request has the header `MCP-Protocol-Version`.
    pub(crate) names_version: bool,
    /// The published revision in it.
    pub(crate) named_revision: Option<Revision>,
    /// The messages of the body.
    pub(crate) posted: Vec<Posted>,
    pub(crate) status: Option<u16>,
    /// Whether the response is a stream of events.
    pub(crate) is_sse: bool,
    /// How many of the posted requests were answered on it.
    pub(crate) answered: usize,
    pub(crate) ended: bool,
    /// Whether it was the client who ended it.
    pub(crate) was_left: bool,
    pub(crate) request: requests::Seen,
    pub(crate) headers: headers::Seen,
    pub(crate) session: sessions::Seen,
    pub(crate) legacy_sse: legacy_sse::Seen,
    pub(crate) response: responses::Seen,
    pub(crate) stream: streams::Seen,
    pub(crate) auth: auth::Seen,
}

/// A message in the body of a POST.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Posted {
    pub(crate) id: Option<RequestId>,
    /// The method; empty for a response.
    pub(crate) name: Box<str>,
    pub(crate) kind: PostedKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PostedKind {
    Request,
    Notification,
    Response,
}

impl Exchange {
    /// Takes in who asks what.
    pub(super) fn open(event: &Observation<'_>) -> Exchange {
        let mut exchange = Exchange { number: event.exchange, at: event.at, ..Exchange::default() };
        if let HttpPart::Request { method, url, headers } = event.part {
            exchange.seen = true;
            exchange.method = method.into();
            exchange.url = url.into();
            exchange.session_id = headers.value(HeaderName::McpSessionId).map(Into::into);
            exchange.last_event_id = headers.value(HeaderName::LastEventId).map(Into::into);
            let version = headers.value(HeaderName::McpProtocolVersion);
            exchange.names_version = version.is_some();
            exchange.named_revision = version.and_then(|version| version.trim().parse().ok());
            exchange.posted = event.message.map(posted).unwrap_or_default();
        }
        exchange
    }

    pub(crate) fn is_post(&self) -> bool {
        self.method.eq_ignore_ascii_case("POST")
    }

    pub(crate) fn is_get(&self) -> bool {
        self.method.eq_ignore_ascii_case("GET")
    }

    pub(crate) fn is_delete(&self) -> bool {
        self.method.eq_ignore_ascii_case("DELETE")
    }

    /// Whether it carries an `initialize` request.
    pub(crate) fn initializes(&self) -> bool {
        self.requests().any(|posted| &*posted.name == "initialize")
    }

    /// Whether it carries messages, and none of them is a request.
    pub(crate) fn needs_no_answer(&self) -> bool {
        !self.posted.is_empty() && self.requests().next().is_none()
    }

    /// Whether it goes to somebody else than the MCP server.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.aim == Aim::Elsewhere
    }

    /// Whether it goes to another place than messages do.
    pub(crate) fn is_beside_endpoint(&self) -> bool {
        self.is_elsewhere() || self.seen && self.request.place == requests::Place::Elsewhere
    }

    /// Whether it belongs to the HTTP+SSE transport of 2024-11-05.
    pub(crate) fn is_http_sse(&self) -> bool {
        self.request.place == requests::Place::LegacySse || self.response.is_http_sse()
    }

    /// The requests in the body.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &Posted> {
        self.posted.iter().filter(|posted| posted.kind == PostedKind::Request)
    }

    /// Whether the body holds this request.
    pub(crate) fn asked(&self, id: &RequestId) -> Option<&Posted> {
        self.requests().find(|posted| posted.id.as_ref() == Some(id))
    }

    /// Takes in which of its requests a message answers.
    pub(super) fn note_answers(&mut self, message: Option<Node<'_>>) {
        for message in message.into_iter().flat_map(messages) {
            let envelope = Envelope::of(message);
            if envelope.kind() == Some(MessageKind::Response)
                && let Some(id) = envelope.readable_id().and_then(|id| id.to_request_id())
                && self.asked(&id).is_some()
            {
                self.answered += 1;
            }
        }
    }

    /// The URL without its query.
    pub(crate) fn path(&self) -> &str {
        self.url.split(['?', '#']).next().unwrap_or_default()
    }
}

/// The messages of a body: one, or those of a batch.
pub(super) fn messages(body: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let single = Some(body).filter(|body| !body.is_array());
    single.into_iter().chain(body.elements())
}

fn posted(body: Node<'_>) -> Vec<Posted> {
    messages(body)
        .take(MAX_POSTED)
        .filter_map(|message| {
            let envelope = Envelope::of(message);
            let kind = match envelope.kind()? {
                MessageKind::Request => PostedKind::Request,
                MessageKind::Notification => PostedKind::Notification,
                MessageKind::Response => PostedKind::Response,
            };
            let name = envelope.method.and_then(Node::as_str).unwrap_or_default();
            let id = envelope.readable_id().and_then(|id| id.to_request_id());
            Some(Posted { id, name: name.into(), kind })
        })
        .collect()
}
