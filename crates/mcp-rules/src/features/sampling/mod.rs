//! Asking the model of the client: messages, tools and the answers.

pub(crate) mod conversation;
pub(crate) mod message;

pub(crate) use self::{
    conversation::{Sampling, check_answer},
    message::{check_request, check_result},
};
