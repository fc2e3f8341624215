//! Opening and resuming streams with GET.

use std::collections::VecDeque;

use tokio_util::sync::CancellationToken;

use super::{
    Session,
    state::{Phase, State},
};
use crate::http::server::{
    HttpFault,
    event_queue::{EventReceiver, event_queue},
    events::{Event, EventId, StreamId, StreamKind},
    stream::EventStream,
};

/// A stream for a client.
struct Opened {
    backlog: VecDeque<Event>,
    /// `None` if nothing will follow.
    live: Option<EventReceiver>,
}

impl Session {
    /// Opens a stream for notifications and requests, until `ending` is cancelled.
    pub(crate) fn listen(&self, ending: &CancellationToken) -> Result<EventStream, HttpFault> {
        let opened = {
            let mut state = self.lock();
            if state.closed {
                return Err(HttpFault::SessionUnknown);
            }
            let stream = StreamId { kind: StreamKind::Standalone, number: state.number() };
            let backlog = state.prime(stream, None, &self.settings).into_iter().collect();
            self.open_standalone(&mut state, stream, backlog)
        };
        self.listening.notify_waiters();
        Ok(self.stream(opened.backlog, opened.live).until(ending.clone()))
    }

    /// Resumes the stream on which `last` was sent, after that event. A stream that ends with an
    /// answer does not stop at `ending`.
    pub(crate) fn resume(
        &self,
        last: &str,
        ending: &CancellationToken,
    ) -> Result<EventStream, HttpFault> {
        let unknown = || HttpFault::EventUnknown(last.to_owned());
        let id = EventId::parse(last).ok_or_else(unknown)?;
        let opened = {
            let mut state = self.lock();
            if state.closed {
                return Err(HttpFault::SessionUnknown);
            }
            if !state.has_issued(id) {
                return Err(unknown());
            }
            if state.replay.has_gap_after(id) {
                tracing::warn!("a client resumed too late: some events are no longer available");
            }
            match id.stream.kind {
                StreamKind::Answer => self.resume_answer(&mut state, id).ok_or_else(unknown)?,
                StreamKind::Standalone => {
                    let mut backlog = state.replay.after(id);
                    // After the replayed events: a client that loses the stream again must resume
                    // from an event it has seen.
                    backlog.extend(state.prime(id.stream, None, &self.settings));
                    self.open_standalone(&mut state, id.stream, backlog)
                }
            }
        };
        let stream = self.stream(opened.backlog, opened.live);
        if id.stream.kind == StreamKind::Answer {
            return Ok(stream);
        }
        self.listening.notify_waiters();
        Ok(stream.until(ending.clone()))
    }

    fn open_standalone(
        &self,
        state: &mut State,
        stream: StreamId,
        mut backlog: VecDeque<Event>,
    ) -> Opened {
        state.catch_up(stream, &mut backlog);
        let (sender, live) = event_queue(&self.settings);
        state.standalone.retain(|(id, sender)| *id != stream && !sender.is_closed());
        state.standalone.push((stream, sender));
        // Only the newest stream receives messages; the others just cost a connection each.
        if state.standalone.len() > self.settings.max_standalone.max(1) {
            state.standalone.remove(0);
        }
        Opened { backlog, live: Some(live) }
    }

    fn resume_answer(&self, state: &mut State, id: EventId) -> Option<Opened> {
        let mut backlog = state.replay.after(id);
        match state.exchanges.phase_mut(id.stream.number) {
            None if backlog.is_empty() && state.replay.has_gap_after(id) => None,
            None => Some(Opened { backlog, live: None }),
            Some(Phase::Pending(_)) => None,
            Some(Phase::Streaming(reader)) => {
                let (sender, live) = event_queue(&self.settings);
                *reader = Some(sender);
                backlog.extend(state.prime(id.stream, None, &self.settings));
                Some(Opened { backlog, live: Some(live) })
            }
        }
    }
}
