//! Tools: listings, calls and results.

pub(crate) mod conversation;
pub(crate) mod message;
mod order;
pub(crate) mod portability;
pub(crate) mod schema;
pub(crate) mod x_mcp_header;

pub(crate) use self::{
    conversation::Tools,
    message::{check_call, check_list, check_tool},
};
