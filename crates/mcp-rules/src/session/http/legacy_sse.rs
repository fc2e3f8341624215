//! The HTTP+SSE transport of 2024-11-05.

use serde::{Deserialize, Serialize};

use super::{Exchange, HttpEvent};
use crate::session::{Known, Notes};

rules! {}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LegacySse {}

impl LegacySse {
    pub(super) fn follow(
        &mut self,
        event: &HttpEvent<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
    }

    /// The session has ended.
    pub(super) fn finish(&mut self, known: &Known<'_>, notes: &mut Notes) {}

    /// A new session begins on the same endpoint.
    pub(super) fn restart(&mut self) {
        *self = LegacySse::default();
    }
}
