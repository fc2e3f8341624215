//! Event streams: what they carry, how they begin and end, and redeliveries.

mod deliveries;
mod endings;
mod unrelated;

use mcp_core::{Era, Revision, Revisions, Side};
use mcp_json::Node;
use mcp_jsonrpc::MessageKind;
use serde::{Deserialize, Serialize};

use super::{CarriedMessage, Delivery, Exchange, HttpPart, Observation, SseEvent, session_id};
use crate::{
    Level,
    conversation::{Known, Moment, Notes, digest::digest},
    findings::Fault,
};

const STREAMABLE: Revisions = Revisions::from(Revision::V2025_03_26);
const RESUMABLE: Revisions = Revisions::between(Revision::V2025_03_26, Revision::LATEST_LEGACY);
const POLLED: Revisions = Revisions::only(Revision::V2025_11_25);
const UNINTERRUPTED: Revisions =
    Revisions::between(Revision::V2025_03_26, Revision::V2025_06_18).and(Revision::V2026_07_28);
const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    GET_RESPONSE: "http-get-stream-response", Http, Level::Error, RESUMABLE, "basic/transports#listening-for-messages-from-the-server";
    BROADCAST: "http-message-broadcast", Http, Level::Error, RESUMABLE, "basic/transports#multiple-connections";
    UNRELATED: "http-stream-unrelated", Http, Level::Error, MODERN, "basic/transports/streamable-http#receiving-messages";
    ENDED_EARLY: "http-stream-ended-early", Http, Level::Warning, UNINTERRUPTED, "basic/transports#sending-messages-to-the-server";
    AFTER_RESPONSE: "http-message-after-response", Http, Level::Warning, STREAMABLE, "basic/transports#sending-messages-to-the-server";
    EVENT_TYPE: "sse-event-type", Http, Level::Warning, STREAMABLE, "";
    EVENT_ID_DUPLICATE: "sse-event-id-duplicate", Http, Level::Error, RESUMABLE, "basic/transports#resumability-and-redelivery", Tolerated;
    WRONG_STREAM: "sse-replay-wrong-stream", Http, Level::Error, RESUMABLE, "basic/transports#resumability-and-redelivery";
    PRIMING: "sse-priming-missing", Http, Level::Warning, POLLED, "basic/transports#sending-messages-to-the-server";
    RETRY: "sse-retry-missing", Http, Level::Warning, POLLED, "basic/transports#sending-messages-to-the-server";
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Streams {
    deliveries: deliveries::Deliveries,
    endings: endings::Endings,
    tokens: unrelated::Tokens,
    /// Whether missing priming was already reported; once is enough.
    priming_reported: bool,
}

/// State kept per exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// The exchange whose stream it carries: itself, or the one it resumes. Unknown if its request
    /// was not observed, or resumes something that was not.
    source: Option<u64>,
    /// Digest of the session id, to keep the event ids of sessions apart.
    scope: u64,
    begun: bool,
    /// The first event of the answer to an `initialize`, if it is not a priming event.
    unprimed: Option<Moment>,
    /// Whether a `retry` field was received.
    retry: bool,
    /// Whether an unreadable event was received; it may have been the response.
    unreadable: bool,
    /// Position among the requests of all exchanges.
    order: u64,
}

impl Seen {
    /// Whether an event was received.
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }
}

impl Streams {
    /// Called at the end of the session.
    pub(super) fn finish(&mut self, notes: &mut Notes) {
        self.endings.finish(notes);
    }

    /// Called when a new session begins on the same endpoint.
    pub(super) fn restart(&mut self) {
        *self = Streams::default();
    }

    /// Judges and records an observation. Returns whether its message is new.
    pub(super) fn deliver(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) -> Delivery {
        match event.part {
            HttpPart::Request { .. } => self.open(event, exchange, known),
            HttpPart::Response { status, headers } => {
                let assigned = session_id(headers);
                if let Some(id) = assigned.filter(|_| exchange.session_id.is_none()) {
                    exchange.stream.scope = digest(id.as_bytes());
                }
                self.endings.note_head(status, exchange, known, notes);
                self.deliveries.note_body(event, exchange, known);
            }
            HttpPart::Event(sse) => {
                if !exchange.response.is_http_sse() {
                    return self.follow_event(event, sse, exchange, known, notes);
                }
            }
            HttpPart::End if event.from == Side::Server => {
                if !exchange.response.is_http_sse() {
                    self.endings.judge(event, exchange, known, notes);
                }
            }
            HttpPart::End => {}
        }
        Delivery::Fresh
    }

    fn open(&mut self, event: &Observation<'_>, exchange: &mut Exchange, known: &Known<'_>) {
        let session = exchange.session_id.as_deref().unwrap_or_default();
        let scope = digest(session.as_bytes());
        let source = match exchange.last_event_id.as_deref().filter(|_| exchange.is_get()) {
            Some(id) => self.deliveries.source_of(scope, id),
            None => Some(exchange.number),
        };
        let order = self.endings.note_request(exchange, source);
        exchange.stream = Seen { source, scope, order, ..Seen::default() };
        self.tokens.record(event, known);
    }

    fn follow_event(
        &mut self,
        event: &Observation<'_>,
        sse: SseEvent<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) -> Delivery {
        exchange.stream.retry |= sse.retry.is_some();
        if !event.is_dispatched(sse) {
            return Delivery::Fresh;
        }
        let first = !std::mem::replace(&mut exchange.stream.begun, true);
        exchange.stream.unreadable |= is_unreadable(event, sse);
        judge_name(event, sse, notes);
        self.judge_priming(first, event, sse, exchange, notes);
        if event.revision.era() == Era::Legacy {
            let delivery = self.deliveries.judge(event, sse, exchange, known, notes);
            if delivery == Delivery::Again {
                note_repeated(event, notes);
                return delivery;
            }
            judge_response_on_get(event, exchange, notes);
        } else {
            self.tokens.judge(event, exchange, known, notes);
        }
        judge_after_response(event, exchange, known, notes);
        Delivery::Fresh
    }

    /// Checks that the stream of a POST begins with an event that has only an id.
    fn judge_priming(
        &mut self,
        first: bool,
        event: &Observation<'_>,
        sse: SseEvent<'_>,
        exchange: &mut Exchange,
        notes: &mut Notes,
    ) {
        if self.priming_reported || !exchange.is_post() || !exchange.response.carries_requests() {
            return;
        }
        let missing = first && !(is_empty(event, sse) && event_id(sse).is_some());
        // The answer to `initialize` states the revision by which its own stream is judged.
        let begun = if exchange.requests().any(|asked| *asked.name == *"initialize") {
            if missing {
                exchange.stream.unprimed = Some(event.at);
            }
            exchange.stream.unprimed.filter(|_| negotiates_polling(event))
        } else {
            (missing && event.settled).then_some(event.at)
        };
        if let Some(begun) = begun {
            self.priming_reported = true;
            notes.always(
                Fault::new(&PRIMING, "the stream does not begin with an event that has an id and empty data")
                    .earlier(begun.line(), Side::Server)
                    .related(exchange.at.line(), "the request was here")
                    .help("first send an event with an id and empty `data`, from which the client can resume"),
            );
        }
    }
}

/// The id of an event; an empty one means none.
fn event_id(sse: SseEvent<'_>) -> Option<&str> {
    sse.id.filter(|id| !id.is_empty())
}

/// Whether an event has no data.
fn is_empty(event: &Observation<'_>, sse: SseEvent<'_>) -> bool {
    event.message.is_none()
        && event.body.is_none_or(<[u8]>::is_empty)
        && sse.data.is_none_or(<[u8]>::is_empty)
}

fn is_unreadable(event: &Observation<'_>, sse: SseEvent<'_>) -> bool {
    match event.message {
        Some(_) => event.any_message(|message| message.sound.is_none()),
        None => !is_empty(event, sse),
    }
}

/// Records redelivered requests, which the client may answer again.
fn note_repeated(event: &Observation<'_>, notes: &mut Notes) {
    event.each_sound_message(|message, kind| {
        if kind == MessageKind::Request
            && let Some(id) = &message.id
        {
            notes.repeat(Side::Server, id.clone());
        }
    });
}

/// Checks the event name: clients dispatch by name and listen for `message`.
fn judge_name(event: &Observation<'_>, sse: SseEvent<'_>, notes: &mut Notes) {
    let Some(name) = sse.event.filter(|name| !matches!(*name, "" | "message")) else {
        return;
    };
    if event.settled && event.any_sound_message(|_, _| true) {
        notes.always(
            Fault::new(
                &EVENT_TYPE,
                format!("the event is called `{name}`: clients listen for `message`"),
            )
            .help("omit the `event` field, or set it to `message`"),
        );
    }
}

fn negotiates_polling(event: &Observation<'_>) -> bool {
    event.any_sound_message(|message, _| {
        let version = message.envelope.result.and_then(|result| result.get("protocolVersion"));
        version.is_some_and(|version| version.str_eq(Revision::V2025_11_25.as_str()))
    })
}

/// Checks that responses come on the stream of their request, or on one that resumes it.
fn judge_response_on_get(event: &Observation<'_>, exchange: &Exchange, notes: &mut Notes) {
    if !exchange.is_get() || exchange.last_event_id.is_some() || !event.settled {
        return;
    }
    if event.any_sound_message(|_, kind| kind == MessageKind::Response) {
        notes.always(
            Fault::new(
                &GET_RESPONSE,
                "a response is sent on a GET stream that does not resume another stream",
            )
            .related(exchange.at.line(), "the stream was opened here")
            .help("send a response on the stream of its request, or on one that resumes it"),
        );
    }
}

/// Checks that nothing follows the response on a stream.
fn judge_after_response(
    event: &Observation<'_>,
    exchange: &Exchange,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let answers = exchange.is_post() && exchange.response.carries_requests();
    if !event.settled || !answers || !is_over(exchange, known) {
        return;
    }
    let is_late = |message: &CarriedMessage<'_>| match message.sound {
        None => false,
        // Only what no other rule reports.
        Some(MessageKind::Notification) => {
            let name = message.envelope.method.and_then(Node::as_str).unwrap_or_default();
            name != "notifications/progress"
                && !(event.revision.era() == Era::Modern && unrelated::is_of_subscription(&name))
        }
        Some(MessageKind::Request) => event.revision.era() == Era::Legacy,
        Some(MessageKind::Response) => {
            message.id.as_ref().is_some_and(|id| known.awaiting(id).is_some())
        }
    };
    let late = event.find_message(|message| is_late(message).then_some(message.envelope));
    if let Some(envelope) = late {
        let what = envelope.method.and_then(Node::as_str);
        let what = what.map_or_else(|| "a response".to_owned(), |name| format!("`{name}`"));
        notes.always(
            Fault::new(
                &AFTER_RESPONSE,
                format!("{what} comes after the response that ends the stream"),
            )
            .at(envelope.object.span())
            .related(exchange.at.line(), "the request was here")
            .help("send the response last, then end the stream"),
        );
    }
}

/// Whether every request of a POST was answered on its stream.
fn is_over(exchange: &Exchange, known: &Known<'_>) -> bool {
    exchange.answered >= exchange.requests().count()
        && exchange.requests().filter_map(|asked| asked.id.as_ref()).all(|id| {
            let open = known.requests.open(Side::Client, id);
            open.is_none_or(|request| request.at.stream() != Some(exchange.number))
        })
}
