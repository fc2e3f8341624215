//! Locks: made from a discovery, compared with another one, and kept in a file. [`mcp_rules::lock`]
//! defines what a lock is and how it is compared.

mod document;
mod place;

use mcp_rules::lock::{Change, Drift, Lock, LockedOffer, Part};
use serde_json::{Value, json};

pub use self::document::{LOCK_BYTES, LockDocument, LockError};
use crate::{Discovery, Offer};

impl Discovery {
    /// Makes a lock of the discovery.
    pub fn lock(&self) -> Lock {
        self.offers.iter().map(|(revision, offer)| (*revision, locked(offer))).collect()
    }

    /// All differences from a lock, at the revisions that were tried.
    pub fn drifts_from(&self, lock: &Lock) -> Vec<Drift> {
        let mut drifts = Vec::new();
        let whole = |revision, change| Drift { revision, part: None, name: None, change };
        for revision in self.refused.keys().filter(|revision| lock.at(**revision).is_some()) {
            drifts.push(whole(*revision, Change::Removed));
        }
        for (revision, offer) in &self.offers {
            match lock.at(*revision) {
                Some(before) => drifts.extend(before.compare(*revision, &locked(offer))),
                None => drifts.push(whole(*revision, Change::Added)),
            }
        }
        drifts
    }
}

fn locked(offer: &Offer) -> LockedOffer {
    let list = |entries: &[Value]| Value::Array(entries.to_vec());
    LockedOffer::of(offer.server.clone())
        .with(Part::Capabilities, offer.capabilities.clone())
        .with(Part::Instructions, json!(offer.instructions))
        .with(Part::Tools, list(&offer.tools))
        .with(Part::Prompts, list(&offer.prompts))
        .with(Part::Resources, list(&offer.resources))
        .with(Part::Templates, list(&offer.templates))
}

#[cfg(test)]
mod tests;
