//! A schema from one message that values in later messages must match.

use std::sync::Arc;

use mcp_core::Revision;
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::{Event, Known, digest::digest};
use crate::{contract::SchemaContract, criteria::Criteria, shared_schemas::SharedSchema};

/// The contract of a schema that was not kept: nothing.
static NONE: SchemaContract = SchemaContract::none();

/// Shared by all sessions in which the same schema was stated. Absent if there was no space left
/// for it: it was stated, but cannot be enforced.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub(crate) struct StatedSchema(Option<Arc<SharedSchema>>);

/// The serialised form: the text and the revision it was stated under.
#[derive(Serialize, Deserialize)]
struct Saved(Option<(Box<str>, Revision)>);

impl StatedSchema {
    /// Keeps the schema at `node`, if it fits into the bytes left in `room`.
    pub(crate) fn of(
        node: Node<'_>,
        revision: Revision,
        room: &mut usize,
        criteria: &Criteria,
    ) -> StatedSchema {
        let raw = node.raw();
        let left = room.checked_sub(raw.len());
        let Some((left, text)) = left.zip(std::str::from_utf8(raw).ok()) else {
            return StatedSchema(None);
        };
        *room = left;
        StatedSchema(Some(criteria.shared_schemas().share(text, digest(raw), revision)))
    }

    /// The same, where `before` is likely to be the same schema.
    pub(crate) fn renewed(
        before: Option<StatedSchema>,
        node: Node<'_>,
        revision: Revision,
        room: &mut usize,
        criteria: &Criteria,
    ) -> StatedSchema {
        let raw = node.raw();
        let before = before.and_then(|before| before.0);
        match (before.filter(|before| before.is(raw, revision)), room.checked_sub(raw.len())) {
            (Some(before), Some(left)) => {
                *room = left;
                StatedSchema(Some(before))
            }
            _ => StatedSchema::of(node, revision, room, criteria),
        }
    }

    /// Digest of its text, if that was kept.
    pub(crate) fn digest(&self) -> Option<u64> {
        self.0.as_ref().map(|schema| schema.digest())
    }

    /// Whether both are known to be equal.
    pub(crate) fn equals(&self, other: &StatedSchema) -> bool {
        match (&self.0, &other.0) {
            (Some(own), Some(others)) => Arc::ptr_eq(own, others) || own.text() == others.text(),
            _ => false,
        }
    }

    pub(crate) fn contract(&self, criteria: &Criteria) -> &SchemaContract {
        let depth = criteria.settings().limits.depth;
        match &self.0 {
            Some(schema) => schema.contract(criteria.tool_schemas(), depth),
            None => &NONE,
        }
    }
}

impl From<Saved> for StatedSchema {
    fn from(saved: Saved) -> StatedSchema {
        StatedSchema(saved.0.map(|(text, revision)| {
            let digest = digest(text.as_bytes());
            Arc::new(SharedSchema::new(text, digest, revision))
        }))
    }
}

impl From<StatedSchema> for Saved {
    fn from(schema: StatedSchema) -> Saved {
        Saved(schema.0.map(|schema| (schema.text().into(), schema.revision())))
    }
}

/// How many bytes of schemas may be kept for a request, out of `most`: none if so many are open
/// that all of them together would take too much memory.
pub(crate) fn room(event: &Event<'_>, known: &Known<'_>, most: usize) -> usize {
    const MANY: usize = 64;
    if known.requests.count_open(event.from) > MANY { 0 } else { most }
}
