use serde::{Deserialize, Serialize};

use crate::conversation::{Asked, MethodRef, Moment, TaskStatus};

/// State kept per task.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Where it was created.
    pub(super) created: Option<Moment>,
    /// The method of the request that created it.
    pub(super) original: Option<MethodRef>,
    /// State of that request, to judge its result against when that arrives.
    pub(super) asked: Option<Box<Asked>>,
    /// The last reported status.
    pub(super) status: Option<Reported>,
    /// The result delivered by `tasks/result`.
    pub(super) delivered: Option<Delivered>,
    pub(super) polled: Polled,
}

/// A position in the order of messages about tasks.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) at: Moment,
    pub(super) number: u64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Reported {
    pub(super) status: TaskStatus,
    pub(super) stamp: Stamp,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Delivered {
    pub(super) stamp: Stamp,
    /// Whether it is a failed tool call not yet compared with the status.
    pub(super) is_error: bool,
}

/// How often a task is polled.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Polled {
    /// The milliseconds its owner wants between polls.
    pub(super) interval: Option<i64>,
    /// The last `tasks/get`, unless there has been a notification since.
    pub(super) last: Option<Moment>,
}

impl Task {
    /// The final status, if one was reported.
    pub(super) fn end(&self) -> Option<Reported> {
        self.status.filter(|reported| reported.status.is_final())
    }
}

impl Stamp {
    /// Whether a message was definitely sent after this. An answer was if its request was sent
    /// later, as otherwise the two may have crossed; anything else was if it came later on the same
    /// stream.
    pub(super) fn is_before(self, requested: Option<u64>, now: Moment) -> bool {
        match requested {
            Some(number) => self.number < number,
            None => self.at.surely_before(now),
        }
    }
}
