//! What was delivered on which stream: event ids, replays, and copies on other streams.

use mcp_core::{Era, RequestId, Side};
use mcp_jsonrpc::MessageKind;
use serde::{Deserialize, Serialize};

use super::{BROADCAST, EVENT_ID_DUPLICATE, WRONG_STREAM, event_id, is_empty};
use crate::{
    conversation::{
        Bounded, Known, Notes,
        digest::{digest, kept},
    },
    findings::Fault,
    http::{Delivery, Exchange, Observation, SseEvent},
};

/// Events by session and id, and the server's requests and responses.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Deliveries {
    events: Bounded<(u64, u64), Delivered>,
    requests: Bounded<RequestId, Delivered>,
    responses: Bounded<RequestId, Delivered>,
}

/// Where something was first delivered.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Delivered {
    /// The exchange whose stream it belongs to, if known.
    source: Option<u64>,
    content: u64,
    /// Whether it had only an id and no content.
    empty: bool,
    line: Option<u64>,
}

/// How the id of an event relates to earlier ones.
enum EventIdStatus {
    New,
    /// The same event again, on a resumed stream.
    Replayed(Delivered),
    /// The id was used for another event before.
    Taken(Delivered),
    /// Seen before, but not a fault, or not certainly one.
    Excused,
}

/// Whether the messages of an event were sent before.
enum Copy {
    No,
    /// Sent before, on the stream that is being resumed.
    Replayed,
    /// Sent on another stream.
    Elsewhere(Delivered),
}

impl Deliveries {
    /// The exchange whose stream the event with this id belongs to.
    pub(super) fn source_of(&self, scope: u64, id: &str) -> Option<u64> {
        self.events.get(&(scope, digest(id.as_bytes())))?.source
    }

    /// Records what is delivered without a stream.
    pub(super) fn note_body(
        &mut self,
        event: &Observation<'_>,
        exchange: &Exchange,
        known: &Known<'_>,
    ) {
        if event.revision.era() == Era::Legacy {
            self.record(event, exchange, known);
        }
    }

    /// Judges an event against earlier deliveries, and records it.
    pub(super) fn judge(
        &mut self,
        event: &Observation<'_>,
        sse: SseEvent<'_>,
        exchange: &Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) -> Delivery {
        let id = event_id(sse);
        let status = match &id {
            Some(id) => self.note_event(id, event, sse, exchange, known),
            None => EventIdStatus::New,
        };
        let id = id.unwrap_or_default();
        if let EventIdStatus::Replayed(first) = status {
            if event.settled {
                judge_replay(id, first, exchange, notes);
            }
            return Delivery::Again;
        }
        match self.copy(event, exchange, known) {
            Copy::Elsewhere(first) if event.settled => {
                notes.always(
                    Fault::new(&BROADCAST, "the message was already sent on another stream")
                        .related(first.line, "it was sent here")
                        .help(
                            "send each message on one stream only; make streams resumable so that nothing is lost",
                        ),
                );
                return Delivery::Again;
            }
            Copy::Elsewhere(_) | Copy::Replayed => return Delivery::Again,
            Copy::No => self.record(event, exchange, known),
        }
        if let EventIdStatus::Taken(first) = status
            && event.settled
        {
            notes.always(
                Fault::new(
                    &EVENT_ID_DUPLICATE,
                    format!("another event of the session has the id `{id}`"),
                )
                .related(first.line, "the id was used here")
                .help("make event ids unique across all streams of a session"),
            );
        }
        Delivery::Fresh
    }

    fn note_event(
        &mut self,
        id: &str,
        event: &Observation<'_>,
        sse: SseEvent<'_>,
        exchange: &Exchange,
        known: &Known<'_>,
    ) -> EventIdStatus {
        // In the same form as the `Last-Event-ID` of a resuming client is remembered.
        let key = (exchange.stream.scope, digest(kept(id.into()).as_bytes()));
        let content = content(event, sse);
        let Some(first) = self.events.get(&key).copied() else {
            let delivered = Delivered {
                source: exchange.stream.source,
                content,
                empty: is_empty(event, sse),
                line: event.at.line(),
            };
            self.events.insert(key, delivered, known.limits.remembered);
            return EventIdStatus::New;
        };
        let same = first.content == content;
        match (is_resumed(exchange), same) {
            (true, true) => EventIdStatus::Replayed(first),
            // A priming event has no content to replay.
            (true, false) if first.empty => EventIdStatus::Excused,
            _ if exchange.seen => EventIdStatus::Taken(first),
            _ => EventIdStatus::Excused,
        }
    }

    /// Whether every request and response of an event was sent before.
    fn copy(&self, event: &Observation<'_>, exchange: &Exchange, known: &Known<'_>) -> Copy {
        let mut found = Copy::No;
        let new = event.find_message(|message| {
            let kind = message.sound?;
            let first = message.id.as_ref().and_then(|id| self.sent_before(kind, id, known));
            let is_same = |first: &Delivered| first.content == message.content();
            let Some(first) = first.filter(is_same) else { return Some(Copy::No) };
            if is_resumed(exchange) {
                found = Copy::Replayed;
            } else if first.source.is_some() && first.source != exchange.stream.source {
                found = Copy::Elsewhere(first);
            } else {
                return Some(Copy::No);
            }
            None
        });
        new.unwrap_or(found)
    }

    /// Returns the earlier delivery of the same server message. A response whose request is still
    /// open does not count, nor does a request once the first with its id was answered: the id is
    /// then being reused, which is a different fault.
    fn sent_before(
        &self,
        kind: MessageKind,
        id: &RequestId,
        known: &Known<'_>,
    ) -> Option<Delivered> {
        let requests = known.requests;
        match kind {
            MessageKind::Notification => None,
            MessageKind::Request => {
                requests.open(Side::Server, id)?;
                self.requests.get(id).copied()
            }
            MessageKind::Response if known.awaiting(id).is_some() => None,
            MessageKind::Response => self.responses.get(id).copied(),
        }
    }

    fn record(&mut self, event: &Observation<'_>, exchange: &Exchange, known: &Known<'_>) {
        event.each_sound_message(|message, kind| {
            let Some(id) = &message.id else { return };
            let sent = match kind {
                MessageKind::Notification => return,
                MessageKind::Request => &mut self.requests,
                MessageKind::Response => &mut self.responses,
            };
            let delivered = Delivered {
                source: exchange.stream.source,
                content: message.content(),
                empty: false,
                line: event.at.line(),
            };
            sent.insert(id.clone(), delivered, known.limits.remembered);
        });
    }
}

/// Whether events may have been delivered before, as far as known.
fn is_resumed(exchange: &Exchange) -> bool {
    !exchange.seen || exchange.is_get() && exchange.last_event_id.is_some()
}

fn content(event: &Observation<'_>, sse: SseEvent<'_>) -> u64 {
    match (event.single, event.message, event.body) {
        (Some(message), ..) => message.content(),
        (None, Some(batch), _) => digest(batch.raw()),
        (None, None, Some(body)) => digest(body),
        (None, None, None) => digest(sse.data.unwrap_or_default()),
    }
}

/// Checks that a resumed stream continues with its own events.
fn judge_replay(id: &str, first: Delivered, exchange: &Exchange, notes: &mut Notes) {
    let (Some(resumed), Some(source)) = (exchange.stream.source, first.source) else { return };
    if resumed == source {
        return;
    }
    let message = format!(
        "event `{id}` of exchange {source} is replayed on a stream that resumes exchange {resumed}"
    );
    notes.always(
        Fault::new(&WRONG_STREAM, message)
            .related(first.line, "it was delivered here")
            .help("replay only what follows `Last-Event-ID` on the same stream"),
    );
}
