//! Schemas that peers have sent, shared by the sessions of an engine, as a server usually lists the
//! same tools to everyone.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
};

use mcp_core::Revision;
use mcp_json::{Limits, Tape};
use mcp_schema::ToolSchemas;

use crate::contract::SchemaContract;

/// Minimum number of schemas before those that no session holds any more are removed.
const MANY: usize = 1_000;

/// A schema as its text, compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct SharedSchema {
    text: Box<str>,
    /// Digest of the text.
    digest: u64,
    revision: Revision,
    contract: OnceLock<SchemaContract>,
}

impl SharedSchema {
    pub(crate) fn new(text: Box<str>, digest: u64, revision: Revision) -> SharedSchema {
        SharedSchema { text, digest, revision, contract: OnceLock::new() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether it is this text, stated under this revision.
    pub(crate) fn is(&self, text: &[u8], revision: Revision) -> bool {
        self.text.as_bytes() == text && self.revision == revision
    }

    /// The contract it states. The text was parsed before, so `depth` is known to suffice.
    pub(crate) fn contract(&self, tool_schemas: &ToolSchemas, depth: usize) -> &SchemaContract {
        self.contract.get_or_init(|| {
            let mut tape = Tape::new();
            let limits = Limits { max_bytes: usize::MAX, max_depth: depth };
            match tape.parse(self.text.as_bytes(), limits) {
                Ok(document) => SchemaContract::read(tool_schemas, document.root(), self.revision),
                Err(_) => SchemaContract::default(),
            }
        })
    }
}

/// The schemas that sessions currently hold, by weak references.
#[derive(Debug, Default)]
pub(crate) struct SharedSchemas(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    schemas: HashMap<(u64, Revision), Weak<SharedSchema>>,
    /// How many remained at the last cleanup.
    kept: usize,
}

impl SharedSchemas {
    /// Returns the schema with this text and digest. Texts that only share a digest are kept apart.
    pub(crate) fn share(&self, text: &str, digest: u64, revision: Revision) -> Arc<SharedSchema> {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = table.schemas.get(&(digest, revision)).and_then(Weak::upgrade);
        if let Some(known) = known.filter(|known| known.is(text.as_bytes(), revision)) {
            return known;
        }
        let schema = Arc::new(SharedSchema::new(text.into(), digest, revision));
        table.schemas.insert((digest, revision), Arc::downgrade(&schema));
        table.tidy();
        schema
    }
}

impl Table {
    /// Removes schemas that nobody holds any more, at amortised constant cost per insertion.
    fn tidy(&mut self) {
        if self.schemas.len() > 2 * self.kept + MANY {
            self.schemas.retain(|_, schema| schema.strong_count() > 0);
            self.kept = self.schemas.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_shared_while_somebody_holds_it() {
        let schemas = SharedSchemas::default();
        let revision = Revision::LATEST;
        let first = schemas.share("{}", 1, revision);
        assert!(Arc::ptr_eq(&first, &schemas.share("{}", 1, revision)));
        assert!(!Arc::ptr_eq(&first, &schemas.share("{}", 1, Revision::LATEST_LEGACY)));
        let other = schemas.share("true", 1, revision);
        assert_eq!((first.text(), other.text()), ("{}", "true"), "a digest is no proof");
    }

    #[test]
    fn what_nobody_holds_does_not_add_up() {
        let schemas = SharedSchemas::default();
        for digest in 0..10_000 {
            schemas.share("{}", digest, Revision::LATEST);
        }
        assert!(schemas.0.lock().unwrap().schemas.len() <= MANY + 1);
    }
}
