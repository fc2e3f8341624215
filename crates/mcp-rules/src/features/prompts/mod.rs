//! Prompts: listings and requests.

pub(crate) mod conversation;
pub(crate) mod message;

pub(crate) use self::{
    conversation::Prompts,
    message::{check_get, check_list},
};
