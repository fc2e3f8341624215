//! Authorization, as far as the wire shows it.

use serde::{Deserialize, Serialize};

use super::{Exchange, HttpEvent};
use crate::session::{Known, Notes};

rules! {}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Auth {}

/// What is remembered of one exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {}

impl Auth {
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
        *self = Auth::default();
    }
}
