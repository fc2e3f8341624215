//! Which stream a message is sent on, and when.

use std::{collections::VecDeque, sync::atomic::Ordering};

use mcp_core::{Outbound, OutboundRole, Ticket, TransportError};
use mcp_json::Parsed;

use super::{
    ResponseStart, Session,
    state::{Phase, State, knows_polling},
};
use crate::http::server::{
    event_queue::{EventPermit, EventReceiver, EventSender, event_queue},
    events::{Event, StreamId, StreamKind},
    stream::EventStream,
};

/// What can be done with a message right now.
enum Step {
    Done,
    /// The buffer of its stream is full.
    Wait(StreamId, EventSender),
    /// It is a request, and the client has no stream open.
    WaitForStream,
}

impl Session {
    pub(super) async fn deliver(&self, outbound: Outbound) -> Result<(), TransportError> {
        if is_answer(&outbound) {
            // However long the work took, the client's idle time starts now.
            self.touch();
        }
        loop {
            let listening = self.listening.notified();
            let (stream, reader) = match self.step(&outbound)? {
                Step::Done => return Ok(()),
                Step::Wait(stream, reader) => (stream, reader),
                Step::WaitForStream => {
                    let patience = self.settings.stream_wait;
                    if tokio::time::timeout(patience, listening).await.is_err() {
                        return Err(no_stream());
                    }
                    continue;
                }
            };
            let stall = self.settings.stall_timeout;
            match tokio::time::timeout(stall, reader.reserve(size(&outbound))).await {
                Ok(Ok(permit)) => {
                    if self.pass(stream, permit, &outbound) {
                        return Ok(());
                    }
                }
                Ok(Err(_)) => self.lock().detach(stream, &reader),
                Err(_) => {
                    tracing::warn!(seconds = stall.as_secs(), "a client is not reading its stream");
                    self.lock().detach(stream, &reader);
                }
            }
        }
    }

    fn step(&self, outbound: &Outbound) -> Result<Step, TransportError> {
        let mut state = self.lock();
        if state.closed {
            return Err(TransportError::Closed);
        }
        let Some(Ticket(number)) = outbound.ticket else {
            return Ok(unasked(&mut state, outbound));
        };
        let stream = answer_stream(number);
        match state.exchanges.phase(number) {
            // The exchange is over. An answer has nowhere to go; other messages need not be lost.
            None if is_answer(outbound) => Ok(Step::Done),
            None => Ok(unasked(&mut state, outbound)),
            Some(Phase::Pending(waiting)) if waiting.is_closed() => {
                without_client(&mut state, number, outbound)
            }
            Some(Phase::Pending(_)) => {
                let undelivered = self.begin_response(&mut state, number, outbound);
                // Dropping the stream in it takes the lock, so it must not happen while the lock is
                // held.
                drop(state);
                drop(undelivered);
                Ok(Step::Done)
            }
            Some(Phase::Streaming(Some(reader))) => Ok(Step::Wait(stream, reader.clone())),
            Some(Phase::Streaming(None)) => {
                state.record(stream, &outbound.bytes, None);
                if is_answer(outbound) {
                    state.exchanges.remove(number);
                }
                Ok(Step::Done)
            }
        }
    }

    /// Begins the response to a POST. Returns what could not be delivered.
    fn begin_response(
        &self,
        state: &mut State,
        number: u64,
        outbound: &Outbound,
    ) -> Option<ResponseStart> {
        let exchange = state.exchanges.remove(number)?;
        let Phase::Pending(waiting) = exchange.phase else { return None };
        if is_answer(outbound) && exchange.accepts.json {
            return waiting
                .send(ResponseStart::Answer(outbound.bytes.clone(), outbound.parsed.clone()))
                .err();
        }
        let stream = answer_stream(number);
        let mut backlog = VecDeque::with_capacity(2);
        backlog.extend(state.prime(stream, exchange.revision, &self.settings));
        backlog.push_back(state.record(stream, &outbound.bytes, outbound.parsed.clone()));
        if is_answer(outbound) {
            return waiting.send(ResponseStart::Events(self.stream(backlog, None))).err();
        }
        let (sender, live) = event_queue(&self.settings);
        let phase = Phase::Streaming(Some(sender));
        state.exchanges.insert(number, super::PendingPost { phase, ..exchange });
        waiting.send(ResponseStart::Events(self.stream(backlog, Some(live)))).err()
    }

    /// Sends with this permit, unless the stream has another reader by now.
    fn pass(&self, stream: StreamId, permit: EventPermit, outbound: &Outbound) -> bool {
        let mut state = self.lock();
        if !state.is_read_through(stream, &permit) {
            return false;
        }
        permit.send(state.record(stream, &outbound.bytes, outbound.parsed.clone()));
        if is_answer(outbound) {
            state.exchanges.remove(stream.number);
        }
        true
    }

    /// Ends an exchange without an answer.
    pub(super) fn give_up(&self, Ticket(number): Ticket) {
        let mut state = self.lock();
        let Some(exchange) = state.exchanges.remove(number) else { return };
        let Phase::Pending(waiting) = exchange.phase else { return };
        let backlog = state.prime(answer_stream(number), exchange.revision, &self.settings);
        let undelivered =
            waiting.send(ResponseStart::Events(self.stream(backlog.into_iter().collect(), None)));
        drop(state);
        drop(undelivered);
    }

    /// Ends the stream of an exchange; the client polls for the answer. Clients of older revisions
    /// would not.
    pub(super) fn let_go(&self, Ticket(number): Ticket) {
        let mut state = self.lock();
        let Some(mut exchange) = state.exchanges.remove(number) else { return };
        if !state.revision.or(exchange.revision).is_some_and(knows_polling) {
            state.exchanges.insert(number, exchange);
            return;
        }
        let phase = std::mem::replace(&mut exchange.phase, Phase::Streaming(None));
        let primed = match phase {
            Phase::Pending(_) => {
                state.prime(answer_stream(number), exchange.revision, &self.settings)
            }
            Phase::Streaming(_) => None,
        };
        state.exchanges.insert(number, exchange);
        drop(state);
        if let Phase::Pending(waiting) = phase {
            let stream = self.stream(primed.into_iter().collect(), None);
            drop(waiting.send(ResponseStart::Events(stream)));
        }
    }

    /// A stream for one client, which counts as a reader of this session until it is dropped.
    pub(super) fn stream(
        &self,
        backlog: VecDeque<Event>,
        live: Option<EventReceiver>,
    ) -> EventStream {
        self.readers.fetch_add(1, Ordering::Relaxed);
        let session = self.this.upgrade().expect("a session is borrowed here");
        EventStream::new(backlog, live, self.settings.keep_alive, session)
    }
}

/// The client has disconnected before receiving anything, so it cannot resume.
fn without_client(
    state: &mut State,
    number: u64,
    outbound: &Outbound,
) -> Result<Step, TransportError> {
    match outbound.role {
        OutboundRole::Request => {
            Err(TransportError::Lost("the client has disconnected".to_owned()))
        }
        OutboundRole::Notification => Ok(Step::Done),
        OutboundRole::Response(_) => {
            state.exchanges.remove(number);
            Ok(Step::Done)
        }
    }
}

/// Messages that belong to no exchange go to the newest stream the client has opened with GET.
fn unasked(state: &mut State, outbound: &Outbound) -> Step {
    match (state.listener(), outbound.role) {
        (Some((stream, reader)), _) => Step::Wait(stream, reader),
        (None, OutboundRole::Request) => Step::WaitForStream,
        (None, OutboundRole::Notification) => {
            state.unsent.push(outbound.bytes.clone());
            Step::Done
        }
        (None, OutboundRole::Response(_)) => Step::Done,
    }
}

/// About how much memory it takes as an event.
fn size(outbound: &Outbound) -> usize {
    outbound.bytes.len() + outbound.parsed.as_ref().map_or(0, Parsed::memory)
}

fn is_answer(outbound: &Outbound) -> bool {
    matches!(outbound.role, OutboundRole::Response(_))
}

const fn answer_stream(number: u64) -> StreamId {
    StreamId { kind: StreamKind::Answer, number }
}

fn no_stream() -> TransportError {
    TransportError::Lost("the client has no stream open for requests".to_owned())
}
