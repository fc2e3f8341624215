//! Entries by name, in the order in which they came, and news when they change.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use tokio::sync::watch;

/// Something that has a name.
pub trait Named {
    /// The name, which does not change.
    fn name(&self) -> &str;
}

/// Entries by name.
pub struct Registry<T> {
    state: RwLock<State<T>>,
    changes: watch::Sender<u64>,
}

struct State<T> {
    next: u64,
    /// By the number in which order they came.
    entries: BTreeMap<u64, Arc<T>>,
    numbers: HashMap<String, u64>,
}

/// A part of the entries.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page<T> {
    /// In order.
    pub entries: Vec<Arc<T>>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

/// A cursor that no page has given out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a cursor of this list")]
pub struct BadCursor(String);

impl<T: Named> Registry<T> {
    /// Without entries.
    pub fn new() -> Registry<T> {
        let state = State { next: 0, entries: BTreeMap::new(), numbers: HashMap::new() };
        Registry { state: RwLock::new(state), changes: watch::channel(0).0 }
    }

    /// Adds an entry. One of the same name is replaced, keeps its place and is given back.
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

    /// Takes an entry out.
    pub fn remove(&self, name: &str) -> Option<Arc<T>> {
        let old = {
            let mut state = self.write();
            let number = state.numbers.remove(name)?;
            state.entries.remove(&number)
        };
        self.announce();
        old
    }

    /// The entry of that name.
    pub fn get(&self, name: &str) -> Option<Arc<T>> {
        let state = self.read();
        state.entries.get(state.numbers.get(name)?).cloned()
    }

    /// All entries, as they are now.
    pub fn list(&self) -> Vec<Arc<T>> {
        self.read().entries.values().cloned().collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.read().entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// At most `size` entries from where `cursor` points to. Entries that come and go in between
    /// neither repeat nor hide others.
    ///
    /// # Errors
    ///
    /// If no page has given out the cursor.
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

    /// Tells when anything is added, replaced or removed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Says that something has changed although the entries are the same: what an entry stands
    /// for, say.
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
    fn pages_visit_what_stays_exactly_once() {
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
    fn foreign_cursors_are_refused() {
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
