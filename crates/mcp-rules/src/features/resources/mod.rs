//! Resources: listings and reads, and subscriptions up to 2025-11-25.

pub(crate) mod conversation;
pub(crate) mod message;

pub(crate) use self::{
    conversation::Resources,
    message::{
        URI_PROVIDER, check_list, check_member, check_read, check_template, check_templates,
        check_uri, report_text_and_blob,
    },
};
