//! Event streams: what they carry, event ids, redelivery.

use serde::{Deserialize, Serialize};

use super::{Delivery, Exchange, HttpEvent};
use crate::session::{Known, Notes};

rules! {}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Streams {}

/// What is remembered of one exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {}

impl Streams {
    pub(super) fn follow(
        &mut self,
        event: &HttpEvent<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) -> Delivery {
        Delivery::Fresh
    }

    /// The session has ended.
    pub(super) fn finish(&mut self, known: &Known<'_>, notes: &mut Notes) {}

    /// A new session begins on the same endpoint.
    pub(super) fn restart(&mut self) {
        *self = Streams::default();
    }
}
