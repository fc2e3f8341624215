//! Locates differences from a lock in a conversation.

use std::collections::BTreeMap;

use mcp_rules::lock::{Drift, Part};

use crate::{Conversation, Kind, Stage};

/// Maximum differences reported per revision; the others are counted.
const MOST: usize = 200;

impl Stage {
    /// Reports differences from the lock.
    pub(crate) fn fail_for_drifts<'d>(
        &mut self,
        on: &Conversation,
        drifts: impl Iterator<Item = &'d Drift>,
    ) {
        let places = Places::of(on);
        let mut left = 0;
        for (index, drift) in drifts.enumerate() {
            if index >= MOST {
                left += 1;
                continue;
            }
            let place = places.of_drift(drift);
            let before = self.failure_count();
            self.fail(drift.rule(), on, place.line, drift.to_string(), Drift::HELP);
            if self.failure_count() > before {
                self.point_at(place.pointer);
            }
        }
        if left > 0 {
            let message = format!("{left} more differences from the lock are not shown");
            self.fail(&mcp_rules::behaviour::LOCK_DRIFT, on, 0, message, Drift::HELP);
        }
    }
}

/// The places of listed items in a conversation.
#[derive(Debug, Default)]
struct Places {
    opening: u64,
    /// The last line of each list.
    lists: BTreeMap<Part, u64>,
    entries: BTreeMap<(Part, String), Place>,
}

/// A place in a conversation.
#[derive(Debug, Clone, Default)]
struct Place {
    line: u64,
    pointer: String,
}

impl Places {
    fn of(conversation: &Conversation) -> Places {
        let mut places = Places::default();
        for message in conversation.since(0) {
            if message.kind != Kind::Result {
                continue;
            }
            let result = &message.value["result"];
            if places.opening == 0 && result.get("capabilities").is_some() {
                places.opening = message.line;
            }
            for part in Part::ALL.into_iter().filter(|part| part.method().is_some()) {
                let member = part.as_str();
                let Some(entries) = result[member].as_array() else { continue };
                places.lists.insert(part, message.line);
                for (index, entry) in entries.iter().enumerate() {
                    let pointer = format!("/result/{member}/{index}");
                    let place = Place { line: message.line, pointer };
                    places.entries.entry((part, part.name_of(entry))).or_insert(place);
                }
            }
        }
        places
    }

    fn of_drift(&self, drift: &Drift) -> Place {
        let pointer = drift.shows_at();
        let opening = |pointer: String| Place { line: self.opening, pointer };
        match (drift.part, &drift.name) {
            (Some(part), Some(name)) => {
                let entry = self.entries.get(&(part, name.clone())).cloned();
                let list = || {
                    let line = self.lists.get(&part).copied().unwrap_or(self.opening);
                    Place { line, pointer: format!("/result/{}", part.as_str()) }
                };
                let mut place = entry.unwrap_or_else(list);
                place.pointer.push_str(pointer);
                place
            }
            (Some(part), None) => opening(format!("/result/{}{pointer}", part.as_str())),
            (None, _) => opening("/result".to_owned()),
        }
    }
}
