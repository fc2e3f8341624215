//! Compares how a server handles versions across sessions.

use crate::{
    Followed,
    conversation::{Bounded, Negotiation},
};

/// The versions that servers have accepted, and on which line.
#[derive(Debug, Default)]
pub(super) struct AcceptedVersions(Bounded<Accepted, u64>);

/// Name and version of a server, and a protocol version.
type Accepted = (Box<str>, Box<str>, Box<str>);

impl AcceptedVersions {
    /// Checks that a server seen in several sessions is consistent; keeps at most `capacity`
    /// entries.
    pub(super) fn compare(&mut self, number: u64, followed: &mut Followed, capacity: usize) {
        if let Followed::One(context) = followed
            && let Some(negotiation) = context.negotiated.take()
        {
            let Negotiation { server: (name, version), requested, answered } = &*negotiation;
            let accepted = (name.clone(), version.clone(), requested.clone());
            if requested == answered {
                self.0.insert(accepted, number, capacity);
            } else if let Some(line) = self.0.get(&accepted) {
                context.notes.note(negotiation.inconsistent(Some(*line)));
            }
        }
    }
}
