//! Clients' requests over HTTP: methods, headers, and what servers should have refused.
//!
//! Runs before the other families and tells them, in [`Seen`], whether an exchange is with the MCP
//! endpoint and whether the server is known to support a revision without a handshake.

mod accept;
mod origin;
mod retry;
mod version;

use mcp_core::{Era, Revision, Revisions};
use mcp_json::Node;
use mcp_jsonrpc::Envelope;
use serde::{Deserialize, Serialize};

use super::{
    Exchange, HeaderName, Headers, HttpFamily, HttpPart, Observation, endpoints::Destination,
};
use crate::{
    Level,
    conversation::{Known, Notes, Phase},
    findings::Fault,
};

const STREAMABLE: Revisions = Revisions::from(Revision::V2025_03_26);
const WITH_GET: Revisions = Revisions::between(Revision::V2025_03_26, Revision::LATEST_LEGACY);
const WITH_VERSION: Revisions = Revisions::from(Revision::V2025_06_18);
const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);
const POLLING: Revisions = Revisions::only(Revision::V2025_11_25);

rules! {
    NOT_POST: "http-message-not-post", Http, Level::Error, STREAMABLE, "basic/transports#sending-messages-to-the-server";
    ACCEPT_MISSING: "http-accept-missing", Http, Level::Error, STREAMABLE, "basic/transports#sending-messages-to-the-server";
    GET_ACCEPT_MISSING: "http-get-accept-missing", Http, Level::Error, WITH_GET, "basic/transports#listening-for-messages-from-the-server";
    CONTENT_TYPE: "http-request-content-type", Http, Level::Warning, STREAMABLE, "basic/transports#sending-messages-to-the-server";
    VERSION_MISSING: "protocol-version-header-missing", Http, Level::Error, WITH_VERSION, "basic/transports#protocol-version-header";
    VERSION_MISMATCH: "protocol-version-header-mismatch", Http, Level::ErrorIn(MODERN), WITH_VERSION, "basic/transports#protocol-version-header";
    VERSION_NOT_REJECTED: "protocol-version-header-not-rejected", Http, Level::Error, WITH_VERSION, "basic/transports#protocol-version-header";
    GET_REMOVED: "http-get-removed", Http, Level::Warning, MODERN, "basic/transports/streamable-http#earlier-streamable-http-revisions";
    LAST_EVENT_ID: "http-last-event-id", Http, Level::Warning, MODERN, "basic/transports/streamable-http#receiving-messages";
    CANCELLED_POSTED: "http-cancelled-posted", Http, Level::Warning, MODERN, "basic/patterns/cancellation#transport-specific-cancellation";
    RETRY_IGNORED: "http-retry-ignored", Http, Level::Error, POLLING, "basic/transports#sending-messages-to-the-server", Tolerated;
    ORIGIN_NOT_REJECTED: "origin-not-rejected", Http, Level::Error, STREAMABLE, "basic/transports#security-warning";
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Requests {
    server_is_modern: bool,
    /// Whether Streamable HTTP was observed. An observer that joins late may be looking at
    /// HTTP+SSE.
    is_streamable: bool,
    /// Whether an `initialize` was accepted without an answer, as in HTTP+SSE.
    is_http_sse: bool,
    versions: version::Versions,
    retries: retry::Retries,
}

/// State kept per exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) place: EndpointKind,
    /// Whether the headers of the request were recorded.
    pub(crate) headers_known: bool,
    /// Whether the server is known by now to support a revision without a handshake: a legacy
    /// server may answer anything to a request it does not understand.
    pub(crate) server_is_modern: bool,
    held: Option<Box<accept::Held>>,
    version: Option<version::Unsupported>,
    unpublished: Option<version::Unpublished>,
    foreign_origin: Option<Box<str>>,
    retry: retry::Seen,
}

/// How an exchange relates to MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum EndpointKind {
    /// Not at all, as far as known: a health check, a metadata document.
    #[default]
    Elsewhere,
    /// It is with the MCP endpoint of Streamable HTTP. Rules about that transport ignore all other
    /// exchanges.
    Endpoint,
    /// Messages are posted there, over either transport.
    Unclear,
    /// It belongs to the HTTP+SSE transport of 2024-11-05.
    LegacySse,
}

impl Seen {
    pub(crate) fn at_endpoint(&self) -> bool {
        self.place == EndpointKind::Endpoint
    }
}

impl HttpFamily for Requests {
    fn follow(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match event.part {
            HttpPart::Request { headers, .. } => {
                note_endpoint(headers, exchange);
                self.note_transport(event, exchange, known);
                self.versions.judge_unpublished(event, headers, exchange, known, notes);
                if exchange.request.at_endpoint() {
                    self.judge_request(event, headers, exchange, known, notes);
                } else if exchange.request.place == EndpointKind::Unclear
                    && exchange.request.headers_known
                {
                    accept::judge(false, headers, exchange, notes);
                }
            }
            HttpPart::Response { status, .. } => {
                self.note_answered(event, status, exchange, known);
                self.note_answer(event, exchange, known);
                version::leave_unjudged(event, exchange, notes);
                if exchange.request.at_endpoint() {
                    accept::judge_held(status, exchange, notes);
                    version::judge_answer(status, event, exchange, notes);
                    origin::judge_answer(status, event, exchange, notes);
                }
            }
            HttpPart::Event(sse) => {
                self.note_answer(event, exchange, known);
                version::leave_unjudged(event, exchange, notes);
                exchange.request.retry.note(sse);
            }
            HttpPart::End => self.retries.note_end(event, exchange, known.limits.remembered),
        }
        exchange.request.server_is_modern = self.server_is_modern;
    }
}

impl Requests {
    /// Called when a new session begins on the same endpoint.
    pub(super) fn restart(&mut self) {
        self.retries = retry::Retries::default();
    }

    /// Records the transport: only Streamable HTTP has session headers, and requests without a
    /// handshake.
    fn note_transport(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
    ) {
        let begins = known.from_start || exchange.initializes();
        self.is_streamable |= begins && !self.is_http_sse
            || exchange.session_id.is_some()
            || event.settled && event.revision.era() == Era::Modern;
        let is_unclear = exchange.request.at_endpoint() && exchange.is_post();
        if is_unclear && !self.is_streamable {
            exchange.request.place = EndpointKind::Unclear;
        }
    }

    /// Records the transport: a request answered where it was posted reveals it, and so does an
    /// `initialize` that is not, as the stream for its answer may have been opened before.
    fn note_answered(
        &mut self,
        event: &Observation<'_>,
        status: u16,
        exchange: &mut Exchange,
        known: &Known<'_>,
    ) {
        let answers = exchange.is_sse || event.message.is_some();
        let place = exchange.request.place;
        if place == EndpointKind::Unclear && answers && exchange.requests().next().is_some() {
            self.is_streamable = true;
            self.is_http_sse = false;
            exchange.request.place = EndpointKind::Endpoint;
        } else if place == EndpointKind::Endpoint
            && !answers
            && status == 202
            && exchange.initializes()
            && !known.is_all_seen
        {
            self.is_streamable = false;
            self.is_http_sse = true;
            exchange.request.place = EndpointKind::Unclear;
        }
    }

    fn judge_request(
        &self,
        event: &Observation<'_>,
        headers: &Headers<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        if !exchange.is_post() && !exchange.posted.is_empty() {
            notes.always(not_post(exchange));
            return;
        }
        if !exchange.request.headers_known {
            return;
        }
        if exchange.is_post() || exchange.is_get() {
            accept::judge(event.settled, headers, exchange, notes);
        }
        if exchange.is_post() || exchange.is_get() || exchange.is_delete() {
            exchange.request.foreign_origin = origin::foreign(headers, known);
            self.versions.judge(event, headers, exchange, known, notes);
            self.judge_removed(event, headers, exchange, known, notes);
        }
        if exchange.is_get() && event.settled {
            self.retries.judge(event, exchange, notes);
        }
    }

    /// Judges uses of what 2026-07-28 has removed.
    fn judge_removed(
        &self,
        event: &Observation<'_>,
        headers: &Headers<'_>,
        exchange: &Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        if !event.settled {
            return;
        }
        if !exchange.is_post() && !self.is_settled_modern(headers, exchange, known) {
            return;
        }
        if !exchange.is_post() {
            notes.always(
                Fault::new(
                    &GET_REMOVED,
                    format!("2026-07-28 does not allow {} on the endpoint", exchange.method),
                )
                .help(
                    "for notifications POST `subscriptions/listen`; there are no sessions to end",
                ),
            );
        }
        if let Some(id) = &exchange.last_event_id {
            notes.always(
                Fault::new(
                    &LAST_EVENT_ID,
                    format!("the client resumes a stream after `{id}`, but 2026-07-28 streams cannot be resumed"),
                )
                .help("omit `Last-Event-ID`, and send the request again with a new id"),
            );
        }
        if exchange.posted.iter().any(|posted| &*posted.name == "notifications/cancelled") {
            notes.always(
                Fault::new(
                    &CANCELLED_POSTED,
                    "the client sends `notifications/cancelled` over HTTP",
                )
                .help("close the response stream of the request instead"),
            );
        }
    }

    /// Whether the client of a GET or DELETE must know that the server is a modern one.
    fn is_settled_modern(
        &self,
        headers: &Headers<'_>,
        exchange: &Exchange,
        known: &Known<'_>,
    ) -> bool {
        let version = headers.value(HeaderName::McpProtocolVersion);
        let speaks_legacy = match version.as_deref().map(str::trim) {
            Some(version) => version != Revision::V2026_07_28.as_str(),
            None => exchange.session_id.is_some(),
        };
        self.server_is_modern && known.lifecycle.phase() == Phase::Unknown && !speaks_legacy
    }

    /// Records what a server's message reveals about the versions it supports.
    fn note_answer(&mut self, event: &Observation<'_>, exchange: &Exchange, known: &Known<'_>) {
        let is_modern = exchange.revision.is_some_and(|revision| revision.era() == Era::Modern);
        event.each_message(|message| {
            if is_modern {
                self.server_is_modern |= is_modern_answer(&message.envelope);
            }
            self.versions.note_answer(message, known);
        });
    }
}

/// Records the endpoint, which is where messages are posted. Before the first post, only headers
/// tell.
fn note_endpoint(headers: &Headers<'_>, exchange: &mut Exchange) {
    if exchange.request.place == EndpointKind::LegacySse {
        return;
    }
    exchange.request.headers_known = headers.are_recorded();
    let is_endpoint = match exchange.aim {
        Destination::Endpoint => true,
        Destination::Unknown => names_mcp(headers),
        Destination::Beside | Destination::Elsewhere => false,
    };
    if is_endpoint {
        exchange.request.place = EndpointKind::Endpoint;
    }
}

fn names_mcp(headers: &Headers<'_>) -> bool {
    headers.has(HeaderName::McpSessionId) || headers.has(HeaderName::McpProtocolVersion)
}

/// Whether only a server of 2026-07-28 or later answers like this.
fn is_modern_answer(envelope: &Envelope<'_>) -> bool {
    let typed =
        envelope.result.and_then(|result| result.get("resultType")).is_some_and(Node::is_string);
    typed || matches!(envelope.error_code(), Some(-32022..=-32020))
}

/// Whether a status refuses a request for a reason other than the one a rule looks for.
pub(super) fn is_other_refusal(status: u16) -> bool {
    matches!(status, 300..=399 | 401..=408 | 411..=415 | 429 | 500..)
}

fn not_post(exchange: &Exchange) -> Fault {
    let name = exchange.posted.first().map_or("", |posted| &posted.name);
    let what = if name.is_empty() { "a response".to_owned() } else { format!("`{name}`") };
    Fault::new(&NOT_POST, format!("{what} is sent with {}", exchange.method))
        .help("send every message as the body of its own POST")
}
