//! Results that ask for input (2026-07-28): the questions, and the retries that carry the answers.

pub(crate) mod conversation;
pub(crate) mod message;
mod pending;
mod retry;

pub(crate) use self::{
    conversation::{Inputs, RESPONSE_TYPE, RETRIED},
    message::{
        REQUEST_INVALID, check_not_empty, check_requests, check_responses, method_of,
        report_not_allowed,
    },
};
