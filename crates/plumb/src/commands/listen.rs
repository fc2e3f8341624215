//! Where servers listen.

use std::net::ToSocketAddrs as _;

/// Whether only this machine can reach an address. What cannot be resolved cannot be reached either.
pub(super) fn is_local(address: &str) -> bool {
    address.to_socket_addrs().is_ok_and(|mut found| found.all(|found| found.ip().is_loopback()))
}
