//! Servers' responses over HTTP: status, type and body.

mod body;
mod errors;
mod support;

use mcp_core::{Era, Revision, Revisions, Side};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use mcp_schema::MethodKind;
use serde::{Deserialize, Serialize};

use super::{
    CarriedMessage, Exchange, HeaderName, Headers, HttpFamily, HttpPart, Observation,
    endpoints::Destination, is_media_type, requests::EndpointKind,
};
use crate::{
    Level,
    conversation::{Known, META_CAPABILITIES, META_VERSION, Notes},
    findings::Fault,
};

const STREAMABLE: Revisions = Revisions::from(Revision::V2025_03_26);
const WITH_GET: Revisions = Revisions::between(Revision::V2025_03_26, Revision::LATEST_LEGACY);
const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    CONTENT_TYPE: "http-response-content-type", Http, Level::Error, STREAMABLE, "basic/transports#sending-messages-to-the-server";
    NOTIFICATION_STATUS: "http-notification-status", Http, Level::Error, STREAMABLE, "basic/transports#sending-messages-to-the-server";
    NOTIFICATION_BODY: "http-notification-body", Http, Level::Error, STREAMABLE, "basic/transports#sending-messages-to-the-server";
    JSON_NOT_RESPONSE: "http-json-not-response", Http, Level::Error, STREAMABLE, "basic/transports#sending-messages-to-the-server";
    GET_TYPE: "http-get-response-type", Http, Level::Error, WITH_GET, "basic/transports#listening-for-messages-from-the-server";
    BUFFERING: "sse-buffering-header-missing", Http, Level::Warning, MODERN, "basic/transports/streamable-http#receiving-messages";
    ERROR_STATUS: "modern-error-status", Http, Level::Error, MODERN, "basic/transports/streamable-http#protocol-version-header";
    METHOD_STATUS: "method-not-found-status", Http, Level::Error, MODERN, "basic/transports/streamable-http#protocol-version-header";
    LEGACY_METHOD: "http-legacy-method-status", Http, Level::Warning, MODERN, "basic/transports/streamable-http#earlier-streamable-http-revisions";
}

/// What is known about the server, mostly independent of the session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Responses {
    support: support::Support,
    /// Whether the HTTP+SSE transport is in use, which answers differently.
    http_sse: bool,
}

/// State kept per exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    carries: Carries,
    /// Whether a GET accepts an event stream as an answer.
    accepts_stream: bool,
    /// Whether a modern request lacks required `_meta` members.
    lacks_meta: bool,
    http_sse: bool,
}

/// What a POST carries, as far as the answer depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Carries {
    /// Nothing readable, or something so odd that any answer will do.
    #[default]
    Unclear,
    Requests,
    NoRequests,
}

impl Seen {
    pub(super) fn carries_requests(&self) -> bool {
        self.carries == Carries::Requests
    }

    /// Whether the exchange belongs to the HTTP+SSE transport of 2024-11-05, whichever revision is
    /// used over it.
    pub(super) fn is_http_sse(&self) -> bool {
        self.http_sse
    }
}

impl HttpFamily for Responses {
    fn follow(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match event.part {
            HttpPart::Request { headers, .. } => self.open(event, headers, exchange),
            HttpPart::Response { status, headers } => {
                self.note_transport(event, status, exchange);
                if exchange.seen && !exchange.response.http_sse {
                    self.judge_head(event, status, headers, exchange, known, notes);
                }
            }
            HttpPart::Event(sse) => {
                if exchange.request.place == EndpointKind::LegacySse && !exchange.is_post() {
                    self.http_sse = true;
                    exchange.response.http_sse = true;
                }
                if event.is_dispatched(sse) {
                    body::judge_event(event, exchange, notes);
                }
            }
            HttpPart::End => {}
        }
        if event.from == Side::Server {
            self.support.record(event, exchange);
            errors::judge(event, exchange, notes);
        }
    }
}

impl Responses {
    fn open(&mut self, event: &Observation<'_>, headers: &Headers<'_>, exchange: &mut Exchange) {
        let accept = headers.value(HeaderName::Accept).unwrap_or_default();
        exchange.response = Seen {
            carries: carries(event),
            accepts_stream: exchange.is_get()
                && accept.split(',').any(|range| {
                    ["text/event-stream", "text/*", "*/*"]
                        .into_iter()
                        .any(|covering| is_media_type(range, covering))
                }),
            lacks_meta: event.any_message(|message| lacks_meta(&message.envelope)),
            http_sse: self.http_sse || exchange.request.place == EndpointKind::Unclear,
        };
    }

    /// Records the transport: a request answered where it was posted is not on HTTP+SSE.
    fn note_transport(&mut self, event: &Observation<'_>, status: u16, exchange: &mut Exchange) {
        let answers = exchange.is_sse || event.message.is_some();
        if exchange.response.carries_requests() && is_success(status) && answers {
            self.http_sse = false;
            exchange.response.http_sse = false;
        } else if exchange.request.place == EndpointKind::Unclear {
            exchange.response.http_sse = true;
        }
    }

    fn judge_head(
        &mut self,
        event: &Observation<'_>,
        status: u16,
        headers: &Headers<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        // All revisions with Streamable HTTP agree on how to answer `initialize`.
        let certain = event.settled || exchange.initializes();
        let to_endpoint = exchange.aim == Destination::Endpoint;
        match exchange.response.carries {
            _ if !certain => {}
            Carries::Requests if is_success(status) => {
                let lost = judge_type(event, status, headers, exchange, known, notes)
                    || body::judge_json(event, headers, exchange, known, notes);
                let requests = exchange.requests().filter(|_| lost);
                // They may still be answered elsewhere.
                requests.filter_map(|asked| asked.id.clone()).for_each(|id| notes.lose(id));
            }
            Carries::NoRequests if is_success(status) => {
                body::judge_receipt(event, status, exchange, notes);
            }
            _ if exchange.is_get() && is_success(status) && to_endpoint => {
                judge_get(headers, exchange, notes);
            }
            _ => {}
        }
        if to_endpoint {
            self.support.judge(status, exchange, notes);
        }
    }
}

pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// Checks that a request is answered with JSON or a stream, and that a stream is not buffered.
/// Returns whether no answer came at all.
fn judge_type(
    event: &Observation<'_>,
    status: u16,
    headers: &Headers<'_>,
    exchange: &Exchange,
    known: &Known<'_>,
    notes: &mut Notes,
) -> bool {
    if !headers.are_recorded() {
        return false;
    }
    let kind = headers.value(HeaderName::ContentType);
    let is = |media_type| kind.as_deref().is_some_and(|kind| is_media_type(kind, media_type));
    if is("text/event-stream") {
        if BUFFERING.applies.contains(event.revision) {
            judge_buffering(headers, notes);
        }
        return false;
    }
    // HTTP+SSE answers with 202, and its start may have been missed.
    if is("application/json") || status == 202 && !known.from_start {
        return false;
    }
    let asked = exchange.requests().next().map_or("", |asked| &asked.name);
    let answer = match kind {
        Some(kind) => format!("`{asked}` is answered with content type `{kind}`"),
        None => format!("`{asked}` is answered with status {status} and no `Content-Type`"),
    };
    notes.always(
        Fault::new(&CONTENT_TYPE, format!("{answer}: neither JSON nor an event stream"))
            .related(exchange.at.line(), "the request was here")
            .help("answer with `application/json` and the response, or with `text/event-stream`"),
    );
    event.message.is_none()
}

fn judge_buffering(headers: &Headers<'_>, notes: &mut Notes) {
    let value = headers.value(HeaderName::XAccelBuffering);
    let message = match value.as_deref().map(str::trim) {
        Some(value) if value.eq_ignore_ascii_case("no") => return,
        Some(value) => format!("`X-Accel-Buffering` is `{value}`: proxies may delay events"),
        None => "the event stream lacks `X-Accel-Buffering`: proxies may delay events".into(),
    };
    notes.always(
        Fault::new(&BUFFERING, message)
            .help("send `X-Accel-Buffering: no` with every event stream"),
    );
}

/// Checks that a GET of the endpoint is answered with a stream.
fn judge_get(headers: &Headers<'_>, exchange: &Exchange, notes: &mut Notes) {
    if exchange.is_sse || !headers.are_recorded() || !exchange.response.accepts_stream {
        return;
    }
    let answer = match headers.value(HeaderName::ContentType) {
        Some(kind) => format!("content type `{kind}`"),
        None => "no `Content-Type`".to_owned(),
    };
    notes.always(
        Fault::new(&GET_TYPE, format!("GET is answered with {answer}, not with an event stream"))
            .related(exchange.at.line(), "the request was here")
            .help("open a `text/event-stream`, or answer 405 if there is none"),
    );
}

/// Classifies a POST by the answer it requires.
fn carries(event: &Observation<'_>) -> Carries {
    let Some(body) = event.message else { return Carries::Unclear };
    if body.is_array() && event.revision != Revision::V2025_03_26 {
        return Carries::Unclear;
    }
    let mut found = Carries::Unclear;
    let unclear = event.find_message(|message| {
        match read(message, event.revision) {
            None => return Some(Carries::Unclear),
            Some(MessageKind::Request) => found = Carries::Requests,
            Some(_) if found == Carries::Unclear => found = Carries::NoRequests,
            Some(_) => {}
        }
        None
    });
    unclear.unwrap_or(found)
}

/// The kind of a client's message, if that is unambiguous.
fn read(message: &CarriedMessage<'_>, revision: Revision) -> Option<MessageKind> {
    let CarriedMessage { envelope, sound, id, .. } = message;
    let kind = (*sound)?;
    let name = envelope.method.and_then(Node::str_bytes).unwrap_or_default();
    let by_name = match mcp_schema::method(revision, &name) {
        Some(method) => Some(method.kind == MethodKind::Notification),
        None => name.starts_with(b"notifications/").then_some(true),
    };
    let as_named = |notification| by_name.is_none_or(|by_name| by_name == notification);
    let sound = match kind {
        MessageKind::Request => as_named(false) && id.is_some(),
        MessageKind::Notification => as_named(true),
        MessageKind::Response => revision.era() == Era::Legacy,
    };
    sound.then_some(kind)
}

/// Whether a request lacks `_meta` members that a modern one needs.
fn lacks_meta(envelope: &Envelope<'_>) -> bool {
    let meta = envelope.params.and_then(|params| params.get("_meta"));
    let member = |name| meta.and_then(|meta| meta.get(name));
    !member(META_VERSION).is_some_and(Node::is_string)
        || !member(META_CAPABILITIES).is_some_and(Node::is_object)
}
