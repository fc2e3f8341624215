use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use mcp_core::{MemoryBudget, MemoryShare, Side};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::{event_queue::EventReceiver, events::Event, unread::until_read};
use crate::http::watch::WatchedExchange;

/// Notified when a stream is no longer read: it has ended, or the client has disconnected.
pub(super) trait StreamObserver: fmt::Debug + Send + Sync {
    fn stream_dropped(&self);
}

/// A stream of events to one client.
pub(super) struct EventStream {
    backlog: VecDeque<Event>,
    live: Option<EventReceiver>,
    keep_alive: Duration,
    silence: Option<Pin<Box<Sleep>>>,
    ending: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    observer: Arc<dyn StreamObserver>,
    watched: Option<WatchedExchange>,
    /// The memory budget for what is being sent.
    budget: Option<MemoryBudget>,
    /// The share of the budget that the backlog holds.
    held: Option<MemoryShare>,
}

impl EventStream {
    /// Sends `backlog` first, then what arrives from `live` until its last sender is dropped.
    pub(super) fn new(
        backlog: VecDeque<Event>,
        live: Option<EventReceiver>,
        keep_alive: Duration,
        observer: Arc<dyn StreamObserver>,
    ) -> EventStream {
        EventStream {
            backlog,
            live,
            keep_alive,
            silence: None,
            ending: None,
            observer,
            watched: None,
            budget: None,
            held: None,
        }
    }

    /// Ends early when `token` is cancelled, once nothing more is ready.
    pub(super) fn until(mut self, token: CancellationToken) -> EventStream {
        self.ending = Some(Box::pin(token.cancelled_owned()));
        self
    }

    /// Counts what is sent as unread until it is written; `false` if the budget has no room for the
    /// backlog.
    #[must_use]
    pub(super) fn count_in(&mut self, budget: &MemoryBudget) -> bool {
        self.budget = Some(budget.clone());
        if let Some(live) = &self.live {
            live.count_in(budget);
        }
        let mut held = budget.share();
        let fits = self.backlog.iter().all(|event| held.grow(event.size()));
        self.held = Some(held);
        fits
    }

    /// Shows everything that is sent from now on to a watch.
    pub(super) fn watched(&mut self, watched: WatchedExchange) {
        self.watched = Some(watched);
    }

    /// The next bytes of the stream.
    pub(super) fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut next = ready!(self.poll_next(context));
        if let (Some(event), Some(budget)) = (&mut next, &self.budget) {
            match until_read(event.text.clone(), budget) {
                Some(text) => event.text = text,
                // The stream ends early; the client may resume it.
                None => next = None,
            }
        }
        match (&next, &self.watched) {
            (Some(event), Some(watched)) => event.watch(|event| {
                // It is sent in any case.
                let _ = watched.event(event);
            }),
            (None, Some(watched)) => {
                watched.end(Side::Server);
                self.watched = None;
            }
            (_, None) => {}
        }
        Poll::Ready(next.map(|event| event.text))
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        if let Poll::Ready(next) = self.poll_event(context) {
            self.silence = None;
            return Poll::Ready(next);
        }
        if self.ending.as_mut().is_some_and(|ending| ending.as_mut().poll(context).is_ready()) {
            return Poll::Ready(None);
        }
        ready!(self.poll_silence(context));
        Poll::Ready(Some(Event::KEEP_ALIVE))
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        if let Some(event) = self.backlog.pop_front() {
            if let Some(held) = &mut self.held {
                held.shrink(event.size());
            }
            return Poll::Ready(Some(event));
        }
        match &mut self.live {
            Some(live) => live.poll_next(context),
            None => Poll::Ready(None),
        }
    }

    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let period = self.keep_alive;
        let silence = self.silence.get_or_insert_with(|| Box::pin(tokio::time::sleep(period)));
        ready!(silence.as_mut().poll(context));
        silence.as_mut().reset(Instant::now() + period);
        Poll::Ready(())
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        // The channel must be closed before anyone is told.
        self.live = None;
        if let Some(watched) = self.watched.take() {
            watched.end(Side::Client);
        }
        self.observer.stream_dropped();
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").field("backlog", &self.backlog.len()).finish_non_exhaustive()
    }
}
