//! Matches the messages of two recordings.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

use super::{
    order,
    recording::{Entry, Kind},
};

/// Pairs of entries, as indices into the two recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Matching {
    pub(super) to_right: Vec<Option<usize>>,
    pub(super) to_left: Vec<Option<usize>>,
}

/// The matching that leaves the fewest differences: with ids as they are, or with all of them
/// rewritten.
pub(super) fn best(left: &[Entry], right: &[Entry]) -> Matching {
    let by_ids = Matching::find(left, right, true);
    let by_content = Matching::find(left, right, false);
    let costs = [&by_ids, &by_content].map(|matching| matching.cost(left, right));
    if costs[1] < costs[0] { by_content } else { by_ids }
}

impl Matching {
    fn find(left: &[Entry], right: &[Entry], trusts_ids: bool) -> Matching {
        let mut matching =
            Matching { to_right: vec![None; left.len()], to_left: vec![None; right.len()] };
        let is_answer = |entry: &Entry| entry.kind == Kind::Response;
        let asked =
            |entry: &Entry| (!is_answer(entry)).then_some((entry.from, entry.kind, entry.method));
        if trusts_ids {
            matching.pass(left, right, |entry, _| Some((asked(entry)?, entry.id, entry.content)));
            matching.pass(left, right, |entry, _| Some((asked(entry)?, entry.id?)));
        }
        // Unique entries are certain matches; the rest is matched near them first.
        matching.unique(left, right, |entry| Some((asked(entry)?, entry.content, entry.answer)));
        matching.unique(left, right, |entry| Some((asked(entry)?, entry.content)));
        for nearby in [true, false] {
            let near = |place| nearby.then_some(place);
            matching.pass(left, right, |entry, place| {
                Some((asked(entry)?, entry.content, entry.answer, near(place)))
            });
            matching.pass(left, right, |entry, place| {
                Some((asked(entry)?, entry.content, near(place)))
            });
        }
        for nearby in [true, false] {
            let near = |place| nearby.then_some(place);
            matching.pass(left, right, |entry, place| {
                let asked = asked(entry).filter(|(_, kind, _)| *kind != Kind::Other)?;
                Some((asked, near(place)))
            });
        }
        matching.match_answers(left, right);
        let orphan = |entry: &Entry| is_answer(entry).then_some((entry.from, entry.kind));
        matching.pass(left, right, |entry, _| Some((orphan(entry)?, entry.id, entry.content)));
        matching.pass(left, right, |entry, _| Some((orphan(entry)?, entry.content)));
        matching.pass(left, right, |entry, _| Some((orphan(entry)?, entry.id?)));
        matching
    }

    /// Matches unmatched entries with the same key, in order. The key may depend on the sender's
    /// preceding matched entry.
    fn pass<K: Eq + Hash>(
        &mut self,
        left: &[Entry],
        right: &[Entry],
        key: impl Fn(&Entry, Option<usize>) -> Option<K>,
    ) {
        let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
        let places = places(right, |index| self.to_left[index]);
        for (index, entry) in right.iter().enumerate() {
            if self.to_left[index].is_none()
                && let Some(key) = key(entry, places[index])
            {
                waiting.entry(key).or_default().push_back(index);
            }
        }
        if waiting.is_empty() {
            return;
        }
        let places = places_of_left(left, &self.to_right);
        for (index, entry) in left.iter().enumerate() {
            if self.to_right[index].is_none()
                && let Some(key) = key(entry, places[index])
                && let Some(other) = waiting.get_mut(&key).and_then(VecDeque::pop_front)
            {
                self.connect(index, other);
            }
        }
    }

    /// Matches unmatched entries whose key is unique on both sides.
    fn unique<K: Eq + Hash>(
        &mut self,
        left: &[Entry],
        right: &[Entry],
        key: impl Fn(&Entry) -> Option<K>,
    ) {
        let mut found: HashMap<K, [Found; 2]> = HashMap::new();
        let sides = [(left, &self.to_right), (right, &self.to_left)];
        for (side, (entries, matched)) in sides.into_iter().enumerate() {
            for (index, entry) in entries.iter().enumerate() {
                if matched[index].is_none()
                    && let Some(key) = key(entry)
                {
                    let found = &mut found.entry(key).or_default()[side];
                    *found = match found {
                        Found::Nowhere => Found::Once(index),
                        Found::Once(_) | Found::Often => Found::Often,
                    };
                }
            }
        }
        for (index, entry) in left.iter().enumerate() {
            if self.to_right[index].is_none()
                && let Some(key) = key(entry)
                && let Some([Found::Once(_), Found::Once(other)]) = found.get(&key)
            {
                self.connect(index, *other);
            }
        }
    }

    /// Matches the answers to requests that are matched.
    fn match_answers(&mut self, left: &[Entry], right: &[Entry]) {
        let mut waiting: HashMap<usize, VecDeque<usize>> = HashMap::new();
        for (index, entry) in right.iter().enumerate() {
            if let Some(request) = entry.answers.and_then(|request| self.to_left[request]) {
                waiting.entry(request).or_default().push_back(index);
            }
        }
        for (index, entry) in left.iter().enumerate() {
            if let Some(request) = entry.answers
                && let Some(other) = waiting.get_mut(&request).and_then(VecDeque::pop_front)
            {
                self.connect(index, other);
            }
        }
    }

    fn connect(&mut self, left: usize, right: usize) {
        self.to_right[left] = Some(right);
        self.to_left[right] = Some(left);
    }

    /// How different the recordings are by this matching: messages lost, added, changed and moved,
    /// then ids changed.
    fn cost(&self, left: &[Entry], right: &[Entry]) -> (usize, usize) {
        let missing = |to: &[Option<usize>]| to.iter().filter(|other| other.is_none()).count();
        let (mut changed, mut ids) = (0, 0);
        let mut known: HashMap<_, u64> = HashMap::new();
        for (entry, other) in left.iter().zip(&self.to_right) {
            let Some(other) = other.map(|other| &right[other]) else { continue };
            changed += usize::from(entry.content != other.content);
            if let (Kind::Request, Some(id), Some(new)) = (entry.kind, entry.id, other.id) {
                ids += usize::from(id != new);
                let first = *known.entry((entry.from, entry.session, id)).or_insert(new);
                changed += usize::from(first != new);
            }
        }
        let moved = order::moved(left, &self.to_right).len();
        (missing(&self.to_right) + missing(&self.to_left) + changed + moved, ids)
    }
}

/// How often a key occurs.
#[derive(Debug, Clone, Copy, Default)]
enum Found {
    #[default]
    Nowhere,
    Once(usize),
    Often,
}

/// For each entry, the sender's preceding matched entry, as an index into the left side.
fn places(entries: &[Entry], to_left: impl Fn(usize) -> Option<usize>) -> Vec<Option<usize>> {
    let mut last: [Option<usize>; 3] = [None; 3];
    let place = |(index, entry): (usize, &Entry)| {
        let last = &mut last[entry.from.map_or(2, |side| side as usize)];
        let place = *last;
        *last = to_left(index).or(*last);
        place
    };
    entries.iter().enumerate().map(place).collect()
}

fn places_of_left(entries: &[Entry], to_right: &[Option<usize>]) -> Vec<Option<usize>> {
    places(entries, |index| to_right[index].map(|_| index))
}
