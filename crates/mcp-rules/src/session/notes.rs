use mcp_core::{RequestId, Revision, Side};

use super::Moment;
use crate::findings::{Fault, Findings};

/// Faults that only the conversation shows, noted while following and reported when the message is
/// judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    /// Left out if the message is broken in an earlier layer: one fault, one report.
    deep: Vec<Fault>,
    always: Vec<Fault>,
    closed: Vec<(Side, RequestId)>,
    cancelled: Vec<(Side, RequestId, Moment)>,
    repeated: Vec<(Side, RequestId)>,
}

impl Notes {
    /// Notes a fault of a message whose envelope and payload are sound; it is dropped otherwise.
    pub(crate) fn note(&mut self, fault: Fault) {
        self.deep.push(fault);
    }

    /// Notes a fault that stands whatever else is wrong with the message: one of an earlier
    /// message, or of what carried it.
    pub(crate) fn always(&mut self, fault: Fault) {
        self.always.push(fault);
    }

    /// Notes that no answer is due any more for this request of `asker`: it was refused by other
    /// means, or its loss has been reported.
    pub(crate) fn close(&mut self, asker: Side, id: RequestId) {
        self.closed.push((asker, id));
    }

    /// Notes that this request of `asker` was delivered more than once, so that more than one
    /// answer is nobody's fault but the asker's.
    pub(crate) fn repeat(&mut self, asker: Side, id: RequestId) {
        self.repeated.push((asker, id));
    }

    pub(crate) fn take_repeated(&mut self) -> Vec<(Side, RequestId)> {
        std::mem::take(&mut self.repeated)
    }

    /// Notes that `asker` has given this request up by other means than a notification.
    pub(crate) fn cancel(&mut self, asker: Side, id: RequestId, at: Moment) {
        self.cancelled.push((asker, id, at));
    }

    pub(crate) fn take_cancelled(&mut self) -> Vec<(Side, RequestId, Moment)> {
        std::mem::take(&mut self.cancelled)
    }

    pub(crate) fn take_closed(&mut self) -> Vec<(Side, RequestId)> {
        std::mem::take(&mut self.closed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.deep.is_empty() && self.always.is_empty()
    }

    /// Says that these are faults of a session that was spoken in `revision`.
    pub(crate) fn under(&mut self, revision: Revision) {
        for fault in self.deep.iter_mut().chain(&mut self.always) {
            fault.under_unless_said(revision);
        }
    }

    /// Takes in what `other` says.
    pub(crate) fn append(&mut self, mut other: Notes) {
        self.deep.append(&mut other.deep);
        self.always.append(&mut other.always);
        self.closed.append(&mut other.closed);
        self.cancelled.append(&mut other.cancelled);
        self.repeated.append(&mut other.repeated);
    }

    /// Reports what is to be reported; `sound` says whether the message passed the layers before.
    pub(crate) fn report(&self, sound: bool, findings: &mut Findings<'_>) {
        if self.is_empty() {
            return;
        }
        let deep = self.deep.iter().filter(|_| sound);
        for fault in self.always.iter().chain(deep) {
            findings.report(fault.clone());
        }
    }
}
