//! Checks of listening addresses.

use std::net::ToSocketAddrs as _;

use crate::failure::Failure;

/// Whether an address is loopback only.
///
/// # Errors
///
/// If the address does not resolve.
pub(super) fn is_local(address: &str) -> anyhow::Result<bool> {
    let found = address.to_socket_addrs().map_err(|error| {
        Failure::new(format!("could not listen on {address}"))
            .because(error)
            .hint("an address is like 127.0.0.1:8900 or [::1]:8900")
    })?;
    Ok(found.into_iter().all(|found| found.ip().is_loopback()))
}
