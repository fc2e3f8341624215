//! Checks of listening addresses.

use std::net::ToSocketAddrs as _;

/// Whether an address is loopback only. An address that does not resolve counts as local: nothing
/// can reach it.
pub(super) fn is_local(address: &str) -> bool {
    address.to_socket_addrs().is_ok_and(|mut found| found.all(|found| found.ip().is_loopback()))
}
