use std::collections::{BTreeMap, HashSet, VecDeque};

use mcp_core::RequestId;
use serde::{Deserialize, Serialize};

use super::digest::{digest, digest_of};

/// Integers are kept as ranges, the highest one inline: ids that count up need no more, and
/// checking that an id is new touches nothing else. Other ids are kept as hashes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct IdSet {
    /// First and last of the highest range.
    highest: Option<(i64, i64)>,
    others: Option<Box<Others>>,
}

/// State for ids that do not simply count up.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Others {
    /// First and last of each lower range.
    ranges: BTreeMap<i64, i64>,
    hashes: HashSet<u64>,
    /// The hashes, oldest first.
    arrival: VecDeque<u64>,
    forgot: bool,
}

impl IdSet {
    /// Inserts an id and returns whether it is new. Up to `capacity` of each kind are kept.
    pub(crate) fn insert(&mut self, id: &RequestId, capacity: usize) -> bool {
        match id.as_i64() {
            Some(number) => self.insert_number(number, capacity),
            None => self.others.get_or_insert_default().insert_hash(hash(id), capacity),
        }
    }

    pub(crate) fn remove(&mut self, id: &RequestId) {
        match (id.as_i64(), &mut self.others) {
            (Some(number), _) => {
                if self.contains_number(number) {
                    self.rearrange(|ranges| remove_number(ranges, number));
                }
            }
            (None, Some(others)) => others.remove_hash(hash(id)),
            (None, None) => {}
        }
    }

    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        match (id.as_i64(), &self.others) {
            (Some(number), _) => self.contains_number(number),
            (None, Some(others)) => others.hashes.contains(&hash(id)),
            (None, None) => false,
        }
    }

    /// Whether ids were evicted.
    pub(crate) fn forgot(&self) -> bool {
        self.others.as_ref().is_some_and(|others| others.forgot)
    }

    fn contains_number(&self, number: i64) -> bool {
        match (self.highest, &self.others) {
            (Some((first, last)), _) if first <= number => number <= last,
            (Some(_), Some(others)) => {
                let below = others.ranges.range(..=number).next_back();
                below.is_some_and(|(_, last)| number <= *last)
            }
            _ => false,
        }
    }

    fn insert_number(&mut self, number: i64, capacity: usize) -> bool {
        let Some((_, last)) = &mut self.highest else {
            self.highest = Some((number, number));
            return true;
        };
        if last.checked_add(1) == Some(number) {
            *last = number; // The next number of a counter.
            return true;
        }
        if self.contains_number(number) {
            return false;
        }
        self.rearrange(|ranges| add_number(ranges, number));
        if let Some(others) = &mut self.others
            && others.ranges.len() >= capacity.max(1)
        {
            others.ranges.pop_first();
            others.forgot = true;
        }
        true
    }

    /// Changes the ranges as a whole.
    fn rearrange(&mut self, change: impl FnOnce(&mut BTreeMap<i64, i64>)) {
        let ranges = &mut self.others.get_or_insert_default().ranges;
        ranges.extend(self.highest.take());
        change(ranges);
        self.highest = ranges.pop_last();
    }
}

impl Others {
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

    fn remove_hash(&mut self, hash: u64) {
        if self.hashes.remove(&hash) {
            self.arrival.retain(|kept| *kept != hash);
        }
    }
}

/// Adds a number that is not present.
fn add_number(ranges: &mut BTreeMap<i64, i64>, number: i64) {
    let after = number.checked_add(1).and_then(|next| ranges.remove(&next));
    let end = after.unwrap_or(number);
    match ranges.range_mut(..number).next_back() {
        Some((_, last)) if last.checked_add(1) == Some(number) => *last = end,
        _ => {
            ranges.insert(number, end);
        }
    }
}

/// Removes a number that is present.
fn remove_number(ranges: &mut BTreeMap<i64, i64>, number: i64) {
    let Some((&first, &last)) = ranges.range(..=number).next_back() else { return };
    ranges.remove(&first);
    if first < number {
        ranges.insert(first, number - 1);
    }
    if number < last {
        ranges.insert(number + 1, last);
    }
}

fn hash(id: &RequestId) -> u64 {
    match id.as_str() {
        Some(text) => digest(text.as_bytes()),
        None => digest_of([b"integer", id.to_string().as_bytes()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(ids: &IdSet) -> Vec<(i64, i64)> {
        let lower = ids.others.iter().flat_map(|others| &others.ranges);
        lower.map(|(first, last)| (*first, *last)).chain(ids.highest).collect()
    }

    #[test]
    fn a_counter_takes_one_range() {
        let mut ids = IdSet::default();
        for number in (0..1000).chain(-5..0).chain(1001..2000) {
            assert!(ids.insert(&RequestId::from(number), 8));
        }
        assert_eq!(ranges(&ids).len(), 2);
        assert!(ids.insert(&RequestId::from(1000), 8));
        assert_eq!(ranges(&ids), [(-5, 1999)]);
        assert!(!ids.insert(&RequestId::from(7), 8));
        assert!(!ids.contains(&RequestId::from(2000)));
        assert!(ids.insert(&RequestId::from(i64::MAX), 8));
        assert!(ids.contains(&RequestId::from(i64::MAX)));
        ids.remove(&RequestId::from(7));
        ids.remove(&RequestId::from(-5));
        ids.remove(&RequestId::from(5000));
        assert!(!ids.contains(&RequestId::from(7)) && ids.contains(&RequestId::from(8)));
        assert_eq!(ranges(&ids), [(-4, 6), (8, 1999), (i64::MAX, i64::MAX)]);
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
        assert_eq!(ranges(&ids).len(), 4);
        let mut ids = IdSet::default();
        for name in ["a", "b", "c"] {
            ids.insert(&RequestId::from(name), 2);
        }
        assert!(ids.forgot() && !ids.contains(&RequestId::from("a")));
    }
}
