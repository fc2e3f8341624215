use std::net::IpAddr;

/// The address of the client, in the extensions of a request. [`serve`](super::serve) inserts it.
/// Insert it yourself if you use another server, or know it from a proxy that you trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an address and nothing else")]
pub struct RemoteAddress(pub IpAddr);
