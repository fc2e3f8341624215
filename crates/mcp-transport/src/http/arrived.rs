use bytes::Bytes;
use mcp_core::{Inbound, Ticket};
use mcp_json::Parsed;

/// A message that has arrived. If it was parsed on the way, nobody has to do so again.
#[derive(Debug)]
pub(crate) enum Arrived {
    Text(Bytes),
    Parsed(Parsed),
}

impl Arrived {
    pub(crate) fn new(bytes: Bytes, parsed: Option<Parsed>) -> Arrived {
        parsed.map_or(Arrived::Text(bytes), Arrived::Parsed)
    }

    pub(crate) fn inbound(self, ticket: Option<Ticket>) -> Inbound {
        match self {
            Arrived::Text(bytes) => Inbound::Message { ticket, bytes },
            Arrived::Parsed(message) => Inbound::Parsed { ticket, message },
        }
    }

    /// The bytes of the message.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self {
            Arrived::Text(bytes) => bytes,
            Arrived::Parsed(message) => message.source().clone(),
        }
    }
}
