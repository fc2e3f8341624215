//! Sampling: messages and tools for the client's model, and its answers.

/// How many values of one message are held to schemas of the peer's choice. Each may cost as much
/// work as one value may.
const MAX_CHECKS: usize = 64;

pub(crate) mod conversation;
pub(crate) mod message;

pub(crate) use self::{
    conversation::{Sampling, check_answer},
    message::{check_request, check_result},
};
