//! What 2026-07-28 requires of every message, as no handshake states it once.

pub(crate) mod conversation;
mod deprecated;
pub(crate) mod initiative;
pub(crate) mod message;
mod negotiation;

pub(crate) use self::{
    conversation::Modern,
    message::{
        REQUEST_META_MISSING, ResultType, check_client_info, check_extensions, check_result_type,
        is_complete, meta_help, report_server_info,
    },
};
