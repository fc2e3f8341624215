//! A schema that a message stated, for values in later messages.

use std::sync::OnceLock;

use mcp_core::Revision;
use mcp_json::{Limits, Node, Tape};
use serde::{Deserialize, Serialize};

use super::{Event, Known, digest::digest};
use crate::{contract::Contract, criteria::Criteria};

/// Kept as its text, which is what is saved, and compiled when it is first needed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StatedSchema {
    /// Absent if there was no room for it: it was stated, but nobody can be held to it.
    text: Option<Box<str>>,
    /// Stands for the text.
    digest: u64,
    revision: Revision,
    #[serde(skip)]
    contract: OnceLock<Contract>,
}

impl StatedSchema {
    /// Keeps the schema at `node`, if `room` has as many bytes left as it takes.
    pub(crate) fn of(node: Node<'_>, revision: Revision, room: &mut usize) -> StatedSchema {
        let raw = node.raw();
        let text: Option<Box<str>> = match room.checked_sub(raw.len()) {
            Some(left) => std::str::from_utf8(raw).ok().map(|text| {
                *room = left;
                text.into()
            }),
            None => None,
        };
        let digest = text.as_ref().map_or(0, |text| digest(text.as_bytes()));
        StatedSchema { text, digest, revision, contract: OnceLock::new() }
    }

    /// The same, where `before` is likely to be the same schema: then it stays, compiled as it is.
    pub(crate) fn renewed(
        before: Option<StatedSchema>,
        node: Node<'_>,
        revision: Revision,
        room: &mut usize,
    ) -> StatedSchema {
        let raw = node.raw();
        let is_same = |before: &StatedSchema| {
            let text = before.text.as_ref().map(|text| text.as_bytes());
            text == Some(raw) && before.revision == revision
        };
        match (before.filter(is_same), room.checked_sub(raw.len())) {
            (Some(before), Some(left)) => {
                *room = left;
                before
            }
            _ => StatedSchema::of(node, revision, room),
        }
    }

    /// Stands for its text, if that was kept.
    pub(crate) fn digest(&self) -> Option<u64> {
        self.text.is_some().then_some(self.digest)
    }

    /// Whether both are known to be the same.
    pub(crate) fn equals(&self, other: &StatedSchema) -> bool {
        self.text.is_some() && self.text == other.text
    }

    pub(crate) fn contract(&self, criteria: &Criteria) -> &Contract {
        self.contract.get_or_init(|| self.compile(criteria).unwrap_or_default())
    }

    fn compile(&self, criteria: &Criteria) -> Option<Contract> {
        let mut tape = Tape::new();
        // The text was parsed before, under whatever limits there are.
        let limits = Limits { max_bytes: usize::MAX, ..criteria.settings().limits.json() };
        let document = tape.parse(self.text.as_ref()?.as_bytes(), limits).ok()?;
        Some(Contract::of(criteria, document.root(), self.revision))
    }
}

/// How many bytes of schemas may be kept of a request, out of `most`: nothing if that many are open
/// that all of them together would be a burden.
pub(crate) fn room(event: &Event<'_>, known: &Known<'_>, most: usize) -> usize {
    const MANY: usize = 64;
    if known.requests.count_open(event.from) > MANY { 0 } else { most }
}
