use std::net::IpAddr;

/// The address of the client, in the extensions of a request. [`serve`](super::serve) inserts it;
/// insert it yourself if you use another server, or if a proxy that you trust tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an address and nothing else")]
pub struct RemoteAddress(pub IpAddr);
