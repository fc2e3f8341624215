//! Resource subscriptions and pending update notifications.

use std::{
    collections::{BTreeSet, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::Notify;

use super::listen::check_subscriptions;
use crate::Error;

/// All listeners.
#[derive(Debug, Default)]
pub(super) struct Updates(Mutex<Vec<Weak<Listener>>>);

impl Updates {
    /// Adds a listener that is subscribed to the URIs in `subscribed`.
    pub(super) fn listen(&self, subscribed: BTreeSet<String>) -> Arc<Listener> {
        let state = State { subscribed, ..State::default() };
        let listener = Arc::new(Listener { state: Mutex::new(state), changed: Notify::new() });
        let mut listeners = lock(&self.0);
        if listeners.len() == listeners.capacity() {
            listeners.retain(|listener| listener.strong_count() > 0);
        }
        listeners.push(Arc::downgrade(&listener));
        listener
    }

    pub(super) fn announce(&self, uri: &str) {
        let uri: Arc<str> = uri.into();
        lock(&self.0).retain(|listener| {
            let listener = listener.upgrade();
            listener.inspect(|listener| listener.notify(&uri)).is_some()
        });
    }
}

/// A client's subscriptions, and the updates that are pending for it.
///
/// A slow client misses nothing: a resource that changes several times while an update is pending
/// is reported once.
#[derive(Debug)]
pub(super) struct Listener {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    subscribed: BTreeSet<String>,
    /// In the order of their first change, each once.
    pending: VecDeque<Arc<str>>,
    is_pending: HashSet<Arc<str>>,
}

/// The maximum number of pending updates. A subscription covers everything below its URI, which is
/// unbounded; beyond this limit, the subscribed URI itself is reported instead.
const MAX_PENDING: usize = 10_000;

impl Listener {
    pub(super) fn subscribe(&self, uri: &str) -> Result<(), Error> {
        let mut state = lock(&self.state);
        if state.subscribed.contains(uri) {
            return Ok(());
        }
        check_subscriptions(state.subscribed.len() + 1, [uri])?;
        state.subscribed.insert(uri.to_owned());
        Ok(())
    }

    /// Removes a subscription and its pending updates.
    pub(super) fn unsubscribe(&self, uri: &str) {
        let mut state = lock(&self.state);
        state.subscribed.remove(uri);
        let State { subscribed, pending, is_pending } = &mut *state;
        pending.retain(|changed| covering(subscribed, changed).is_some());
        is_pending.retain(|changed| covering(subscribed, changed).is_some());
    }

    /// Waits for the next update.
    pub(super) async fn next(&self) -> Arc<str> {
        loop {
            if let Some(uri) = lock(&self.state).take() {
                return uri;
            }
            self.changed.notified().await;
        }
    }

    fn notify(&self, uri: &Arc<str>) {
        if lock(&self.state).put(uri) {
            self.changed.notify_one();
        }
    }
}

impl State {
    /// Records a change if it is covered by a subscription; returns whether it is newly pending.
    fn put(&mut self, uri: &Arc<str>) -> bool {
        let Some(subscribed) = covering(&self.subscribed, uri) else { return false };
        let uri =
            if self.pending.len() < MAX_PENDING { Arc::clone(uri) } else { subscribed.into() };
        let is_new = self.is_pending.insert(Arc::clone(&uri));
        if is_new {
            self.pending.push_back(uri);
        }
        is_new
    }

    fn take(&mut self) -> Option<Arc<str>> {
        let uri = self.pending.pop_front()?;
        self.is_pending.remove(&uri);
        Some(uri)
    }
}

/// The subscription that covers `uri`: that of the URI itself, or of a parent.
fn covering<'s>(subscribed: &'s BTreeSet<String>, uri: &str) -> Option<&'s str> {
    let slashes = uri.char_indices().rev().filter(|(_, c)| *c == '/');
    let parents = slashes.flat_map(|(place, _)| [uri.get(..=place), uri.get(..place)]).flatten();
    let mut ends = std::iter::once(uri).chain(parents);
    ends.find_map(|part| subscribed.get(part)).map(String::as_str)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn set(uris: &[&str]) -> BTreeSet<String> {
        uris.iter().map(|uri| (*uri).to_owned()).collect()
    }

    fn drain(listener: &Listener) -> Vec<String> {
        let next = || listener.next().now_or_never().map(|uri| uri.to_string());
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_subscription_covers_everything_below_its_uri() {
        let subscribed = set(&["a:b", "c:d/"]);
        for (uri, covered) in
            [("a:b", true), ("a:b/c", true), ("a:bc", false), ("c:d/e", true), ("c:d", false)]
        {
            assert_eq!(covering(&subscribed, uri).is_some(), covered, "{uri}");
        }
    }

    #[test]
    fn a_slow_listener_gets_every_resource_once_in_order() {
        let updates = Updates::default();
        let listener = updates.listen(set(&["a:"]));
        for round in 0..3 {
            for number in 0..5000 {
                updates.announce(&format!("a:/{number}"));
                updates.announce(&format!("b:/{number}"));
            }
            assert_eq!(drain(&listener).len(), 5000, "{round}");
        }
        updates.announce("a:/2");
        updates.announce("a:/1");
        updates.announce("a:/2");
        assert_eq!(drain(&listener), ["a:/2", "a:/1"]);
    }

    #[test]
    fn beyond_the_limit_the_subscribed_uri_is_reported() {
        let updates = Updates::default();
        let listener = updates.listen(set(&["a:b", "c:d"]));
        for number in 0..2 * MAX_PENDING {
            updates.announce(&format!("a:b/{number}"));
        }
        updates.announce("c:d");
        let drained = drain(&listener);
        assert_eq!(drained.len(), MAX_PENDING + 2);
        assert_eq!(drained[MAX_PENDING..], ["a:b", "c:d"]);
    }

    #[test]
    fn unsubscribing_drops_pending_updates() {
        let updates = Updates::default();
        let listener = updates.listen(set(&["a:b", "c:d"]));
        updates.announce("a:b");
        updates.announce("c:d");
        listener.unsubscribe("a:b");
        assert_eq!(drain(&listener), ["c:d"]);
    }

    #[test]
    fn dropped_listeners_are_removed() {
        let updates = Updates::default();
        for _ in 0..100 {
            drop(updates.listen(set(&["a:b"])));
        }
        assert!(lock(&updates.0).capacity() < 10);
        let _stays = updates.listen(set(&["a:b"]));
        updates.announce("a:b");
        assert_eq!(lock(&updates.0).len(), 1);
    }
}
