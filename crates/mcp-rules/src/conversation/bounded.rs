use std::{
    borrow::Borrow,
    collections::VecDeque,
    hash::{BuildHasher, Hash},
};

use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A map that forgets its oldest entry when there are too many, and remembers that it did. Takes
/// the room of a pointer until something is put in: a session has many that stay empty.
#[derive(Debug, Clone)]
pub(crate) struct Bounded<K, V>(Option<Box<Inner<K, V>>>);

#[derive(Debug, Clone)]
struct Inner<K, V> {
    /// In order of arrival, with gaps where something was removed or replaced.
    slots: VecDeque<Option<(K, V)>>,
    /// How many slots have gone at the front: the number of the first one.
    gone: usize,
    /// The numbers of the slots that are taken, by the hash of their key.
    numbers: HashTable<usize>,
    state: RandomState,
    forgot: bool,
}

impl<K, V> Default for Bounded<K, V> {
    fn default() -> Self {
        Bounded(None)
    }
}

impl<K, V> Default for Inner<K, V> {
    fn default() -> Self {
        Inner {
            slots: VecDeque::new(),
            gone: 0,
            numbers: HashTable::new(),
            state: RandomState::default(),
            forgot: false,
        }
    }
}

impl<K: Eq + Hash, V> Bounded<K, V> {
    /// Adds or replaces an entry, which then counts as the newest; gives back what had to go
    /// because there were `capacity` others.
    pub(crate) fn insert(&mut self, key: K, value: V, capacity: usize) -> Option<(K, V)> {
        let inner = self.0.get_or_insert_default();
        inner.insert(key, value);
        if inner.numbers.len() > capacity.max(1) { inner.evict() } else { None }
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let inner = self.0.as_ref()?;
        let (_, value) = inner.slots.get(inner.position(key)?)?.as_ref()?;
        Some(value)
    }

    pub(crate) fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let inner = self.0.as_mut()?;
        let position = inner.position(key)?;
        let (_, value) = inner.slots.get_mut(position)?.as_mut()?;
        Some(value)
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
        let (_, value) = self.0.as_mut()?.remove(key)?;
        Some(value)
    }

    /// The entries, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let slots = self.0.iter().flat_map(|inner| &inner.slots);
        slots.flatten().map(|(key, value)| (key, value))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |inner| inner.numbers.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an entry had to go, so that a key that is not there may have been.
    pub(crate) fn forgot(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.forgot)
    }

    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }
}

impl<K: Eq + Hash, V> Inner<K, V> {
    /// Which slot has this key.
    fn position<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if self.numbers.is_empty() {
            return None;
        }
        let has_key = |number: &usize| holds(&self.slots, number.wrapping_sub(self.gone), key);
        let number = self.numbers.find(self.state.hash_one(key), has_key)?;
        Some(number.wrapping_sub(self.gone))
    }

    fn insert(&mut self, key: K, value: V) {
        self.tidy();
        let Inner { slots, gone, numbers, state, .. } = self;
        let number = gone.wrapping_add(slots.len());
        let entry = numbers.entry(
            state.hash_one(&key),
            |number| holds(slots, number.wrapping_sub(*gone), &key),
            |number| hash_at(slots, number.wrapping_sub(*gone), state),
        );
        match entry {
            Entry::Vacant(entry) => {
                entry.insert(number);
            }
            Entry::Occupied(mut entry) => {
                let replaced = std::mem::replace(entry.get_mut(), number);
                slots[replaced.wrapping_sub(*gone)] = None;
            }
        }
        slots.push_back(Some((key, value)));
        self.drop_gaps();
    }

    fn remove<Q>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if self.numbers.is_empty() {
            return None;
        }
        let Inner { slots, gone, numbers, state, .. } = self;
        let has_key = |number: &usize| holds(slots, number.wrapping_sub(*gone), key);
        let entry = numbers.find_entry(state.hash_one(key), has_key).ok()?;
        let (number, _) = entry.remove();
        let removed = slots.get_mut(number.wrapping_sub(*gone))?.take();
        self.drop_gaps();
        removed
    }

    fn evict(&mut self) -> Option<(K, V)> {
        let oldest = self.slots.front()?.as_ref()?;
        let hash = self.state.hash_one(&oldest.0);
        let gone = self.gone;
        if let Ok(entry) = self.numbers.find_entry(hash, |number| *number == gone) {
            entry.remove();
        }
        self.forgot = true;
        let oldest = self.slots.front_mut()?.take();
        self.drop_gaps();
        oldest
    }

    /// Lets the first slot be one that is taken.
    fn drop_gaps(&mut self) {
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.gone = self.gone.wrapping_add(1);
        }
    }

    /// Keeps the queue at most twice as long as what it holds, at constant cost per insertion.
    fn tidy(&mut self) {
        if self.slots.len() > 2 * self.numbers.len() + 16 {
            let Inner { slots, gone, numbers, state, .. } = self;
            slots.retain(Option::is_some);
            *gone = 0;
            numbers.clear();
            for position in 0..slots.len() {
                let hash = hash_at(slots, position, state);
                numbers.insert_unique(hash, position, |other| hash_at(slots, *other, state));
            }
        }
    }
}

fn holds<K, V, Q>(slots: &VecDeque<Option<(K, V)>>, position: usize, key: &Q) -> bool
where
    K: Borrow<Q>,
    Q: Eq + ?Sized,
{
    matches!(slots.get(position), Some(Some((held, _))) if held.borrow() == key)
}

/// The hash of the key in a slot that is taken.
fn hash_at<K: Hash, V>(
    slots: &VecDeque<Option<(K, V)>>,
    position: usize,
    state: &RandomState,
) -> u64 {
    match slots.get(position) {
        Some(Some((key, _))) => state.hash_one(key),
        _ => 0,
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
    K: Eq + Hash + Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Saved { entries: self.iter().collect(), forgot: self.forgot() }.serialize(serializer)
    }
}

impl<'de, K, V> Deserialize<'de> for Bounded<K, V>
where
    K: Eq + Hash + Deserialize<'de>,
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
        assert_eq!(inner.numbers.len(), 1);
        assert!(inner.slots.len() < 40);
        assert!(!map.forgot());
        assert!(map.contains(&-1) && !map.contains(&9_999));
    }

    #[test]
    fn entries_are_found_whatever_was_removed_around_them() {
        let mut map = Bounded::default();
        let mut model: VecDeque<u32> = VecDeque::new();
        for step in 0..5_000_u32 {
            let key = step * 7 % 640;
            model.retain(|other| *other != key);
            if step % 3 == 0 {
                map.remove(&key);
            } else {
                map.insert(key, step, 300);
                model.push_back(key);
                if model.len() > 300 {
                    model.pop_front();
                }
            }
            assert!(map.contains(&key) == (step % 3 != 0) && map.len() == model.len());
        }
        assert!(map.iter().map(|(key, _)| key).eq(&model));
        assert!((0..640).all(|key| map.contains(&key) == model.contains(&key)));
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
