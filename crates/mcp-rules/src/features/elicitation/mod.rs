//! Elicitation: forms and links for the user, and the answers.

pub(crate) mod conversation;
pub(crate) mod message;

pub(crate) use self::{
    conversation::{Elicitation, check_answer},
    message::{SCHEMA_UNSUPPORTED, check_error_data, check_request, explain_mode, is_url_mode},
};
