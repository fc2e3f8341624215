use mcp_core::{RequestId, Revision, Side};

use super::Moment;
use crate::findings::{Fault, Findings};

/// Faults that only the conversation reveals, noted while following and reported when the message
/// is judged. Takes the size of a pointer until something is noted, which is rare.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Option<Box<Noted>>);

#[derive(Debug, Clone, Default)]
struct Noted {
    /// Dropped if the message is broken in an earlier layer: one fault, one report.
    deep: Vec<Fault>,
    always: Vec<Fault>,
    /// Why the message could not be judged.
    unjudged: Vec<Fault>,
    changes: Vec<Change>,
}

/// A change of state for a request of `asker`.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) asker: Side,
    pub(crate) id: RequestId,
    pub(crate) to: Fate,
}

/// The new state of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    Closed,
    Cancelled(Moment),
    Lost,
    Repeated,
}

impl Notes {
    /// Notes a fault of a message with a valid envelope and payload; dropped otherwise.
    #[cold]
    pub(crate) fn note(&mut self, fault: Fault) {
        self.noted().deep.push(fault);
    }

    /// Notes a fault that is reported whatever else is wrong with the message: one of an earlier
    /// message, or of what carried it.
    #[cold]
    pub(crate) fn always(&mut self, fault: Fault) {
        self.noted().always.push(fault);
    }

    /// Notes that the message, or the HTTP around it, cannot be judged, whatever the level of the rule.
    #[cold]
    pub(crate) fn leave_unjudged(&mut self, fault: Fault) {
        self.noted().unjudged.push(fault);
    }

    /// Notes that this request of `asker` needs no answer any more: it was refused by other means,
    /// or its loss has been reported.
    #[cold]
    pub(crate) fn close(&mut self, asker: Side, id: RequestId) {
        self.noted().changes.push(Change { asker, id, to: Fate::Closed });
    }

    /// Notes that the answer to this request of the client did not arrive where it should have,
    /// which was or may yet be reported. It may still arrive elsewhere.
    #[cold]
    pub(crate) fn lose(&mut self, id: RequestId) {
        self.noted().changes.push(Change { asker: Side::Client, id, to: Fate::Lost });
    }

    /// Notes that this request of `asker` was delivered more than once, so that only the asker is
    /// to blame for more than one answer.
    #[cold]
    pub(crate) fn repeat(&mut self, asker: Side, id: RequestId) {
        self.noted().changes.push(Change { asker, id, to: Fate::Repeated });
    }

    /// Notes that `asker` abandoned this request by means other than a notification.
    #[cold]
    pub(crate) fn cancel(&mut self, asker: Side, id: RequestId, at: Moment) {
        self.noted().changes.push(Change { asker, id, to: Fate::Cancelled(at) });
    }

    #[inline]
    pub(crate) fn take_changes(&mut self) -> Vec<Change> {
        self.0.as_mut().map(|noted| std::mem::take(&mut noted.changes)).unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|noted| {
            noted.deep.is_empty() && noted.always.is_empty() && noted.unjudged.is_empty()
        })
    }

    /// Whether nothing was ever noted, not even a change.
    #[inline]
    pub(crate) fn are_blank(&self) -> bool {
        self.0.is_none()
    }

    fn noted(&mut self) -> &mut Noted {
        self.0.get_or_insert_default()
    }

    /// Marks these as faults of a session in `revision`.
    pub(crate) fn under(&mut self, revision: Revision) {
        if let Some(noted) = &mut self.0 {
            for fault in noted.deep.iter_mut().chain(&mut noted.always) {
                fault.under_unless_said(revision);
            }
        }
    }

    /// Appends the notes of `other`.
    pub(crate) fn append(&mut self, other: Notes) {
        let Some(mut other) = other.0 else { return };
        let noted = self.noted();
        noted.deep.append(&mut other.deep);
        noted.always.append(&mut other.always);
        noted.unjudged.append(&mut other.unjudged);
        noted.changes.append(&mut other.changes);
    }

    /// Reports the faults; `sound` tells whether the message passed the layers before.
    #[inline]
    pub(crate) fn report(&self, sound: bool, findings: &mut Findings<'_>) {
        if let Some(noted) = &self.0 {
            noted.report(sound, findings);
        }
    }
}

impl Noted {
    #[cold]
    fn report(&self, sound: bool, findings: &mut Findings<'_>) {
        let deep = self.deep.iter().filter(|_| sound);
        for fault in self.always.iter().chain(deep) {
            findings.report(fault.clone());
        }
        for fault in &self.unjudged {
            findings.leave_unjudged(fault.clone());
        }
    }
}
