//! `rmcp`, the Rust SDK: `serde_json` into its message types, as its line transports do.
//!
//! Its types accept almost any well-formed message (there is a variant for custom methods and
//! results), so it is not a validator; it shows the cost of a typed model.

use mcp_core::Side;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};

use super::Contestant;
use crate::corpus::Message;
use crate::corpus::invalid::NoticedBy;

#[derive(Debug)]
pub(super) struct Rmcp;

impl Contestant for Rmcp {
    fn name(&self) -> &'static str {
        super::RMCP
    }

    fn notices(&self) -> NoticedBy {
        NoticedBy::Parsing
    }

    fn verdict(&mut self, message: &Message) -> bool {
        // The transport checks that the line is UTF-8 before it parses it.
        if std::str::from_utf8(&message.bytes).is_err() {
            return false;
        }
        match message.from {
            Side::Client => serde_json::from_slice::<ClientJsonRpcMessage>(&message.bytes).is_ok(),
            Side::Server => serde_json::from_slice::<ServerJsonRpcMessage>(&message.bytes).is_ok(),
        }
    }
}
