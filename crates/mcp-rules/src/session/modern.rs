//! What 2026-07-28 asks of requests and answers that depend on each other.

use serde::{Deserialize, Serialize};

use super::{Asked as AskedParts, Event, Known, Notes};

rules! {}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Modern {}

/// What is remembered of a request until its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Asked {}

impl Modern {
    pub(super) fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut AskedParts,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
    }

    /// The session has ended.
    pub(super) fn finish(&mut self, known: &Known<'_>, notes: &mut Notes) {}

    /// A new session begins on the same endpoint.
    pub(super) fn restart(&mut self) {
        *self = Modern::default();
    }
}
