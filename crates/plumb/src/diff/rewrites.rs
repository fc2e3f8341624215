//! Ids and progress tokens that a middlebox replaces with its own.

use std::collections::HashMap;

use mcp_core::Side;

use super::{
    compare::{Change, Place},
    recording::{Entry, Kind},
};

/// Number of pairs to show.
const EXAMPLES: usize = 3;

/// Maximum replacements remembered; further ones are reported as ordinary differences.
const MAX_REPLACEMENTS: usize = 100_000;

/// What is rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rewritten {
    Ids,
    ProgressTokens,
}

/// Replacements of one kind in the requests of one side, as a one-to-one mapping.
#[derive(Debug, Default)]
pub(crate) struct Replacements {
    forth: HashMap<Vec<u8>, Vec<u8>>,
    back: HashMap<Vec<u8>, Vec<u8>>,
    pub(super) examples: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Replacements {
    /// How many values were replaced.
    pub(super) fn count(&self) -> usize {
        self.forth.len()
    }

    /// Notes a replacement; `false` if it contradicts an earlier one.
    fn note(&mut self, left: &[u8], right: &[u8]) -> bool {
        match (self.forth.get(left), self.back.get(right)) {
            (Some(known), _) => known == right,
            (None, Some(_)) => false,
            (None, None) if self.forth.len() == MAX_REPLACEMENTS => false,
            (None, None) => {
                self.forth.insert(left.to_vec(), right.to_vec());
                self.back.insert(right.to_vec(), left.to_vec());
                if self.examples.len() < EXAMPLES {
                    self.examples.push((left.to_vec(), right.to_vec()));
                }
                true
            }
        }
    }
}

/// All replacements in order of appearance, separate for each conversation.
#[derive(Debug, Default)]
pub(super) struct Rewrites {
    by_subject: HashMap<(Subject, u64), usize>,
    all: Vec<(Subject, Replacements)>,
}

/// What is rewritten, and whose requests it belongs to.
type Subject = (Rewritten, Option<Side>);

impl Rewrites {
    /// Removes consistent rewrites from `changes`.
    pub(super) fn take_out(&mut self, entry: &Entry, changes: &mut Vec<Change>) {
        changes.retain(|change| {
            let Some(subject) = subject(entry, &change.place) else { return true };
            let (Some(left), Some(right)) = (&change.left, &change.right) else { return true };
            let all = &mut self.all;
            let index = *self.by_subject.entry((subject, entry.session)).or_insert_with(|| {
                all.push((subject, Replacements::default()));
                all.len() - 1
            });
            !all[index].1.note(left, right)
        });
    }

    /// What was rewritten.
    pub(super) fn into_summary(
        self,
    ) -> impl Iterator<Item = (Rewritten, Option<Side>, Replacements)> {
        let all = self.all.into_iter().filter(|(_, replacements)| replacements.count() > 0);
        all.map(|((what, side), replacements)| (what, side, replacements))
    }
}

/// What kind of rewritten value is at a place of a message, and whose request it belongs to.
fn subject(entry: &Entry, place: &Place) -> Option<Subject> {
    let Place::Pointer(pointer) = place else { return None };
    let sender = entry.from;
    let other = sender.map(Side::other);
    Some(match (pointer.as_str(), entry.kind) {
        ("/id", Kind::Response) => (Rewritten::Ids, other),
        ("/id", Kind::Request) | ("/params/requestId", Kind::Notification) => {
            (Rewritten::Ids, sender)
        }
        ("/params/_meta/progressToken", _) => (Rewritten::ProgressTokens, sender),
        ("/params/progressToken", Kind::Notification) => (Rewritten::ProgressTokens, other),
        _ => return None,
    })
}
