use std::{
    collections::{HashMap, VecDeque},
    fmt,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Events that a slow listener may be behind before it misses some.
const MOST_EVENTS: usize = 1024;
/// How much memory they may take together, about. The newest is kept whatever it takes.
const MOST_BYTES: usize = 16 << 20;
/// What an event takes beside what hangs on it.
const OVERHEAD: usize = 128;

/// Something that can be kept for listeners.
pub(crate) trait Weighed: Clone {
    /// How much memory hangs on it, about.
    fn weight(&self) -> usize;
}

/// Hands events to any number of listeners and waits for none of them: whoever falls too far
/// behind, in events or in bytes, misses the oldest ones and is told so.
pub(crate) struct Feed<T>(Arc<Shared<T>>);

/// Hears what is told from the moment on in which it was made.
pub struct Listener<T> {
    shared: Arc<Shared<T>>,
    key: u64,
}

/// Why a listener heard nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The listener was too slow. What comes next is the oldest event that is still there.
    #[error("{0} events were missed")]
    Missed(u64),
    /// Nobody is there any more who could tell something.
    #[error("nothing more will come")]
    Closed,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    arrived: Notify,
}

struct State<T> {
    /// What some listener has not heard yet, each with its weight.
    events: VecDeque<(T, usize)>,
    /// The number of the first of them.
    first: u64,
    bytes: usize,
    /// The number of the event that each listener hears next.
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
            while state.events.len() > MOST_EVENTS
                || (state.bytes > MOST_BYTES && state.events.len() > 1)
            {
                state.forget_first();
            }
        }
        self.0.arrived.notify_waiters();
    }

    /// Tells a last event, after which nothing more comes.
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
    /// The next event. Dropping the future loses none.
    ///
    /// # Errors
    ///
    /// If events were missed, or none will come any more.
    pub async fn recv(&mut self) -> Result<T, ListenError> {
        loop {
            let mut arrived = pin!(self.shared.arrived.notified());
            // From here on nothing arrives unnoticed.
            arrived.as_mut().enable();
            if let Some(outcome) = self.shared.state().next(self.key) {
                return outcome;
            }
            arrived.await;
        }
    }

    /// The next event if it is there already.
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
        state.forget_heard();
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
    /// The number of the event that comes next.
    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    fn next(&mut self, key: u64) -> Option<Result<T, ListenError>>
    where
        T: Clone,
    {
        let next = *self.listeners.get(&key)?;
        let heard = |state: &mut Self, next| {
            state.listeners.insert(key, next);
            state.forget_heard();
        };
        if next < self.first {
            heard(self, self.first);
            return Some(Err(ListenError::Missed(self.first - next)));
        }
        let place = usize::try_from(next - self.first).ok()?;
        if let Some((event, _)) = self.events.get(place) {
            let event = event.clone();
            heard(self, next + 1);
            return Some(Ok(event));
        }
        self.is_over.then_some(Err(ListenError::Closed))
    }

    /// Lets go of what every listener has heard.
    fn forget_heard(&mut self) {
        let needed = self.listeners.values().copied().min().unwrap_or_else(|| self.end());
        while self.first < needed && self.forget_first() {}
    }

    fn forget_first(&mut self) -> bool {
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
    fn a_slow_listener_misses_the_oldest_and_costs_no_more_than_the_limit() {
        let feed = Feed::new();
        let (mut slow, mut quick) = (feed.listen(), feed.listen());
        for _ in 0..100 {
            feed.tell(Heavy(1 << 20));
            assert_eq!(quick.try_recv(), Ok(Some(Heavy(1 << 20))));
        }
        assert_eq!(quick.try_recv(), Ok(None));
        assert!(kept(&feed).1 <= MOST_BYTES, "{:?}", kept(&feed));
        let left = kept(&feed).0 as u64;
        assert_eq!(slow.try_recv(), Err(ListenError::Missed(100 - left)));
        assert_eq!(slow.try_recv(), Ok(Some(Heavy(1 << 20))));
        drop(slow);
        assert_eq!(kept(&feed), (0, 0));
    }

    #[test]
    fn there_are_never_more_events_than_the_limit_and_the_newest_always_stays() {
        let feed = Feed::new();
        feed.tell(Heavy(0));
        assert_eq!(kept(&feed), (0, 0), "nobody listens");
        let mut listener = feed.listen();
        for _ in 0..2 * MOST_EVENTS {
            feed.tell(Heavy(0));
        }
        assert_eq!(kept(&feed).0, MOST_EVENTS);
        feed.tell(Heavy(10 * MOST_BYTES));
        assert_eq!(kept(&feed).0, 1);
        assert_eq!(listener.try_recv(), Err(ListenError::Missed(2 * MOST_EVENTS as u64)));
        assert_eq!(listener.try_recv(), Ok(Some(Heavy(10 * MOST_BYTES))));
    }

    #[tokio::test]
    async fn who_waits_hears_of_an_event_and_of_the_end() {
        let feed = Feed::new();
        let mut listener = feed.listen();
        let waiting = tokio::spawn(async move { (listener.recv().await, listener.recv().await) });
        tokio::task::yield_now().await;
        feed.tell(Heavy(1));
        tokio::task::yield_now().await;
        drop(feed);
        assert_eq!(waiting.await.unwrap(), (Ok(Heavy(1)), Err(ListenError::Closed)));
    }

    #[test]
    fn nothing_comes_after_the_last_event() {
        let feed = Feed::new();
        let mut listener = feed.listen();
        feed.end_with(Heavy(1));
        feed.tell(Heavy(2));
        assert_eq!(listener.try_recv(), Ok(Some(Heavy(1))));
        assert_eq!(listener.try_recv(), Err(ListenError::Closed));
        assert_eq!(feed.listen().try_recv(), Err(ListenError::Closed), "who comes too late");
    }
}
