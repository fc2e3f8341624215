//! What a server offers, pinned: a lock is written once, reviewed, and compared ever after.
//!
//! Descriptions reach models, so a description that changes after a user has agreed to it is a way
//! to attack. A lock has a readable copy of everything that is offered, by revision, with digests
//! that show at a glance what differs between two locks.

mod compare;
mod document;
mod drift;
mod place;

use std::collections::BTreeMap;

use mcp_core::Revision;
use serde_json::Value;

pub use self::{
    document::{LOCK_BYTES, LockDocument, LockError},
    drift::{Change, Drift, Part},
};
use crate::{Found, Offer};

/// What a server offered when it was locked, by revision.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lock {
    offers: BTreeMap<Revision, LockedOffer>,
}

/// What it offered at one revision. Entries of lists are sorted: their order is no promise.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LockedOffer {
    server: Value,
    parts: BTreeMap<Part, Value>,
}

impl Lock {
    /// A lock of what was found.
    pub fn of(found: &Found) -> Lock {
        let offers = found.offers.iter().map(|(revision, offer)| (*revision, offer.into()));
        Lock { offers: offers.collect() }
    }

    /// What was offered at a revision.
    pub fn at(&self, revision: Revision) -> Option<&LockedOffer> {
        self.offers.get(&revision)
    }

    /// The revisions that the server spoke.
    pub fn revisions(&self) -> impl Iterator<Item = Revision> {
        self.offers.keys().copied()
    }
}

impl LockedOffer {
    /// A part of it; null if there was none.
    pub fn part(&self, part: Part) -> &Value {
        self.parts.get(&part).unwrap_or(&Value::Null)
    }

    fn entries(&self, part: Part) -> &[Value] {
        self.part(part).as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

impl From<&Offer> for LockedOffer {
    fn from(offer: &Offer) -> LockedOffer {
        let parts = Part::ALL.into_iter().map(|part| (part, part.of(offer)));
        LockedOffer { server: offer.server.clone(), parts: parts.collect() }
    }
}

#[cfg(test)]
mod tests;
