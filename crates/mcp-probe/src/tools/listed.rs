use std::collections::BTreeMap;

use mcp_core::{Revision, Revisions};
use serde_json::Value;

use crate::{Discovery, Offer, Refused, Safety};

/// A tool, prompt or template, as it is listed at each revision.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) name: String,
    listings: BTreeMap<Revision, Value>,
}

/// The entries of a list at all revisions, by identifying member, in the order of the newest
/// revision.
pub(super) fn listed(found: &Discovery, list: fn(&Offer) -> &Vec<Value>, key: &str) -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    for (revision, offer) in found.offers.iter().rev() {
        for entry in list(offer) {
            let Some(name) = entry[key].as_str() else { continue };
            let index = all.iter().position(|listed| listed.name == name).unwrap_or_else(|| {
                all.push(Listed { name: name.to_owned(), listings: BTreeMap::new() });
                all.len() - 1
            });
            // Of two entries with the same name, the first counts; a rule reports the duplicate.
            all[index].listings.entry(*revision).or_insert_with(|| entry.clone());
        }
    }
    all
}

impl Listed {
    /// The entry at this revision.
    pub(super) fn at(&self, revision: Revision) -> Option<&Value> {
        self.listings.get(&revision)
    }

    /// The entry at the newest revision that has it, with that revision.
    pub(super) fn newest(&self) -> Option<(Revision, &Value)> {
        self.listings.last_key_value().map(|(revision, entry)| (*revision, entry))
    }

    /// The revisions at which it is listed.
    pub(super) fn revisions(&self) -> Revisions {
        self.listings.keys().fold(Revisions::NONE, |all, revision| all.and(*revision))
    }

    /// Checks whether a tool may be called. Annotations at one revision count for all, since they
    /// describe the same tool.
    pub(super) fn permitted_by(&self, safety: &Safety) -> Result<(), Refused> {
        let is_annotated = |entry: &&Value| entry.get("annotations").is_some();
        let annotated: Vec<&Value> = self.listings.values().filter(is_annotated).collect();
        match (annotated.is_empty(), self.newest()) {
            (true, Some((_, entry))) => safety.permits(entry),
            _ => annotated.into_iter().try_for_each(|entry| safety.permits(entry)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(entries: &[(Revision, Value)]) -> Discovery {
        let mut found = Discovery::default();
        for (revision, entry) in entries {
            let offer = found.offers.entry(*revision).or_default();
            offer.tools.push(entry.clone());
        }
        found
    }

    #[test]
    fn annotations_of_one_revision_count_for_all() {
        let annotated = json!({ "name": "a", "annotations": { "readOnlyHint": true } });
        let wary = json!({ "name": "a", "annotations": { "readOnlyHint": false } });
        let bare = json!({ "name": "a" });
        let permits = |entries: &[(Revision, Value)]| {
            let listed = listed(&found(entries), |offer| &offer.tools, "name");
            assert_eq!(listed.len(), 1);
            listed[0].permitted_by(&Safety::default()).is_ok()
        };
        let (old, new) = (Revision::V2024_11_05, Revision::V2025_11_25);
        assert!(permits(&[(old, bare.clone()), (new, annotated.clone())]));
        assert!(!permits(&[(old, bare.clone()), (new, bare)]));
        assert!(!permits(&[(old, wary), (new, annotated)]));
    }

    #[test]
    fn the_order_is_that_of_the_newest_revision() {
        let tool = |name: &str| json!({ "name": name });
        let (old, new) = (Revision::V2024_11_05, Revision::V2025_11_25);
        let found =
            found(&[(old, tool("c")), (old, tool("a")), (new, tool("a")), (new, tool("b"))]);
        let listed = listed(&found, |offer| &offer.tools, "name");
        let names: Vec<&str> = listed.iter().map(|listed| listed.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(listed[2].at(new).is_none());
        assert_eq!(listed[0].revisions(), Revisions::only(old).and(new));
    }
}
