//! What differs between a lock and what is offered now.

use std::collections::BTreeMap;

use mcp_core::Revision;
use serde_json::Value;

use super::{Change, Drift, Lock, LockedOffer, Part};
use crate::Found;

impl Lock {
    /// Everything that is not as it was locked, at the revisions that were tried.
    pub fn compare(&self, found: &Found) -> Vec<Drift> {
        let mut drifts = Vec::new();
        let whole = |revision, change| Drift { revision, part: None, name: None, change };
        for revision in found.refused.keys().filter(|revision| self.at(**revision).is_some()) {
            drifts.push(whole(*revision, Change::Removed));
        }
        for (revision, offer) in &found.offers {
            match self.at(*revision) {
                Some(locked) => drifts.extend(locked.compare(*revision, &offer.into())),
                None => drifts.push(whole(*revision, Change::Added)),
            }
        }
        drifts
    }
}

impl LockedOffer {
    /// What differs at one revision.
    pub(super) fn compare(&self, revision: Revision, now: &LockedOffer) -> Vec<Drift> {
        let mut drifts = Vec::new();
        for part in Part::ALL {
            if part.method().is_some() {
                drifts.extend(self.compare_list(revision, part, now.entries(part), true));
                continue;
            }
            let mut changes = Vec::new();
            differences(self.part(part), now.part(part), String::new(), &mut changes);
            let drift = |change| Drift { revision, part: Some(part), name: None, change };
            drifts.extend(changes.into_iter().map(drift));
        }
        drifts
    }

    /// What differs in a list, or in a page of it: then nothing can be known to be gone.
    pub fn compare_list(
        &self,
        revision: Revision,
        part: Part,
        entries: &[Value],
        is_whole: bool,
    ) -> Vec<Drift> {
        let listed = part.list(entries);
        let listed = listed.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut both: BTreeMap<String, [Vec<&Value>; 2]> = BTreeMap::new();
        for (index, entries) in [self.entries(part), listed].into_iter().enumerate() {
            for entry in entries {
                both.entry(part.name_of(entry)).or_default()[index].push(entry);
            }
        }
        let mut drifts = Vec::new();
        for (name, [before, now]) in both {
            let drift = |change| {
                let name = Some(name.clone());
                Drift { revision, part: Some(part), name, change }
            };
            // Names that occur twice are compared in the order of their texts.
            for index in 0..before.len().max(now.len()) {
                match (before.get(index), now.get(index)) {
                    (Some(before), Some(now)) => {
                        let mut changes = Vec::new();
                        differences(before, now, String::new(), &mut changes);
                        drifts.extend(changes.into_iter().map(drift));
                    }
                    (None, Some(_)) => drifts.push(drift(Change::Added)),
                    (Some(_), None) if is_whole => drifts.push(drift(Change::Removed)),
                    _ => {}
                }
            }
        }
        drifts
    }
}

/// The smallest places at which two values differ. Values come from texts of limited depth.
fn differences(before: &Value, now: &Value, pointer: String, changes: &mut Vec<Change>) {
    match (before, now) {
        _ if before == now => {}
        (Value::Object(before), Value::Object(now)) => {
            let added = now.keys().filter(|name| !before.contains_key(*name));
            for name in before.keys().chain(added) {
                let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                match (before.get(name), now.get(name)) {
                    (Some(before), Some(now)) => differences(before, now, pointer, changes),
                    (before, now) => {
                        let (before, now) = (before.cloned(), now.cloned());
                        changes.push(Change::Changed { pointer, before, now });
                    }
                }
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            for (index, (before, now)) in before.iter().zip(now).enumerate() {
                differences(before, now, format!("{pointer}/{index}"), changes);
            }
        }
        _ => {
            let present = |value: &Value| (!value.is_null()).then(|| value.clone());
            let (before, now) = (present(before), present(now));
            changes.push(Change::Changed { pointer, before, now });
        }
    }
}
