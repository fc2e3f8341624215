use std::{
    collections::{HashMap, VecDeque},
    fmt,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// How many events a slow listener may fall behind before it misses some.
const MAX_EVENTS: usize = 1024;
/// How much memory the events may take, approximately. The newest is always kept.
const MAX_BYTES: usize = 16 << 20;
/// The memory of an event in addition to its `weight`.
const OVERHEAD: usize = 128;

/// An event whose memory can be estimated.
pub(crate) trait Weighed: Clone {
    /// The memory that it owns, approximately.
    fn weight(&self) -> usize;
}

/// Broadcasts events to any number of listeners without waiting for them: one that falls too far
/// behind, in events or in bytes, misses the oldest and gets an error.
pub(crate) struct Feed<T>(Arc<Shared<T>>);

/// Receives the events sent since it was created.
pub struct Listener<T> {
    shared: Arc<Shared<T>>,
    key: u64,
}

/// Why a listener received no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The listener was too slow. The next event is the oldest one still available.
    #[error("{0} events were missed")]
    Missed(u64),
    /// There will be no more events.
    #[error("there will be no more events")]
    Closed,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    arrived: Notify,
}

struct State<T> {
    /// Events that some listener has not received yet, each with its memory.
    events: VecDeque<(T, usize)>,
    /// The sequence number of the first of them.
    first: u64,
    bytes: usize,
    /// The sequence number of the next event for each listener.
    listeners: HashMap<u64, u64>,
    next_key: u64,
    is_over: bool,
}

impl<T: Weighed> Feed<T> {
    pub(crate) fn new() -> Feed<T> {
        let state = State {
            events: VecDeque::new(),
            first: 0,
            bytes: 0,
            listeners: HashMap::new(),
            next_key: 0,
            is_over: false,
        };
        Feed(Arc::new(Shared { state: Mutex::new(state), arrived: Notify::new() }))
    }

    pub(crate) fn listen(&self) -> Listener<T> {
        let mut state = self.0.state();
        let key = state.next_key;
        state.next_key += 1;
        let next = state.end();
        state.listeners.insert(key, next);
        Listener { shared: Arc::clone(&self.0), key }
    }

    pub(crate) fn tell(&self, event: T) {
        {
            let mut state = self.0.state();
            if state.listeners.is_empty() || state.is_over {
                return;
            }
            let weight = event.weight().saturating_add(OVERHEAD);
            state.bytes = state.bytes.saturating_add(weight);
            state.events.push_back((event, weight));
            while state.events.len() > MAX_EVENTS
                || (state.bytes > MAX_BYTES && state.events.len() > 1)
            {
                state.drop_first();
            }
        }
        self.0.arrived.notify_waiters();
    }

    /// Sends a last event and ends the feed.
    pub(crate) fn end_with(&self, event: T) {
        self.tell(event);
        self.0.end();
    }
}

impl<T> Drop for Feed<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<T: Clone> Listener<T> {
    /// Waits for the next event. Dropping the future loses no event.
    ///
    /// # Errors
    ///
    /// If events were missed, or there will be no more.
    pub async fn recv(&mut self) -> Result<T, ListenError> {
        loop {
            let mut arrived = pin!(self.shared.arrived.notified());
            // From here on, no event goes unnoticed.
            arrived.as_mut().enable();
            if let Some(outcome) = self.shared.state().next(self.key) {
                return outcome;
            }
            arrived.await;
        }
    }

    /// The next event if it is already available.
    ///
    /// # Errors
    ///
    /// As for [`Listener::recv`].
    pub fn try_recv(&mut self) -> Result<Option<T>, ListenError> {
        self.shared.state().next(self.key).transpose()
    }
}

impl<T> Drop for Listener<T> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.listeners.remove(&self.key);
        state.drop_received();
    }
}

impl<T> Shared<T> {
    fn end(&self) {
        self.state().is_over = true;
        self.arrived.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    /// The sequence number of the next event to be sent.
    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    fn next(&mut self, key: u64) -> Option<Result<T, ListenError>>
    where
        T: Clone,
    {
        let next = *self.listeners.get(&key)?;
        let advance = |state: &mut Self, next| {
            state.listeners.insert(key, next);
            state.drop_received();
        };
        if next < self.first {
            advance(self, self.first);
            return Some(Err(ListenError::Missed(self.first - next)));
        }
        let place = usize::try_from(next - self.first).ok()?;
        if let Some((event, _)) = self.events.get(place) {
            let event = event.clone();
            advance(self, next + 1);
            return Some(Ok(event));
        }
        self.is_over.then_some(Err(ListenError::Closed))
    }

    /// Drops the events that every listener has received.
    fn drop_received(&mut self) {
        let needed = self.listeners.values().copied().min().unwrap_or_else(|| self.end());
        while self.first < needed && self.drop_first() {}
    }

    fn drop_first(&mut self) -> bool {
        let Some((_, weight)) = self.events.pop_front() else { return false };
        self.bytes = self.bytes.saturating_sub(weight);
        self.first += 1;
        true
    }
}

impl<T> fmt::Debug for Feed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("waiting", &self.0.state().events.len()).finish()
    }
}

impl<T> fmt::Debug for Listener<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Heavy(usize);

    impl Weighed for Heavy {
        fn weight(&self) -> usize {
            self.0
        }
    }

    fn kept(feed: &Feed<Heavy>) -> (usize, usize) {
        let state = feed.0.state();
        (state.events.len(), state.bytes)
    }

    #[test]
    fn a_slow_listener_misses_the_oldest_events_and_memory_stays_limited() {
        let feed = Feed::new();
        let (mut slow, mut quick) = (feed.listen(), feed.listen());
        for _ in 0..100 {
            feed.tell(Heavy(1 << 20));
            assert_eq!(quick.try_recv(), Ok(Some(Heavy(1 << 20))));
        }
        assert_eq!(quick.try_recv(), Ok(None));
        assert!(kept(&feed).1 <= MAX_BYTES, "{:?}", kept(&feed));
        let left = kept(&feed).0 as u64;
        assert_eq!(slow.try_recv(), Err(ListenError::Missed(100 - left)));
        assert_eq!(slow.try_recv(), Ok(Some(Heavy(1 << 20))));
        drop(slow);
        assert_eq!(kept(&feed), (0, 0));
    }

    #[test]
    fn the_number_of_events_is_limited_and_the_newest_is_always_kept() {
        let feed = Feed::new();
        feed.tell(Heavy(0));
        assert_eq!(kept(&feed), (0, 0), "no listeners");
        let mut listener = feed.listen();
        for _ in 0..2 * MAX_EVENTS {
            feed.tell(Heavy(0));
        }
        assert_eq!(kept(&feed).0, MAX_EVENTS);
        feed.tell(Heavy(10 * MAX_BYTES));
        assert_eq!(kept(&feed).0, 1);
        assert_eq!(listener.try_recv(), Err(ListenError::Missed(2 * MAX_EVENTS as u64)));
        assert_eq!(listener.try_recv(), Ok(Some(Heavy(10 * MAX_BYTES))));
    }

    #[tokio::test]
    async fn a_waiting_listener_receives_an_event_and_the_end() {
        let feed = Feed::new();
        let mut listener = feed.listen();
        let receiving = tokio::spawn(async move { (listener.recv().await, listener.recv().await) });
        tokio::task::yield_now().await;
        feed.tell(Heavy(1));
        tokio::task::yield_now().await;
        drop(feed);
        assert_eq!(receiving.await.unwrap(), (Ok(Heavy(1)), Err(ListenError::Closed)));
    }

    #[test]
    fn no_event_follows_the_last() {
        let feed = Feed::new();
        let mut listener = feed.listen();
        feed.end_with(Heavy(1));
        feed.tell(Heavy(2));
        assert_eq!(listener.try_recv(), Ok(Some(Heavy(1))));
        assert_eq!(listener.try_recv(), Err(ListenError::Closed));
        assert_eq!(feed.listen().try_recv(), Err(ListenError::Closed), "a late listener");
    }
}
