use std::collections::VecDeque;

use bytes::Bytes;
use mcp_core::{MemoryBudget, Revision, Ticket};
use mcp_json::Parsed;
use tokio::sync::oneshot;

use super::{Replay, Unsent, abandoned::PendingPosts};
use crate::http::server::{
    HttpSettings,
    event_queue::{EventPermit, EventSender},
    events::{Event, EventId, StreamId, StreamKind, message_event, priming_event},
    media::Accepts,
    stream::EventStream,
};

/// How the response to a POST begins.
#[derive(Debug)]
pub(crate) enum ResponseStart {
    /// The answer, and nothing before it.
    Answer(Bytes, Option<Parsed>),
    /// Events.
    Events(EventStream),
}

/// The mutable state of a session.
#[derive(Debug)]
pub(super) struct State {
    pub(super) closed: bool,
    pub(super) revision: Option<Revision>,
    /// Unanswered POSTs.
    pub(super) exchanges: PendingPosts,
    /// Those that the application must still be told to cancel.
    pub(super) cancelled: VecDeque<Ticket>,
    /// Streams opened with GET, the newest last.
    pub(super) standalone: Vec<(StreamId, EventSender)>,
    pub(super) unsent: Unsent,
    pub(super) replay: Replay,
    next_number: u64,
    next_sequence: u64,
}

#[derive(Debug)]
pub(super) struct PendingPost {
    pub(super) accepts: Accepts,
    /// The revision that its sender named, which counts until one is negotiated.
    pub(super) revision: Option<Revision>,
    /// The length of the message.
    pub(super) bytes: usize,
    pub(super) phase: Phase,
}

#[derive(Debug)]
pub(super) enum Phase {
    /// Nothing was sent; the handler of the POST waits.
    Pending(oneshot::Sender<ResponseStart>),
    /// There is a stream, and at most one client reading it.
    Streaming(Option<EventSender>),
}

impl State {
    pub(super) fn new(settings: &HttpSettings, budget: &MemoryBudget) -> State {
        let HttpSettings { replay_events, replay_bytes, .. } = *settings;
        State {
            closed: false,
            revision: None,
            exchanges: PendingPosts::default(),
            cancelled: VecDeque::new(),
            standalone: Vec::new(),
            unsent: Unsent::new(replay_events, replay_bytes, budget),
            replay: Replay::new(replay_events, replay_bytes, budget),
            next_number: 0,
            next_sequence: 0,
        }
    }

    pub(super) fn number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    fn event_id(&mut self, stream: StreamId) -> EventId {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        EventId { stream, sequence }
    }

    /// Whether this id was ever issued.
    pub(super) fn has_issued(&self, id: EventId) -> bool {
        id.sequence < self.next_sequence && id.stream.number < self.next_number
    }

    /// Writes a message as an event of a stream, and keeps it.
    pub(super) fn record(
        &mut self,
        stream: StreamId,
        text: &[u8],
        message: Option<Parsed>,
    ) -> Event {
        let id = self.event_id(stream);
        let text = message_event(Some(id), text);
        self.replay.keep(id, text.clone());
        Event { text, message }
    }

    /// The event that lets a client resume, for revisions that have it. `asked` counts until a
    /// revision is negotiated.
    pub(super) fn prime(
        &mut self,
        stream: StreamId,
        asked: Option<Revision>,
        settings: &HttpSettings,
    ) -> Option<Event> {
        let primes = self.revision.or(asked).is_some_and(knows_polling);
        primes.then(|| priming_event(self.event_id(stream), settings.retry).into())
    }

    /// The newest GET stream that is being read.
    pub(super) fn listener(&mut self) -> Option<(StreamId, EventSender)> {
        self.standalone.retain(|(_, sender)| !sender.is_closed());
        self.standalone.last().cloned()
    }

    /// Moves the messages that waited for a stream into this one.
    pub(super) fn catch_up(&mut self, stream: StreamId, backlog: &mut VecDeque<Event>) {
        for message in self.unsent.take() {
            let event = self.record(stream, &message, None);
            backlog.push_back(event);
        }
    }

    /// Whether `permit` is for the current reader of `stream`.
    pub(super) fn is_read_through(&self, stream: StreamId, permit: &EventPermit) -> bool {
        match stream.kind {
            StreamKind::Standalone => {
                self.standalone.iter().any(|(id, sender)| *id == stream && permit.is_for(sender))
            }
            StreamKind::Answer => matches!(
                self.exchanges.phase(stream.number),
                Some(Phase::Streaming(Some(sender))) if permit.is_for(sender)
            ),
        }
    }

    /// Takes the stream away from a client that does not read it.
    pub(super) fn detach(&mut self, stream: StreamId, reader: &EventSender) {
        self.standalone.retain(|(id, sender)| *id != stream || !sender.same_queue(reader));
        if stream.kind == StreamKind::Answer
            && let Some(Phase::Streaming(current)) = self.exchanges.phase_mut(stream.number)
            && current.as_ref().is_some_and(|sender| sender.same_queue(reader))
        {
            *current = None;
        }
    }
}

/// Whether clients of this revision resume a stream that ended without the answer.
pub(super) fn knows_polling(revision: Revision) -> bool {
    revision >= Revision::V2025_11_25
}
