//! Compares what a server offers with the lock, if there is one.
//!
//! Each page of a list is compared on its own, so that new or changed entries are known before the
//! page is passed on. Missing entries are known once a list was read to its end without a change in
//! between.

use std::collections::{BTreeMap, BTreeSet};

use mcp_core::{Revision, Side};
use mcp_json::Node;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Family;
use crate::{
    behaviour,
    conversation::{Event, Known, Notes, Remembered, Topic, asked::AskedPage, digest::digest},
    findings::Fault,
    lock::{Change, Drift, Lock, LockedOffer, Part},
};

/// Maximum number of differences reported per message; the others are only counted.
const MOST: usize = 100;

/// The lists that are being read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Locked(Option<Box<Lists>>);

/// The pages read so far of each list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Lists(BTreeMap<Part, Pages>);

/// The pages of a list that were read so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Pages {
    /// Digest of the cursor that continues them.
    next: u64,
    /// Digests of the names found so far that are in the lock, which bounds their number.
    seen: BTreeSet<u64>,
}

impl Locked {
    /// Whether nothing is remembered; always so without a lock.
    pub(crate) fn is_blank(&self) -> bool {
        self.0.is_none()
    }
}

impl Family for Locked {
    fn concerns(event: &Event<'_>) -> bool {
        event.from == Side::Server
            && (event.topic == Topic::Handshake
                || event.name == "server/discover"
                || event.name.ends_with("/list")
                || event.name.ends_with("/list_changed"))
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        _: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let Some(lock) = known.criteria.lock() else { return };
        if let Some(name) = event.call() {
            return self.forget(name);
        }
        let (Some(request), Some(result)) = (event.answered(), event.result()) else { return };
        match event.name {
            "initialize" => {
                let version = result.get("protocolVersion").and_then(Node::as_str);
                let revision = version.and_then(|version| version.parse::<Revision>().ok());
                if let Some(revision) = revision {
                    compare_opening(lock, revision, result, notes);
                }
            }
            "server/discover" if event.settled && !event.approximate => {
                compare_opening(lock, event.revision, result, notes);
            }
            name => {
                let locked = lock.at(event.revision).filter(|_| event.settled);
                let page = request.asked.page.as_deref();
                if let (Some(part), Some(locked), Some(page)) =
                    (Part::listed_by(name), locked, page)
                {
                    let is_current = page.changes == known.listings.changes(name);
                    let listed = Listed { part, locked, page, is_current, result };
                    self.compare_page(event, &listed, notes);
                }
            }
        }
    }
}

/// A page of a list, with what it is compared with.
struct Listed<'a> {
    part: Part,
    locked: &'a LockedOffer,
    page: &'a AskedPage,
    /// Whether the list has not changed since the page was requested.
    is_current: bool,
    result: Node<'a>,
}

impl Locked {
    /// Forgets the pages read of a list that has changed.
    fn forget(&mut self, notification: &str) {
        if let Some(lists) = &mut self.0 {
            lists.0.retain(|part, _| part.changed_by() != Some(notification));
        }
    }

    fn compare_page(&mut self, event: &Event<'_>, listed: &Listed<'_>, notes: &mut Notes) {
        let Listed { part, locked, page, is_current, result } = *listed;
        let before = self.0.as_mut().and_then(|lists| lists.0.remove(&part));
        // The result may ask for input instead.
        let Some(list) = result.get(part.as_str()).filter(|list| list.is_array()) else { return };
        let seen = match (page.cursor, before) {
            _ if !is_current => None,
            (None, _) => Some(BTreeSet::new()),
            (Some(cursor), Some(before)) if before.next == cursor => Some(before.seen),
            (Some(_), _) => None,
        };
        let next = result.get("nextCursor").filter(|next| !next.is_null());
        let is_whole = page.cursor.is_none() && next.is_none() && is_current;
        let entries = list.elements().map(Node::to_value).collect();
        let mut drifts = locked.compare_list(event.revision, part, entries, is_whole);
        let is_single = page.cursor.is_none() && next.is_none();
        if let Some(mut seen) = seen.filter(|_| !is_single) {
            let names: BTreeSet<String> =
                locked.entries(part).iter().map(|entry| part.name_of(entry)).collect();
            let listed = list.elements().map(|entry| part.name_of_node(entry));
            let listed = listed.filter(|name| names.contains(name));
            seen.extend(listed.map(|name| digest(name.as_bytes())));
            match next.map(Node::str_bytes) {
                None => drifts.extend(gone(event.revision, part, names, &seen)),
                Some(Some(next)) => {
                    let pages = Pages { next: digest(&next), seen };
                    self.0.get_or_insert_default().0.insert(part, pages);
                }
                Some(None) => {}
            }
        }
        if self.0.as_ref().is_some_and(|lists| lists.0.is_empty()) {
            self.0 = None;
        }
        report(&drifts, list, Some(part), notes);
    }
}

/// The names that no page has.
fn gone(
    revision: Revision,
    part: Part,
    names: BTreeSet<String>,
    seen: &BTreeSet<u64>,
) -> impl Iterator<Item = Drift> {
    let missing = names.into_iter().filter(|name| !seen.contains(&digest(name.as_bytes())));
    let part = Some(part);
    missing.map(move |name| Drift { revision, part, name: Some(name), change: Change::Removed })
}

/// Compares capabilities and instructions, which a server sends when a conversation begins.
fn compare_opening(lock: &Lock, revision: Revision, result: Node<'_>, notes: &mut Notes) {
    let Some(locked) = lock.at(revision) else {
        let spoken = Drift { revision, part: None, name: None, change: Change::Added };
        return report(&[spoken], result, None, notes);
    };
    for part in [Part::Capabilities, Part::Instructions] {
        let now = result.get(part.as_str());
        let value = now.map_or(Value::Null, Node::to_value);
        let drifts = locked.compare_part(revision, part, &value);
        report(&drifts, now.unwrap_or(result), None, notes);
    }
}

/// Notes differences, each at its place in `around`: the list, or another part of the result.
fn report(drifts: &[Drift], around: Node<'_>, list: Option<Part>, notes: &mut Notes) {
    if drifts.is_empty() {
        return;
    }
    let mut places: BTreeMap<String, Node<'_>> = BTreeMap::new();
    if let Some(part) = list {
        for entry in around.elements() {
            places.entry(part.name_of_node(entry)).or_insert(entry);
        }
    }
    let left = drifts.len().saturating_sub(MOST);
    for drift in drifts.iter().take(MOST) {
        let entry = drift.name.as_ref().and_then(|name| places.get(name)).copied();
        let place = entry.unwrap_or(around);
        let place = place.pointer(drift.shows_at()).unwrap_or(place);
        let fault = Fault::new(drift.rule(), drift.to_string()).at(place.span());
        notes.note(fault.under(drift.revision).help(Drift::HELP));
    }
    if left > 0 {
        let message = format!("{left} more differences from the lock are not shown");
        notes.note(Fault::new(&behaviour::LOCK_DRIFT, message).at(around.span()).help(Drift::HELP));
    }
}
