//! What servers made of versions in one session, held against what they make of them in another.

use crate::{
    Followed,
    conversation::{Bounded, Negotiation},
};

/// Which versions servers have accepted, and on which line.
#[derive(Debug, Default)]
pub(super) struct AcceptedVersions(Bounded<Accepted, u64>);

/// Name and version of a server, and a version of the protocol.
type Accepted = (Box<str>, Box<str>, Box<str>);

impl AcceptedVersions {
    /// Whether a server that is seen in several sessions is of one mind; keeps at most `capacity`.
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
