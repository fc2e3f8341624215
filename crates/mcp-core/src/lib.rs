//! The vocabulary of the Model Context Protocol: which revisions there are, who speaks, how a
//! request is named.
//!
//! This crate knows nothing of JSON, JSON-RPC, transports or schemas; everything else depends on
//! it and agrees through it.
//!
//! ```
//! use mcp_core::{Era, RequestId, Revision, Side};
//!
//! let revision: Revision = "2025-11-25".parse()?;
//! assert_eq!(revision.era(), Era::Legacy);
//! assert_eq!(Side::Client.other(), Side::Server);
//! assert_ne!(RequestId::from(1), RequestId::from("1"));
//! # Ok::<(), mcp_core::UnknownRevision>(())
//! ```

mod error;
mod json;
mod message;
mod ports;
mod request_id;
mod revision;
mod side;

pub use error::Error;
pub use json::Json;
pub use message::{Notification, Request, Response};
pub use ports::{
    Ask, BoxFuture, Call, Clock, Contract, ContractRefused, Contracts, Gate, Handler, Inbound,
    Labels, OpenGate, Outbound, OutboundRole, Peer, PeerError, Refusal, RefusalReason, Standing,
    Ticket, Transport, TransportError, Unchecked, Verdict,
};
pub use request_id::RequestId;
pub use revision::{Era, Revision, Revisions, UnknownRevision};
pub use side::Side;
