//! What a server offers, pinned: a lock is written once, reviewed, and compared ever after.
//!
//! Descriptions reach models, so a description that changes after a user has agreed to it is a way
//! to attack. A lock has everything that is offered, by revision. How it is written to a file is up
//! to whoever keeps it; here it is compared, with a whole offer or with what passes by.

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

/// What it offered at one revision. Entries of lists are sorted: their order is no promise.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LockedOffer {
    server: Value,
    parts: BTreeMap<Part, Value>,
}

impl Lock {
    /// What was offered at a revision.
    pub fn at(&self, revision: Revision) -> Option<&LockedOffer> {
        self.offers.get(&revision)
    }

    /// The revisions that the server spoke.
    pub fn revisions(&self) -> impl Iterator<Item = Revision> {
        self.offers.keys().copied()
    }

    /// Everything, by revision.
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
    /// An offer of a server, with nothing in it yet. The server is there for information.
    pub fn of(server: Value) -> LockedOffer {
        LockedOffer { server, ..LockedOffer::default() }
    }

    /// The same with a part of it.
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

    /// A part of it; null if there was none.
    pub fn part(&self, part: Part) -> &Value {
        self.parts.get(&part).unwrap_or(&Value::Null)
    }

    /// The entries of a part that is a list.
    pub fn entries(&self, part: Part) -> &[Value] {
        self.part(part).as_array().map(Vec::as_slice).unwrap_or_default()
    }
}
