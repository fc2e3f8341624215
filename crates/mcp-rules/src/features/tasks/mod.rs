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
    message::{RESULT_TYPE, check, check_list, creates_task, report_unexpected},
    report::{Report, created, reports},
};
