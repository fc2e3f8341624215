use std::{
    borrow::Borrow,
    collections::{HashMap, VecDeque},
    hash::Hash,
};

use foldhash::fast::RandomState;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A map that forgets its oldest entry when there are too many, and remembers that it did. Takes
/// the room of a pointer until something is put in: a session has many that stay empty.
#[derive(Debug, Clone)]
pub(crate) struct Bounded<K, V>(Option<Box<Inner<K, V>>>);

#[derive(Debug, Clone)]
struct Inner<K, V> {
    entries: HashMap<K, Entry<V>, RandomState>,
    /// In order of arrival. What was removed or replaced is still in it until the next clean-up.
    arrival: VecDeque<(K, u64)>,
    next: u64,
    forgot: bool,
}

#[derive(Debug, Clone)]
struct Entry<V> {
    number: u64,
    value: V,
}

impl<K, V> Default for Bounded<K, V> {
    fn default() -> Self {
        Bounded(None)
    }
}

impl<K, V> Default for Inner<K, V> {
    fn default() -> Self {
        Inner { entries: HashMap::default(), arrival: VecDeque::new(), next: 0, forgot: false }
    }
}

impl<K: Clone + Eq + Hash, V> Bounded<K, V> {
    /// Adds or replaces an entry, which then counts as the newest; gives back what had to go
    /// because there were `capacity` others.
    pub(crate) fn insert(&mut self, key: K, value: V, capacity: usize) -> Option<(K, V)> {
        let inner = self.0.get_or_insert_default();
        let number = inner.next;
        inner.next += 1;
        inner.arrival.push_back((key.clone(), number));
        inner.entries.insert(key, Entry { number, value });
        inner.tidy();
        if inner.entries.len() > capacity.max(1) { inner.evict() } else { None }
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.0.as_ref()?.entries.get(key).map(|entry| &entry.value)
    }

    pub(crate) fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.0.as_mut()?.entries.get_mut(key).map(|entry| &mut entry.value)
    }

    pub(crate) fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.get(key).is_some()
    }

    pub(crate) fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let inner = self.0.as_mut()?;
        let entry = inner.entries.remove(key)?;
        if inner.entries.is_empty() {
            inner.arrival.clear();
        }
        Some(entry.value)
    }

    /// The entries, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().flat_map(|inner| {
            inner.arrival.iter().filter_map(|(key, number)| {
                let entry = inner.entries.get(key)?;
                (entry.number == *number).then_some((key, &entry.value))
            })
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|inner| inner.entries.is_empty())
    }

    /// Whether an entry had to go, so that a key that is not there may have been.
    pub(crate) fn forgot(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.forgot)
    }

    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }
}

impl<K: Clone + Eq + Hash, V> Inner<K, V> {
    fn evict(&mut self) -> Option<(K, V)> {
        while let Some((key, number)) = self.arrival.pop_front() {
            if self.entries.get(&key).is_some_and(|entry| entry.number == number) {
                self.forgot = true;
                let entry = self.entries.remove(&key)?;
                return Some((key, entry.value));
            }
        }
        None
    }

    /// Keeps the queue at most twice as long as what it orders, at constant cost per insertion.
    fn tidy(&mut self) {
        if self.arrival.len() > 2 * self.entries.len() + 16 {
            let entries = &self.entries;
            self.arrival.retain(|(key, number)| {
                entries.get(key).is_some_and(|entry| entry.number == *number)
            });
        }
    }
}

/// What is saved: the entries in order, and whether some are missing.
#[derive(Serialize, Deserialize)]
struct Saved<K, V> {
    entries: Vec<(K, V)>,
    forgot: bool,
}

impl<K, V> Serialize for Bounded<K, V>
where
    K: Clone + Eq + Hash + Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Saved { entries: self.iter().collect(), forgot: self.forgot() }.serialize(serializer)
    }
}

impl<'de, K, V> Deserialize<'de> for Bounded<K, V>
where
    K: Clone + Eq + Hash + Deserialize<'de>,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = Saved::<K, V>::deserialize(deserializer)?;
        let mut bounded = Bounded::default();
        for (key, value) in saved.entries {
            bounded.insert(key, value, usize::MAX);
        }
        if saved.forgot {
            bounded.0.get_or_insert_default().forgot = true;
        }
        Ok(bounded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first() {
        let mut map = Bounded::default();
        for key in 0..3 {
            assert_eq!(map.insert(key, key * 10, 3), None);
        }
        assert!(!map.forgot());
        map.insert(0, 1, 3);
        assert_eq!(map.insert(3, 30, 3), Some((1, 10)), "0 was renewed");
        assert!(map.forgot());
        assert_eq!(map.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [2, 0, 3]);
    }

    #[test]
    fn coming_and_going_does_not_grow_it() {
        let mut map = Bounded::default();
        map.insert(-1, (), 10);
        for key in 0..10_000 {
            map.insert(key, (), 10);
            map.remove(&key);
        }
        let inner = map.0.as_ref().expect("something was put in");
        assert_eq!(inner.entries.len(), 1);
        assert!(inner.arrival.len() < 40);
        assert!(!map.forgot());
    }

    #[test]
    fn it_is_saved_and_restored() {
        let mut map = Bounded::default();
        for key in ["a", "b", "c"] {
            map.insert(key.to_owned(), key.len(), 2);
        }
        let saved = serde_json::to_string(&map).unwrap();
        let restored: Bounded<String, usize> = serde_json::from_str(&saved).unwrap();
        assert!(restored.forgot());
        assert!(restored.iter().eq(map.iter()));
    }
}
