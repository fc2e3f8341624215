//! Locks, which pin what a server offers: written once, reviewed, and compared from then on.
//!
//! Descriptions reach models, so changing a description after a user has approved it is an attack
//! vector. A lock contains everything a server offers, by revision. This module compares it with a
//! whole offer or with live traffic; files are left to its users.

mod compare;
mod drift;
mod part;

use std::collections::BTreeMap;

use mcp_core::Revision;
use serde_json::Value;

pub use self::{
    drift::{Change, Drift},
    part::Part,
};

/// What a server offered when it was locked, by revision.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lock {
    offers: BTreeMap<Revision, LockedOffer>,
}

/// What a server offered at one revision. Entries of lists are sorted, as their order may change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LockedOffer {
    server: Value,
    parts: BTreeMap<Part, Value>,
}

impl Lock {
    /// The offer at a revision.
    pub fn at(&self, revision: Revision) -> Option<&LockedOffer> {
        self.offers.get(&revision)
    }

    /// The revisions that the server supported.
    pub fn revisions(&self) -> impl Iterator<Item = Revision> {
        self.offers.keys().copied()
    }

    /// The offers, by revision.
    pub fn iter(&self) -> impl Iterator<Item = (Revision, &LockedOffer)> {
        self.offers.iter().map(|(revision, offer)| (*revision, offer))
    }
}

impl FromIterator<(Revision, LockedOffer)> for Lock {
    fn from_iter<I: IntoIterator<Item = (Revision, LockedOffer)>>(offers: I) -> Lock {
        Lock { offers: offers.into_iter().collect() }
    }
}

impl LockedOffer {
    /// An empty offer. `server` is for information only and is not compared.
    pub fn of(server: Value) -> LockedOffer {
        LockedOffer { server, ..LockedOffer::default() }
    }

    /// Sets a part.
    #[must_use]
    pub fn with(mut self, part: Part, value: Value) -> LockedOffer {
        let value = match value {
            Value::Array(entries) if part.method().is_some() => part.list(entries),
            value => value,
        };
        self.parts.insert(part, value);
        self
    }

    /// The name and the version of the server.
    pub fn server(&self) -> &Value {
        &self.server
    }

    /// A part; null if it was not offered.
    pub fn part(&self, part: Part) -> &Value {
        self.parts.get(&part).unwrap_or(&Value::Null)
    }

    /// The entries of a part that is a list.
    pub fn entries(&self, part: Part) -> &[Value] {
        self.part(part).as_array().map(Vec::as_slice).unwrap_or_default()
    }
}
