//! The HTTP+SSE transport of 2024-11-05: a stream whose first event names the URI that messages are
//! posted to, and which carries all answers.
//!
//! Runs before the other families, so that they do not mistake its exchanges for Streamable HTTP;
//! it is also used with newer revisions.

mod target;

use mcp_core::{Revision, Revisions, Side};
use serde::{Deserialize, Serialize};

use self::target::Target;
use super::{
    CarriedMessage, Exchange, HeaderName, Headers, HttpFamily, HttpPart, Observation, SseEvent,
    requests::EndpointKind,
};
use crate::{
    Level,
    conversation::{Bounded, Known, Moment, Notes},
    findings::Fault,
};

const OLD: Revisions = Revisions::only(Revision::V2024_11_05);

rules! {
    ENDPOINT_MISSING: "legacy-sse-endpoint-missing", Http, Level::Error, OLD, "basic/transports#http-with-sse";
    EVENT_TYPE: "legacy-sse-event-type", Http, Level::Error, OLD, "basic/transports#http-with-sse";
    WRONG_ENDPOINT: "legacy-sse-wrong-endpoint", Http, Level::Error, OLD, "basic/transports#http-with-sse";
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LegacySse {
    /// The URIs named by `endpoint` events, and where.
    endpoints: Bounded<Target, Moment>,
    /// The paths of streams that named one.
    streams: Bounded<Box<str>, ()>,
    /// Whether a URI was relative to one that was not observed.
    is_unresolved: bool,
}

/// State kept per stream.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Whether there was an `endpoint` event.
    begun: bool,
    /// The first event, if it was not `endpoint`.
    other_first: Option<Moment>,
}

impl HttpFamily for LegacySse {
    fn follow(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match event.part {
            HttpPart::Request { url, headers, .. } if exchange.is_post() => {
                self.judge_post(url, headers, exchange, notes);
            }
            HttpPart::Request { headers, .. } => {
                if self.streams.contains(exchange.path()) && !names_session(headers) {
                    exchange.request.place = EndpointKind::LegacySse;
                }
            }
            // A resumed stream does not start over.
            HttpPart::Event(sse)
                if (exchange.is_get() || !exchange.seen) && exchange.last_event_id.is_none() =>
            {
                self.note_event(event, sse, exchange, known);
                judge_event(event, sse, exchange, known, notes);
            }
            HttpPart::Response { .. } | HttpPart::Event(_) | HttpPart::End => {}
        }
    }
}

impl LegacySse {
    fn judge_post(
        &self,
        url: &str,
        headers: &Headers<'_>,
        exchange: &mut Exchange,
        notes: &mut Notes,
    ) {
        if self.is_unresolved && !is_streamable(headers) {
            exchange.request.place = EndpointKind::LegacySse;
            return;
        }
        let Some((endpoint, at)) = self.endpoints.iter().last() else { return };
        let target = Target::read(url);
        if self.endpoints.iter().any(|(endpoint, _)| endpoint.matches(&target)) {
            exchange.request.place = EndpointKind::LegacySse;
            return;
        }
        if exchange.posted.is_empty() || is_streamable(headers) || self.endpoints.forgot() {
            return;
        }
        exchange.request.place = EndpointKind::LegacySse;
        notes.always(
            Fault::new(
                &WRONG_ENDPOINT,
                format!("the message is posted to `{url}`, but the server gave `{endpoint}`"),
            )
            .related(at.line(), "the endpoint was given here")
            .help("post to the URI of the `endpoint` event, including its query"),
        );
    }

    /// Records an `endpoint` event, which identifies the transport.
    fn note_event(
        &mut self,
        event: &Observation<'_>,
        sse: SseEvent<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
    ) {
        let data = String::from_utf8_lossy(sse.data.or(event.body).unwrap_or_default());
        let is_endpoint = sse.event == Some("endpoint");
        if is_endpoint && event.message.is_none() && !data.is_empty() {
            let target = Target::read(&exchange.url).resolve(data.trim());
            if exchange.seen || data.trim().starts_with('/') || data.contains("://") {
                self.endpoints.insert(target, event.at, known.limits.remembered);
            } else {
                self.is_unresolved = true;
            }
            if exchange.seen {
                self.streams.insert(exchange.path().into(), (), known.limits.remembered);
            }
            exchange.legacy_sse.begun = true;
            exchange.request.place = EndpointKind::LegacySse;
        } else if exchange.seen && !exchange.legacy_sse.begun
            // Without data nothing is dispatched, so it is not an event.
            && (event.message.is_some() || !data.is_empty())
        {
            exchange.legacy_sse.other_first.get_or_insert(event.at);
        }
    }
}

fn judge_event(
    event: &Observation<'_>,
    sse: SseEvent<'_>,
    exchange: &mut Exchange,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    if event.message.is_none() {
        return;
    }
    let is_old = exchange.request.place == EndpointKind::LegacySse;
    if let Some(name) = sse.event.filter(|name| is_old && !matches!(*name, "" | "message")) {
        notes.always(
            Fault::new(&EVENT_TYPE, format!("the message arrives as a `{name}` event"))
                .help("name the event `message`, or not at all"),
        );
    }
    // Only on this transport does the answer to `initialize` come on such a stream. Before it the
    // revision is unknown.
    if event.single.is_some_and(|message| answers_initialize(message, known))
        && let Some(at) = exchange.legacy_sse.other_first.take()
    {
        exchange.request.place = EndpointKind::LegacySse;
        notes.always(
            Fault::new(&ENDPOINT_MISSING, "the stream does not begin with `endpoint`")
                .earlier(at.line(), Side::Server)
                .help("first send `event: endpoint` with the URI to which messages are posted"),
        );
    }
}

/// Whether a message is the response to `initialize`.
fn answers_initialize(message: &CarriedMessage<'_>, known: &Known<'_>) -> bool {
    let request = message.id.as_ref().and_then(|id| known.awaiting(id));
    request.is_some_and(|request| request.name() == "initialize")
}

/// Whether a request belongs to a session of the newer transport; this one has none.
fn names_session(headers: &Headers<'_>) -> bool {
    headers.has(HeaderName::McpSessionId)
}

/// Whether the headers of a POST indicate the newer transport, which a server may offer as well.
fn is_streamable(headers: &Headers<'_>) -> bool {
    let accept = headers.value(HeaderName::Accept).unwrap_or_default();
    let names = [HeaderName::McpSessionId, HeaderName::McpProtocolVersion, HeaderName::McpMethod];
    accept.contains("text/event-stream") || names.into_iter().any(|name| headers.has(name))
}
