use std::borrow::Cow;

use mcp_core::{RequestId, Revision};
use mcp_json::Node;
use mcp_jsonrpc::MessageKind;
use serde::{Deserialize, Serialize};

use super::{
    CarriedMessage, HeaderName, Headers, HttpPart, Observation, auth, endpoints::Destination,
    headers, legacy_sse, method::HttpMethod, requests, responses, sessions, streams,
};
use crate::conversation::{
    Moment,
    digest::{kept, kept_within},
};

/// The longest URL that is remembered as it is.
const LONGEST_URL: usize = 4096;
/// Maximum messages kept of one POST.
const MAX_POSTED: usize = 1000;

/// A request and its response, as far as observed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, none of them a state")]
pub(crate) struct Exchange {
    pub(crate) number: u64,
    pub(crate) at: Moment,
    /// Whether the request was observed, not only some of the response.
    pub(crate) seen: bool,
    pub(crate) method: HttpMethod,
    pub(crate) url: Box<str>,
    pub(crate) aim: Destination,
    /// The revision of the request, and whether that is certain.
    pub(crate) revision: Option<Revision>,
    pub(crate) settled: bool,
    /// The lane in which a POST and its answer are followed.
    pub(crate) lane: Option<u64>,
    pub(crate) session_id: Option<Box<str>>,
    pub(crate) last_event_id: Option<Box<str>>,
    /// Whether the request has the header `MCP-Protocol-Version`.
    pub(crate) names_version: bool,
    /// The published revision that the header names.
    pub(crate) named_revision: Option<Revision>,
    /// The messages of the body.
    pub(crate) posted: Vec<Posted>,
    pub(crate) status: Option<u16>,
    /// Whether the response is an event stream.
    pub(crate) is_sse: bool,
    /// How many of the posted requests were answered in it.
    pub(crate) answered: usize,
    pub(crate) ended: bool,
    /// Whether the client ended it.
    pub(crate) left_by_client: bool,
    pub(crate) request: requests::Seen,
    pub(crate) headers: headers::Seen,
    pub(crate) session: sessions::Seen,
    pub(crate) legacy_sse: legacy_sse::Seen,
    pub(crate) response: responses::Seen,
    pub(crate) stream: streams::Seen,
    pub(crate) auth: auth::Seen,
}

/// The session that a request or a response names, as it is remembered.
pub(crate) fn session_id<'h>(headers: &'h Headers<'_>) -> Option<Cow<'h, str>> {
    Some(match headers.value(HeaderName::McpSessionId)? {
        Cow::Borrowed(id) => kept(without_blanks(id).into()),
        Cow::Owned(id) => Cow::Owned(kept(without_blanks(&id).into()).into_owned()),
    })
}

/// Strips surrounding blanks, with a fast path for ids that have none.
fn without_blanks(id: &str) -> &str {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    if is_blank(id.as_bytes().first()) || is_blank(id.as_bytes().last()) {
        return id.trim_matches([' ', '\t']);
    }
    id
}

/// A message in the body of a POST.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Posted {
    pub(crate) id: Option<RequestId>,
    /// The method; empty for a response. Borrowed if the revision defines it.
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: PostedKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PostedKind {
    Request,
    Notification,
    Response,
}

impl Exchange {
    /// Creates an exchange from the request, if that was observed.
    pub(super) fn open(event: &Observation<'_>) -> Exchange {
        let mut exchange = Exchange { number: event.exchange, at: event.at, ..Exchange::default() };
        if let HttpPart::Request { method, url, headers } = event.part {
            exchange.seen = true;
            exchange.method = method.into();
            exchange.url = (*kept_within(LONGEST_URL, url.into())).into();
            exchange.session_id = session_id(headers).map(|id| (*id).into());
            let last_event_id = headers.value(HeaderName::LastEventId);
            exchange.last_event_id = last_event_id.map(|id| (*kept(id)).into());
            let version = headers.value(HeaderName::McpProtocolVersion);
            exchange.names_version = version.is_some();
            exchange.named_revision = version.and_then(|version| version.trim().parse().ok());
            exchange.posted = posted(event);
        }
        exchange
    }

    pub(crate) fn is_post(&self) -> bool {
        self.method.is(&HttpMethod::Post)
    }

    pub(crate) fn is_get(&self) -> bool {
        self.method.is(&HttpMethod::Get)
    }

    pub(crate) fn is_delete(&self) -> bool {
        self.method.is(&HttpMethod::Delete)
    }

    /// Whether it carries an `initialize` request.
    pub(crate) fn initializes(&self) -> bool {
        self.requests().any(|posted| &*posted.name == "initialize")
    }

    /// Whether it carries messages, and none of them is a request.
    pub(crate) fn needs_no_answer(&self) -> bool {
        !self.posted.is_empty() && self.requests().next().is_none()
    }

    /// Whether it does not go to the MCP server.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.aim == Destination::Elsewhere
    }

    /// Whether it goes to a URL that messages are not posted to.
    pub(crate) fn is_beside_endpoint(&self) -> bool {
        self.is_elsewhere() || self.seen && self.request.place == requests::EndpointKind::Elsewhere
    }

    /// Whether it belongs to the HTTP+SSE transport of 2024-11-05.
    pub(crate) fn is_http_sse(&self) -> bool {
        self.request.place == requests::EndpointKind::LegacySse || self.response.is_http_sse()
    }

    /// Whether its response was seen to the end.
    pub(super) fn is_complete(&self) -> bool {
        self.ended || self.status.is_some() && !self.is_sse
    }

    /// The requests in the body.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &Posted> {
        self.posted.iter().filter(|posted| posted.kind == PostedKind::Request)
    }

    /// The request with this id in the body.
    pub(crate) fn asked(&self, id: &RequestId) -> Option<&Posted> {
        self.requests().find(|posted| posted.id.as_ref() == Some(id))
    }

    /// Whether the request body has a response with this id.
    pub(crate) fn has_response(&self, id: &RequestId) -> bool {
        let mut responses = self.posted.iter().filter(|posted| posted.kind == PostedKind::Response);
        responses.any(|posted| posted.id.as_ref() == Some(id))
    }

    /// Records which of its requests a message answers. Passes every answered id, of this exchange or
    /// another, to `answered`.
    pub(super) fn note_answers(
        &mut self,
        event: &Observation<'_>,
        mut answered: impl FnMut(&RequestId),
    ) {
        event.each_message(|message| {
            if message.envelope.kind() == Some(MessageKind::Response)
                && let Some(id) = &message.id
            {
                answered(id);
                self.answered += usize::from(self.asked(id).is_some());
            }
        });
    }

    /// The URL without its query.
    pub(crate) fn path(&self) -> &str {
        self.url.split(['?', '#']).next().unwrap_or_default()
    }
}

fn posted(event: &Observation<'_>) -> Vec<Posted> {
    let posted = |message: &CarriedMessage<'_>| Posted::of(message, event.revision);
    if let Some(single) = event.single {
        return posted(single).into_iter().collect();
    }
    let entries = event.message.into_iter().flat_map(Node::elements).take(MAX_POSTED);
    entries.filter_map(|entry| posted(&CarriedMessage::of(entry))).collect()
}

impl Posted {
    fn of(message: &CarriedMessage<'_>, revision: Revision) -> Option<Posted> {
        let CarriedMessage { envelope, id, .. } = message;
        let kind = match envelope.kind()? {
            MessageKind::Request => PostedKind::Request,
            MessageKind::Notification => PostedKind::Notification,
            MessageKind::Response => PostedKind::Response,
        };
        let name = envelope.method.and_then(Node::str_bytes).unwrap_or_default();
        let name = match mcp_schema::method(revision, &name) {
            Some(method) => Cow::Borrowed(method.name),
            None => Cow::Owned(String::from_utf8_lossy(&name).into_owned()),
        };
        Some(Posted { id: id.clone(), name, kind })
    }
}
