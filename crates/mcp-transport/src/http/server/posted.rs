use bytes::Bytes;
use mcp_core::{Inbound, Ticket};
use mcp_json::Parsed;

/// The message of a POST. If the application has parsed it, nobody has to do so again.
#[derive(Debug)]
pub(super) enum Posted {
    Text(Bytes),
    Parsed(Parsed),
}

impl Posted {
    pub(super) fn new(bytes: Bytes, parsed: Option<Parsed>) -> Posted {
        parsed.map_or(Posted::Text(bytes), Posted::Parsed)
    }

    pub(super) fn inbound(self, ticket: Option<Ticket>) -> Inbound {
        match self {
            Posted::Text(bytes) => Inbound::Message { ticket, bytes },
            Posted::Parsed(message) => Inbound::Parsed { ticket, message },
        }
    }
}
