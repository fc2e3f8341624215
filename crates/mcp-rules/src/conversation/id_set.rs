use std::collections::{BTreeMap, HashSet, VecDeque};

use mcp_core::RequestId;
use serde::{Deserialize, Serialize};

use super::digest::{digest, digest_of};

/// Request ids that have been used. Counters, which almost everybody uses, take the room of one
/// range however long the session; other ids take eight bytes each, up to a limit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct IdSet {
    /// First to last, both included, never touching each other.
    ranges: BTreeMap<i64, i64>,
    hashes: HashSet<u64>,
    arrival: VecDeque<u64>,
    forgot: bool,
}

impl IdSet {
    /// Adds `id` and says whether it is new.
    pub(crate) fn insert(&mut self, id: &RequestId, capacity: usize) -> bool {
        match id.as_i64() {
            Some(number) => self.insert_number(number, capacity),
            None => self.insert_hash(hash(id), capacity),
        }
    }

    pub(crate) fn remove(&mut self, id: &RequestId) {
        let Some(number) = id.as_i64() else {
            let hash = hash(id);
            self.hashes.remove(&hash);
            self.arrival.retain(|kept| *kept != hash);
            return;
        };
        let below = self.ranges.range(..=number).next_back().map(|(first, last)| (*first, *last));
        if let Some((first, last)) = below.filter(|(_, last)| number <= *last) {
            self.ranges.remove(&first);
            if first < number {
                self.ranges.insert(first, number - 1);
            }
            if number < last {
                self.ranges.insert(number + 1, last);
            }
        }
    }

    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        match id.as_i64() {
            Some(number) => self.contains_number(number),
            None => self.hashes.contains(&hash(id)),
        }
    }

    /// Whether ids had to go, so that one that is not there may have been.
    pub(crate) fn forgot(&self) -> bool {
        self.forgot
    }

    fn contains_number(&self, number: i64) -> bool {
        if self.ranges.last_key_value().is_none_or(|(_, last)| *last < number) {
            return false; // A counter that goes on.
        }
        self.ranges.range(..=number).next_back().is_some_and(|(_, last)| number <= *last)
    }

    fn insert_number(&mut self, number: i64, capacity: usize) -> bool {
        if let Some(mut newest) = self.ranges.last_entry()
            && newest.get().checked_add(1) == Some(number)
        {
            newest.insert(number); // A counter that goes on.
            return true;
        }
        let below = self.ranges.range(..=number).next_back().map(|(first, last)| (*first, *last));
        if let Some((first, last)) = below {
            if number <= last {
                return false;
            }
            if last.checked_add(1) == Some(number) {
                let end = self.take_range_after(number);
                self.ranges.insert(first, end);
                return true;
            }
        }
        let end = self.take_range_after(number);
        self.ranges.insert(number, end);
        if self.ranges.len() > capacity.max(1) {
            self.ranges.pop_first();
            self.forgot = true;
        }
        true
    }

    /// The last number of the range that begins right after `number`, which is taken out; else
    /// `number` itself.
    fn take_range_after(&mut self, number: i64) -> i64 {
        number.checked_add(1).and_then(|next| self.ranges.remove(&next)).unwrap_or(number)
    }

    fn insert_hash(&mut self, hash: u64, capacity: usize) -> bool {
        if !self.hashes.insert(hash) {
            return false;
        }
        self.arrival.push_back(hash);
        if self.hashes.len() > capacity.max(1)
            && let Some(oldest) = self.arrival.pop_front()
        {
            self.hashes.remove(&oldest);
            self.forgot = true;
        }
        true
    }
}

/// Stands for a text, or for an integer beyond 64 bits; the two never share one on purpose.
fn hash(id: &RequestId) -> u64 {
    match id.as_str() {
        Some(text) => digest(text.as_bytes()),
        None => digest_of([b"integer", id.to_string().as_bytes()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_takes_one_range() {
        let mut ids = IdSet::default();
        for number in (0..1000).chain(-5..0).chain(1001..2000) {
            assert!(ids.insert(&RequestId::from(number), 8));
        }
        assert_eq!(ids.ranges.len(), 2);
        assert!(ids.insert(&RequestId::from(1000), 8));
        assert_eq!(ids.ranges, BTreeMap::from([(-5, 1999)]));
        assert!(!ids.insert(&RequestId::from(7), 8));
        assert!(!ids.contains(&RequestId::from(2000)));
        assert!(ids.insert(&RequestId::from(i64::MAX), 8));
        assert!(ids.contains(&RequestId::from(i64::MAX)));
        ids.remove(&RequestId::from(7));
        ids.remove(&RequestId::from(-5));
        ids.remove(&RequestId::from(5000));
        assert!(!ids.contains(&RequestId::from(7)) && ids.contains(&RequestId::from(8)));
        assert_eq!(ids.ranges, BTreeMap::from([(-4, 6), (8, 1999), (i64::MAX, i64::MAX)]));
    }

    #[test]
    fn strings_and_numbers_differ() {
        let mut ids = IdSet::default();
        assert!(ids.insert(&RequestId::from(1), 8));
        assert!(!ids.contains(&RequestId::from("1")));
        assert!(ids.insert(&RequestId::from("1"), 8));
        assert!(!ids.insert(&RequestId::from("1"), 8));
        ids.remove(&RequestId::from("1"));
        assert!(ids.insert(&RequestId::from("1"), 8));
    }

    #[test]
    fn beyond_the_limit_it_forgets_and_says_so() {
        let mut ids = IdSet::default();
        for number in 0..10 {
            ids.insert(&RequestId::from(number * 2), 4);
        }
        assert!(ids.forgot());
        assert_eq!(ids.ranges.len(), 4);
        let mut ids = IdSet::default();
        for name in ["a", "b", "c"] {
            ids.insert(&RequestId::from(name), 2);
        }
        assert!(ids.forgot() && !ids.contains(&RequestId::from("a")));
    }
}
