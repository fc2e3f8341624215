//! Finds out which messages of two recordings are the same.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

use super::{
    order,
    recording::{Entry, Kind},
};

/// Which entry of one recording is which of the other.
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
            matching.pass(left, right, |entry| Some((asked(entry)?, entry.id, entry.content)));
            matching.pass(left, right, |entry| Some((asked(entry)?, entry.id?)));
        }
        matching.pass(left, right, |entry| Some((asked(entry)?, entry.content)));
        matching
            .pass(left, right, |entry| asked(entry).filter(|(_, kind, _)| *kind != Kind::Other));
        matching.match_answers(left, right);
        let orphan = |entry: &Entry| is_answer(entry).then_some((entry.from, entry.kind));
        matching.pass(left, right, |entry| Some((orphan(entry)?, entry.id, entry.content)));
        matching.pass(left, right, |entry| Some((orphan(entry)?, entry.content)));
        matching.pass(left, right, |entry| Some((orphan(entry)?, entry.id?)));
        matching
    }

    /// Matches what is left on both sides and has the same key, the first with the first.
    fn pass<K: Eq + Hash>(
        &mut self,
        left: &[Entry],
        right: &[Entry],
        key: impl Fn(&Entry) -> Option<K>,
    ) {
        let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
        for (index, entry) in right.iter().enumerate() {
            if self.to_left[index].is_none()
                && let Some(key) = key(entry)
            {
                waiting.entry(key).or_default().push_back(index);
            }
        }
        if waiting.is_empty() {
            return;
        }
        for (index, entry) in left.iter().enumerate() {
            if self.to_right[index].is_none()
                && let Some(key) = key(entry)
                && let Some(other) = waiting.get_mut(&key).and_then(VecDeque::pop_front)
            {
                self.connect(index, other);
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
