//! What may be cancelled, and what comes after.

use serde::{Deserialize, Serialize};

use super::{Asked as AskedParts, Event, Known, Notes};

rules! {}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Cancellation {}

impl Cancellation {
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
        *self = Cancellation::default();
    }
}
