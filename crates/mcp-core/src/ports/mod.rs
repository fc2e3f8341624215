//! The interfaces between the domain and its adapters.
//!
//! Every port is object-safe; futures are boxed. None requires a particular runtime.

mod clock;
mod contract;
mod handler;
mod message_ends;
mod peer;
mod refusal;
mod seal;
mod session_store;
mod transport;

pub use clock::Clock;
pub use contract::{Contract, ContractError, ContractKind, Contracts, Unchecked};
pub use handler::{Call, Handler, UncheckedResponse};
pub use message_ends::MessageEnds;
pub use peer::{OutgoingRequest, Peer, PeerError};
pub use refusal::{Refusal, RefusalReason};
pub use seal::Seal;
pub use session_store::{
    Append, AppendOutcome, LogEnd, LogReplacement, MissedEntries, SessionStore, StoreError,
};
pub use transport::{
    Framing, Inbound, MessageHeaders, Outbound, OutboundRole, ResponseStatus, Ticket, Transport,
    TransportError,
};

pub use futures_util::future::BoxFuture;
