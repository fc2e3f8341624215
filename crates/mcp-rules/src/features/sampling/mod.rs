//! Sampling: messages and tools for the client's model, and its answers.

/// Maximum number of values per message that are checked against schemas chosen by the peer. Each
/// check may use the full step budget.
const MAX_CHECKS: usize = 64;

pub(crate) mod conversation;
pub(crate) mod message;

pub(crate) use self::{
    conversation::{Sampling, check_answer},
    message::{check_request, check_result},
};
