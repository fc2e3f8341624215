use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A list of a server, and whether it is up to date.
#[derive(Debug)]
pub(super) struct CachedList<T> {
    state: Mutex<State<T>>,
    /// Held while fetching, so that others wait instead of fetching the same list.
    pub(super) fetching: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct State<T> {
    entries: Arc<[T]>,
    /// How many changes the server has announced.
    changes: u64,
    /// The number of changes when the entries were requested.
    fetched_at: Option<u64>,
    /// The number of lists received.
    version: u64,
}

impl<T> CachedList<T> {
    /// The last list, even if it is known to be out of date.
    pub(super) fn entries(&self) -> Arc<[T]> {
        Arc::clone(&self.state().entries)
    }

    /// Whether the list was fetched after the last announced change.
    pub(super) fn is_up_to_date(&self) -> bool {
        let state = self.state();
        state.fetched_at == Some(state.changes)
    }

    pub(super) fn invalidate(&self) {
        let mut state = self.state();
        state.changes = state.changes.wrapping_add(1);
    }

    /// The value for [`CachedList::put`], to be read before the list is requested.
    pub(super) fn changes(&self) -> u64 {
        self.state().changes
    }

    /// Changes with every list received.
    pub(super) fn version(&self) -> u64 {
        self.state().version
    }

    pub(super) fn put(&self, entries: Vec<T>, asked_at: u64) {
        let mut state = self.state();
        state.entries = entries.into();
        state.fetched_at = Some(asked_at);
        state.version += 1;
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for CachedList<T> {
    fn default() -> Self {
        let state = State { entries: Arc::new([]), changes: 0, fetched_at: None, version: 0 };
        CachedList { state: Mutex::new(state), fetching: tokio::sync::Mutex::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_during_the_fetch_is_not_lost() {
        let list = CachedList::default();
        assert!(!list.is_up_to_date());
        let asked_at = list.changes();
        list.invalidate();
        list.put(vec![1], asked_at);
        assert!(!list.is_up_to_date());
        list.put(vec![1, 2], list.changes());
        assert!(list.is_up_to_date());
        assert_eq!(*list.entries(), [1, 2]);
    }
}
