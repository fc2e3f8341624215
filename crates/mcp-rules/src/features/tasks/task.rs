use serde::{Deserialize, Serialize};

use crate::conversation::{Asked, MethodRef, Moment, TaskStatus};

/// What is remembered of a task.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Where the answer was that created it.
    pub(super) created: Option<Moment>,
    /// The method of the request that it came from.
    pub(super) original: Option<MethodRef>,
    /// What is remembered of that request, to hold its result to it when that comes.
    pub(super) asked: Option<Box<Asked>>,
    /// The last status that was reported.
    pub(super) status: Option<Reported>,
    /// The result that `tasks/result` brought.
    pub(super) delivered: Option<Delivered>,
    pub(super) polled: Polled,
}

/// A place in the order of messages about tasks.
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
    /// Whether it is a failed tool call that was not held against the status yet.
    pub(super) is_error: bool,
}

/// How often a task is asked for.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Polled {
    /// The milliseconds its owner wants between two questions.
    pub(super) interval: Option<i64>,
    /// The last `tasks/get`, unless there has been a notification since.
    pub(super) last: Option<Moment>,
}

impl Task {
    /// The final status that has been reported.
    pub(super) fn end(&self) -> Option<Reported> {
        self.status.filter(|reported| reported.status.is_final())
    }
}

impl Stamp {
    /// Whether something was said after this for certain. An answer was if its request was sent
    /// later; the two may have crossed otherwise. Anything else was if it came later on the same
    /// stream.
    pub(super) fn is_before(self, requested: Option<u64>, now: Moment) -> bool {
        match requested {
            Some(number) => self.number < number,
            None => self.at.surely_before(now),
        }
    }
}
