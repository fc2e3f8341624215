//! Tasks of 2025-11-25.

pub(crate) mod conversation;
mod creation;
pub(crate) mod message;
mod operations;
mod outcome;
mod report;
mod task;

pub(crate) use self::{
    conversation::{Tasks, original, subject},
    message::{RESULT_TYPE, check, check_list, report_unexpected, speaks_for},
    report::{Report, created, reports},
};
