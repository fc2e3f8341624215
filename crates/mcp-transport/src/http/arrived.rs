use bytes::Bytes;
use mcp_core::{Inbound, Refusal, Ticket};
use mcp_json::Parsed;

/// A received message, with the results of parsing and judging it if that has already been done.
#[derive(Debug)]
pub(crate) enum Arrived {
    Text(Bytes),
    Parsed {
        message: Parsed,
        /// See [`Inbound::Parsed`].
        refusals: Option<Vec<Refusal>>,
    },
}

impl Arrived {
    pub(crate) fn new(bytes: Bytes, parsed: Option<Parsed>) -> Arrived {
        match parsed {
            Some(message) => Arrived::Parsed { message, refusals: None },
            None => Arrived::Text(bytes),
        }
    }

    /// Adds the verdict of a watch.
    pub(crate) fn judged(self, refusals: Option<Vec<Refusal>>) -> Arrived {
        match self {
            Arrived::Text(bytes) => Arrived::Text(bytes),
            Arrived::Parsed { message, .. } => Arrived::Parsed { message, refusals },
        }
    }

    /// The length of its text.
    pub(crate) fn len(&self) -> usize {
        match self {
            Arrived::Text(bytes) => bytes.len(),
            Arrived::Parsed { message, .. } => message.source().len(),
        }
    }

    pub(crate) fn inbound(self, ticket: Option<Ticket>) -> Inbound {
        match self {
            Arrived::Text(bytes) => Inbound::Message { ticket, bytes },
            Arrived::Parsed { message, refusals } => Inbound::Parsed { ticket, message, refusals },
        }
    }

    /// Converts it to the body of a response that rejects an exchange.
    pub(crate) fn error_body(self, ticket: Ticket) -> Inbound {
        let (bytes, refusals) = match self {
            Arrived::Text(bytes) => (bytes, None),
            Arrived::Parsed { message, refusals } => (message.source().clone(), refusals),
        };
        Inbound::ErrorBody { ticket, bytes, refusals }
    }
}
