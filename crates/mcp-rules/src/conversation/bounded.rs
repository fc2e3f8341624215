use std::{
    borrow::Borrow,
    collections::VecDeque,
    hash::{BuildHasher, Hash},
};

use foldhash::fast::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A map that evicts its oldest entry when full, and remembers that it did. Takes the size of a
/// pointer while empty, as many maps of a session stay empty.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound(
    serialize = "K: Eq + Hash + Serialize, V: Serialize",
    deserialize = "K: Eq + Hash + Deserialize<'de>, V: Deserialize<'de>"
))]
pub(crate) struct Bounded<K, V>(Option<Box<BoundedMap<K, V>>>);

/// Up to this many entries are searched linearly. Most maps of a session never have more, and a
/// hash table would cost more than it saves.
const FEW: usize = 8;

/// The same without the box: larger when empty, but one indirection less.
#[derive(Debug, Clone)]
pub(crate) struct BoundedMap<K, V> {
    /// In order of arrival. With an index there may be gaps where an entry was removed or replaced;
    /// without one there are none.
    slots: Slots<K, V>,
    /// Finds keys, once there have been more than a few.
    index: Option<Box<Index>>,
    forgot: bool,
}

#[derive(Debug, Clone, Default)]
struct Index {
    /// How many slots were removed from the front, and so the number of the first one.
    gone: usize,
    /// The numbers of occupied slots, by the hash of their key.
    numbers: HashTable<usize>,
    state: RandomState,
}

impl<K, V> Default for Bounded<K, V> {
    fn default() -> Self {
        Bounded(None)
    }
}

impl<K, V> Default for BoundedMap<K, V> {
    fn default() -> Self {
        BoundedMap { slots: VecDeque::new(), index: None, forgot: false }
    }
}

impl<K: Eq + Hash, V> Bounded<K, V> {
    /// Adds or replaces an entry, which becomes the newest; returns the entry evicted because there
    /// were `capacity` others.
    pub(crate) fn insert(&mut self, key: K, value: V, capacity: usize) -> Option<(K, V)> {
        self.0.get_or_insert_default().insert(key, value, capacity)
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.0.as_ref()?.get(key)
    }

    pub(crate) fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.0.as_mut()?.get_mut(key)
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
        self.0.as_mut()?.remove(key)
    }

    /// The entries, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().flat_map(|map| map.iter())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |map| map.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether an entry was evicted, so that a missing key may have been present.
    pub(crate) fn forgot(&self) -> bool {
        self.0.as_ref().is_some_and(|map| map.forgot)
    }

    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }
}

impl<K: Eq + Hash, V> BoundedMap<K, V> {
    /// Adds or replaces an entry, which becomes the newest; returns the entry evicted because there
    /// were `capacity` others.
    pub(crate) fn insert(&mut self, key: K, value: V, capacity: usize) -> Option<(K, V)> {
        self.add(key, value);
        if self.len() > capacity.max(1) { self.evict() } else { None }
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let (_, value) = self.slots.get(self.position(key)?)?.as_ref()?;
        Some(value)
    }

    pub(crate) fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let position = self.position(key)?;
        let (_, value) = self.slots.get_mut(position)?.as_mut()?;
        Some(value)
    }

    pub(crate) fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let Some(index) = &mut self.index else {
            let (_, value) = self.slots.remove(self.position(key)?)??;
            return Some(value);
        };
        let position = index.remove(&self.slots, key)?;
        let (_, value) = self.slots.get_mut(position)?.take()?;
        index.drop_gaps(&mut self.slots);
        if self.slots.is_empty() {
            self.index = None;
        }
        Some(value)
    }

    /// The entries, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.slots.iter().flatten().map(|(key, value)| (key, value))
    }

    pub(crate) fn len(&self) -> usize {
        self.index.as_ref().map_or(self.slots.len(), |index| index.numbers.len())
    }

    /// The slot that has this key.
    fn position<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        match &self.index {
            None => {
                let find = |slots: &[Option<(K, V)>]| {
                    slots.iter().rposition(|slot| has_key(slot.as_ref(), key))
                };
                // Slices, as their loops are much shorter than those of the queue itself.
                let (front, back) = self.slots.as_slices();
                find(back).map(|position| front.len() + position).or_else(|| find(front))
            }
            Some(index) => index.position(&self.slots, key),
        }
    }

    fn add(&mut self, key: K, value: V) {
        match &mut self.index {
            None => {
                if let Some(position) = self.position(&key) {
                    self.slots.remove(position);
                }
                self.slots.push_back(Some((key, value)));
                if self.slots.len() > FEW {
                    self.index = Some(Box::new(Index::of(&self.slots)));
                }
            }
            Some(index) => {
                index.tidy(&mut self.slots);
                if let Some(replaced) = index.add(&self.slots, &key) {
                    self.slots[replaced] = None;
                }
                self.slots.push_back(Some((key, value)));
                index.drop_gaps(&mut self.slots);
            }
        }
    }

    /// Removes the oldest entry.
    fn evict(&mut self) -> Option<(K, V)> {
        self.forgot = true;
        let oldest = self.slots.pop_front()??;
        if let Some(index) = &mut self.index {
            index.remove_first(&oldest.0);
            index.drop_gaps(&mut self.slots);
        }
        Some(oldest)
    }
}

type Slots<K, V> = VecDeque<Option<(K, V)>>;

impl Index {
    /// Creates an index of slots without gaps.
    fn of<K: Hash, V>(slots: &Slots<K, V>) -> Index {
        let mut index = Index::default();
        index.fill(slots);
        index
    }

    fn fill<K: Hash, V>(&mut self, slots: &Slots<K, V>) {
        let Index { gone, numbers, state } = self;
        *gone = 0;
        numbers.clear();
        for position in 0..slots.len() {
            let hash = hash_at(slots, position, state);
            numbers.insert_unique(hash, position, |other| hash_at(slots, *other, state));
        }
    }

    fn position<K, V, Q>(&self, slots: &Slots<K, V>, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let has_key = |number: &usize| holds(slots, number.wrapping_sub(self.gone), key);
        let number = self.numbers.find(self.state.hash_one(key), has_key)?;
        Some(number.wrapping_sub(self.gone))
    }

    /// Records that `key` is about to be put into the next slot; returns its previous slot.
    fn add<K: Eq + Hash, V>(&mut self, slots: &Slots<K, V>, key: &K) -> Option<usize> {
        let Index { gone, numbers, state } = self;
        let number = gone.wrapping_add(slots.len());
        let entry = numbers.entry(
            state.hash_one(key),
            |number| holds(slots, number.wrapping_sub(*gone), key),
            |number| hash_at(slots, number.wrapping_sub(*gone), state),
        );
        match entry {
            Entry::Vacant(entry) => {
                entry.insert(number);
                None
            }
            Entry::Occupied(mut entry) => {
                let replaced = std::mem::replace(entry.get_mut(), number);
                Some(replaced.wrapping_sub(*gone))
            }
        }
    }

    /// Records the removal of `key`; returns its slot.
    fn remove<K, V, Q>(&mut self, slots: &Slots<K, V>, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let has_key = |number: &usize| holds(slots, number.wrapping_sub(self.gone), key);
        let entry = self.numbers.find_entry(self.state.hash_one(key), has_key).ok()?;
        Some(entry.remove().0.wrapping_sub(self.gone))
    }

    /// Records that the first slot, which had `key`, was removed.
    fn remove_first<K: Hash>(&mut self, key: &K) {
        let first = self.gone;
        let entry = self.numbers.find_entry(self.state.hash_one(key), |number| *number == first);
        if let Ok(entry) = entry {
            entry.remove();
        }
        self.gone = self.gone.wrapping_add(1);
    }

    /// Removes empty slots from the front.
    fn drop_gaps<K, V>(&mut self, slots: &mut Slots<K, V>) {
        while let Some(None) = slots.front() {
            slots.pop_front();
            self.gone = self.gone.wrapping_add(1);
        }
    }

    /// Keeps the queue at most about twice as long as its contents, at amortised constant cost per
    /// insertion.
    fn tidy<K: Hash, V>(&mut self, slots: &mut Slots<K, V>) {
        if slots.len() > 2 * self.numbers.len() + 16 {
            slots.retain(Option::is_some);
            self.fill(slots);
        }
    }
}

fn holds<K, V, Q>(slots: &Slots<K, V>, position: usize, key: &Q) -> bool
where
    K: Borrow<Q>,
    Q: Eq + ?Sized,
{
    slots.get(position).is_some_and(|slot| has_key(slot.as_ref(), key))
}

fn has_key<K, V, Q>(slot: Option<&(K, V)>, key: &Q) -> bool
where
    K: Borrow<Q>,
    Q: Eq + ?Sized,
{
    matches!(slot, Some((held, _)) if held.borrow() == key)
}

/// The hash of the key in an occupied slot.
fn hash_at<K: Hash, V>(slots: &Slots<K, V>, position: usize, state: &RandomState) -> u64 {
    match slots.get(position) {
        Some(Some((key, _))) => state.hash_one(key),
        _ => 0,
    }
}

/// The serialised form: the entries in order, and whether some are missing.
#[derive(Serialize, Deserialize)]
struct Saved<K, V> {
    entries: Vec<(K, V)>,
    forgot: bool,
}

impl<K, V> Serialize for BoundedMap<K, V>
where
    K: Eq + Hash + Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Saved { entries: self.iter().collect(), forgot: self.forgot }.serialize(serializer)
    }
}

impl<'de, K, V> Deserialize<'de> for BoundedMap<K, V>
where
    K: Eq + Hash + Deserialize<'de>,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = Saved::<K, V>::deserialize(deserializer)?;
        let mut map = BoundedMap::default();
        for (key, value) in saved.entries {
            map.insert(key, value, usize::MAX);
        }
        map.forgot = saved.forgot;
        Ok(map)
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
        for kept in [1, FEW, 20] {
            let mut map = Bounded::default();
            for key in 0..kept {
                map.insert(key, (), 100);
            }
            for key in 1_000..10_000 {
                map.insert(key, (), 100);
                map.remove(&key);
            }
            let inner = map.0.as_ref().expect("something was put in");
            assert_eq!(inner.len(), kept);
            assert!(inner.slots.len() < 2 * kept + 20);
            assert!(!map.forgot());
            assert!((0..kept).all(|key| map.contains(&key)) && !map.contains(&9_999));
        }
    }

    #[test]
    fn entries_are_found_whatever_was_removed_around_them() {
        let mut map = Bounded::default();
        let mut model: VecDeque<u32> = VecDeque::new();
        for step in 0..5_000_u32 {
            let key = step * 7 % if step < 1_000 { 12 } else { 640 };
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
