//! Entries by name, in insertion order, with change notifications.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use tokio::sync::watch;

/// Something that has a name.
pub trait Named {
    /// The name. It must not change.
    fn name(&self) -> &str;
}

/// Entries by name.
pub struct Registry<T> {
    state: RwLock<State<T>>,
    changes: watch::Sender<u64>,
}

struct State<T> {
    next: u64,
    /// By insertion number.
    entries: BTreeMap<u64, Arc<T>>,
    numbers: HashMap<String, u64>,
}

/// One page of the entries.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page<T> {
    /// The entries, in insertion order.
    pub entries: Vec<Arc<T>>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// A cursor that no page of the registry has returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid cursor for this list")]
pub struct BadCursor(String);

impl<T: Named> Registry<T> {
    /// An empty registry.
    pub fn new() -> Registry<T> {
        let state = State { next: 0, entries: BTreeMap::new(), numbers: HashMap::new() };
        Registry { state: RwLock::new(state), changes: watch::channel(0).0 }
    }

    /// Adds an entry. An existing entry of the same name is replaced in place and returned.
    pub fn insert(&self, entry: T) -> Option<Arc<T>> {
        let old = {
            let mut state = self.write();
            let number = state.numbers.get(entry.name()).copied().unwrap_or(state.next);
            if number == state.next {
                state.next += 1;
                state.numbers.insert(entry.name().to_owned(), number);
            }
            state.entries.insert(number, Arc::new(entry))
        };
        self.announce();
        old
    }

    /// Removes an entry.
    pub fn remove(&self, name: &str) -> Option<Arc<T>> {
        let old = {
            let mut state = self.write();
            let number = state.numbers.remove(name)?;
            state.entries.remove(&number)
        };
        self.announce();
        old
    }

    /// The entry with this name.
    pub fn get(&self, name: &str) -> Option<Arc<T>> {
        let state = self.read();
        state.entries.get(state.numbers.get(name)?).cloned()
    }

    /// A snapshot of all entries, in insertion order.
    pub fn list(&self) -> Vec<Arc<T>> {
        self.read().entries.values().cloned().collect()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.read().entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// At most `size` entries, starting at `cursor`. Entries added or removed between two pages
    /// cause no other entry to be repeated or skipped.
    ///
    /// # Errors
    ///
    /// If no page has returned this cursor.
    pub fn page(&self, cursor: Option<&str>, size: usize) -> Result<Page<T>, BadCursor> {
        let state = self.read();
        let first = match cursor {
            None => 0,
            Some(cursor) => position(cursor)
                .filter(|number| *number < state.next)
                .ok_or_else(|| BadCursor(cursor.chars().take(40).collect()))?,
        };
        let mut rest = state.entries.range(first..);
        let entries = rest.by_ref().take(size.max(1)).map(|(_, entry)| Arc::clone(entry)).collect();
        let next = rest.next().map(|(number, _)| cursor_at(*number));
        Ok(Page { entries, next })
    }

    /// A receiver that is notified when an entry is added, replaced or removed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Notifies receivers of a change although the entries are the same: the thing that an entry
    /// refers to has changed, for example.
    pub fn announce(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn read(&self) -> RwLockReadGuard<'_, State<T>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State<T>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cursor_at(number: u64) -> String {
    format!("at-{number}")
}

fn position(cursor: &str) -> Option<u64> {
    let number: u64 = cursor.strip_prefix("at-")?.parse().ok()?;
    (cursor_at(number) == cursor).then_some(number)
}

impl<T: Named> Default for Registry<T> {
    fn default() -> Self {
        Registry::new()
    }
}

impl<T: Named> fmt::Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list().iter().map(|entry| entry.name().to_owned())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Entry(&'static str, u32);

    impl Named for Entry {
        fn name(&self) -> &str {
            self.0
        }
    }

    fn names(entries: &[Arc<Entry>]) -> Vec<&'static str> {
        entries.iter().map(|entry| entry.0).collect()
    }

    #[test]
    fn a_replaced_entry_keeps_its_place() {
        let registry = Registry::new();
        for name in ["b", "a", "c"] {
            registry.insert(Entry(name, 1));
        }
        let old = registry.insert(Entry("a", 2)).unwrap();
        assert_eq!((old.1, registry.get("a").unwrap().1), (1, 2));
        assert_eq!(names(&registry.list()), ["b", "a", "c"]);
        registry.remove("b");
        registry.insert(Entry("b", 3));
        assert_eq!(names(&registry.list()), ["a", "c", "b"]);
    }

    #[test]
    fn pages_visit_every_remaining_entry_exactly_once() {
        let registry = Registry::new();
        for name in ["a", "b", "c", "d", "e"] {
            registry.insert(Entry(name, 0));
        }
        let first = registry.page(None, 2).unwrap();
        registry.remove("a");
        registry.remove("c");
        registry.insert(Entry("f", 0));
        let second = registry.page(first.next.as_deref(), 2).unwrap();
        let third = registry.page(second.next.as_deref(), 2).unwrap();
        assert_eq!(names(&first.entries), ["a", "b"]);
        assert_eq!(names(&second.entries), ["d", "e"]);
        assert_eq!(names(&third.entries), ["f"]);
        assert_eq!(third.next, None);
    }

    #[test]
    fn unknown_cursors_are_rejected() {
        let registry = Registry::new();
        registry.insert(Entry("a", 0));
        for cursor in ["", "x", "at-", "at-1", "at-00", "at-+0", "at-99999999999999999999"] {
            assert!(registry.page(Some(cursor), 1).is_err(), "{cursor}");
        }
    }

    #[test]
    fn changes_are_announced() {
        let registry = Registry::new();
        let mut changes = registry.changes();
        assert!(!changes.has_changed().unwrap());
        registry.insert(Entry("a", 0));
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        registry.remove("b");
        assert!(!changes.has_changed().unwrap());
    }
}
