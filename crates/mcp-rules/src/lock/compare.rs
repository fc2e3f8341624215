//! Compares a lock with what a server offers now.

use std::collections::BTreeMap;

use mcp_core::Revision;
use serde_json::Value;

use super::{Change, Drift, LockedOffer, Part};

impl LockedOffer {
    /// The differences at one revision.
    pub fn compare(&self, revision: Revision, now: &LockedOffer) -> Vec<Drift> {
        let mut drifts = Vec::new();
        for part in Part::ALL {
            drifts.extend(match now.part(part) {
                Value::Array(entries) if part.method().is_some() => {
                    self.compare_list(revision, part, entries.clone(), true)
                }
                _ if part.method().is_some() => self.compare_list(revision, part, Vec::new(), true),
                now => self.compare_part(revision, part, now),
            });
        }
        drifts
    }

    /// The differences in a part that is not a list.
    pub fn compare_part(&self, revision: Revision, part: Part, now: &Value) -> Vec<Drift> {
        let mut changes = Vec::new();
        differences(self.part(part), now, String::new(), &mut changes);
        let drift = |change| Drift { revision, part: Some(part), name: None, change };
        changes.into_iter().map(drift).collect()
    }

    /// The differences in a list, or in one page of it, which cannot show that entries are gone.
    pub fn compare_list(
        &self,
        revision: Revision,
        part: Part,
        entries: Vec<Value>,
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
            let (before, now) = without_equals(before, now);
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

/// Removes the entries that are equal on both sides. What remains of `before` is sorted by its text.
fn without_equals<'v>(
    before: Vec<&'v Value>,
    now: Vec<&'v Value>,
) -> (Vec<&'v Value>, Vec<&'v Value>) {
    if before.len() <= 1 && now.len() <= 1 {
        return (before, now);
    }
    let mut known: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for entry in before {
        known.entry(entry.to_string()).or_default().push(entry);
    }
    let is_new = |entry: &&Value| known.get_mut(&entry.to_string()).and_then(Vec::pop).is_none();
    let now = now.into_iter().filter(is_new).collect();
    (known.into_values().flatten().collect(), now)
}

/// The innermost places at which two values differ. Recursive: the depth of values is limited.
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
