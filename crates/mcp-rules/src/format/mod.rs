//! Text formats that no schema can express: checks whether a text matches one, and nothing else.

pub(crate) mod base64;
pub(crate) mod date_time;
pub(crate) mod meta_key;
pub(crate) mod secret;
pub(crate) mod token;
pub(crate) mod trace_context;
pub(crate) mod web_origin;
