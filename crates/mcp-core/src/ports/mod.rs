//! The interfaces between the domain and its adapters.
//!
//! Every port is object-safe; futures are boxed. None requires a particular runtime.

mod clock;
mod contract;
mod edges;
mod handler;
mod peer;
mod refusal;
mod seal;
mod transport;

pub use clock::Clock;
pub use contract::{Contract, ContractRefused, Contracts, Purpose, Unchecked};
pub use edges::Edges;
pub use handler::{Answer, Call, Handler};
pub use peer::{Ask, Peer, PeerError};
pub use refusal::{Refusal, RefusalReason};
pub use seal::Seal;
pub use transport::{
    Carriage, Inbound, MessageHeaders, Outbound, OutboundRole, ResponseStatus, Ticket, Transport,
    TransportError,
};

pub use futures_util::future::BoxFuture;
