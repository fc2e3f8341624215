use mcp_core::{RequestId, Revision, Side};

use super::Moment;
use crate::findings::{Fault, Findings};

/// Faults that only the conversation shows, noted while following and reported when the message is
/// judged. Takes the room of a pointer until there is something to note, which is rare.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Option<Box<Noted>>);

#[derive(Debug, Clone, Default)]
struct Noted {
    /// Left out if the message is broken in an earlier layer: one fault, one report.
    deep: Vec<Fault>,
    always: Vec<Fault>,
    changes: Vec<Change>,
}

/// What is to become of a request of `asker`.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) asker: Side,
    pub(crate) id: RequestId,
    pub(crate) to: Fate,
}

/// How a request is to be looked at from now on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    Closed,
    Cancelled(Moment),
    Lost,
    Repeated,
}

impl Notes {
    /// Notes a fault of a message whose envelope and payload are sound; it is dropped otherwise.
    pub(crate) fn note(&mut self, fault: Fault) {
        self.noted().deep.push(fault);
    }

    /// Notes a fault that stands whatever else is wrong with the message: one of an earlier
    /// message, or of what carried it.
    pub(crate) fn always(&mut self, fault: Fault) {
        self.noted().always.push(fault);
    }

    /// Notes that no answer is due any more for this request of `asker`: it was refused by other
    /// means, or its loss has been reported.
    pub(crate) fn close(&mut self, asker: Side, id: RequestId) {
        self.noted().changes.push(Change { asker, id, to: Fate::Closed });
    }

    /// Notes that it was reported, or may be yet, that the answer to this request of the client did
    /// not come where it should have. It may still come elsewhere.
    pub(crate) fn lose(&mut self, id: RequestId) {
        self.noted().changes.push(Change { asker: Side::Client, id, to: Fate::Lost });
    }

    /// Notes that this request of `asker` was delivered more than once, so that more than one
    /// answer is nobody's fault but the asker's.
    pub(crate) fn repeat(&mut self, asker: Side, id: RequestId) {
        self.noted().changes.push(Change { asker, id, to: Fate::Repeated });
    }

    /// Notes that `asker` has given this request up by other means than a notification.
    pub(crate) fn cancel(&mut self, asker: Side, id: RequestId, at: Moment) {
        self.noted().changes.push(Change { asker, id, to: Fate::Cancelled(at) });
    }

    pub(crate) fn take_changes(&mut self) -> Vec<Change> {
        self.0.as_mut().map(|noted| std::mem::take(&mut noted.changes)).unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|noted| noted.deep.is_empty() && noted.always.is_empty())
    }

    fn noted(&mut self) -> &mut Noted {
        self.0.get_or_insert_default()
    }

    /// Says that these are faults of a session that was spoken in `revision`.
    pub(crate) fn under(&mut self, revision: Revision) {
        if let Some(noted) = &mut self.0 {
            for fault in noted.deep.iter_mut().chain(&mut noted.always) {
                fault.under_unless_said(revision);
            }
        }
    }

    /// Takes in what `other` says.
    pub(crate) fn append(&mut self, other: Notes) {
        let Some(mut other) = other.0 else { return };
        let noted = self.noted();
        noted.deep.append(&mut other.deep);
        noted.always.append(&mut other.always);
        noted.changes.append(&mut other.changes);
    }

    /// Reports what is to be reported; `sound` says whether the message passed the layers before.
    pub(crate) fn report(&self, sound: bool, findings: &mut Findings<'_>) {
        let Some(noted) = &self.0 else { return };
        let deep = noted.deep.iter().filter(|_| sound);
        for fault in noted.always.iter().chain(deep) {
            findings.report(fault.clone());
        }
    }
}
