use std::{
    fmt,
    io::{Error, ErrorKind},
    net::{IpAddr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use mcp_core::TransportError;
use tokio::net::{TcpListener, ToSocketAddrs};

/// Listens on a TCP port: the first of the addresses that is available.
///
/// # Errors
///
/// [`TransportError::Listen`], which names the address, the cause and the remedy.
pub async fn bind(address: impl ToSocketAddrs + fmt::Debug) -> Result<TcpListener, TransportError> {
    let stated = format!("{address:?}");
    let unresolved = |error: &Error| TransportError::Listen {
        address: stated.trim_matches('"').to_owned(),
        reason: format!("{error}; write an address and a port, such as 127.0.0.1:8080"),
    };
    let mut failed = None;
    for address in tokio::net::lookup_host(address).await.map_err(|error| unresolved(&error))? {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = Some(explain(address, &error)),
        }
    }
    Err(failed.unwrap_or_else(|| unresolved(&ErrorKind::NotFound.into())))
}

/// The address that a client counts towards: an IPv6 client usually owns a whole network. `None`
/// for loopback addresses, which a local proxy uses for all of its clients.
pub(crate) fn counted_address(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    if address.is_loopback() {
        return None;
    }
    Some(match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    })
}

/// Whether the process, or the system, may not open any more files.
pub(crate) fn is_exhausted(error: &Error) -> bool {
    // `EMFILE` and `ENFILE`, for which the standard library has no names.
    const TOO_MANY_FILES: [i32; 2] = [24, 23];
    cfg!(unix) && error.raw_os_error().is_some_and(|code| TOO_MANY_FILES.contains(&code))
}

/// Waits after errors of a listening socket, longer each time as they usually repeat, and logs only
/// the first.
#[derive(Debug, Default)]
pub(crate) struct AcceptBackoff {
    failures: u32,
}

impl AcceptBackoff {
    pub(crate) async fn pause(&mut self, error: &Error) {
        if self.failures == 0 {
            tracing::warn!(%error, "could not accept a connection");
        }
        let pause = Duration::from_millis(5 << self.failures.min(6));
        self.failures += 1;
        tokio::time::sleep(pause).await;
    }

    /// Called when a connection was accepted.
    #[cfg(feature = "ws")]
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

fn explain(address: SocketAddr, error: &Error) -> TransportError {
    let hint = match error.kind() {
        ErrorKind::AddrInUse => {
            "; stop the program that uses it, or choose another port (0 for any free one)"
        }
        ErrorKind::AddrNotAvailable => {
            "; this machine has no such address: use 127.0.0.1 for local clients, 0.0.0.0 for all interfaces"
        }
        ErrorKind::PermissionDenied => "; ports below 1024 are reserved: choose a higher one",
        _ => "",
    };
    TransportError::Listen { address: address.to_string(), reason: format!("{error}{hint}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn refused(address: impl ToSocketAddrs + fmt::Debug) -> String {
        bind(address).await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn errors_name_the_address_and_what_to_do() {
        let taken = bind("127.0.0.1:0").await.unwrap();
        let address = taken.local_addr().unwrap();
        let message = refused(address).await;
        assert!(message.starts_with(&format!("could not listen on {address}: ")), "{message}");
        assert!(message.contains("another port"), "{message}");
        // From the block reserved for documentation.
        let message = refused(("192.0.2.1", 8080)).await;
        assert!(message.starts_with("could not listen on 192.0.2.1:8080: "), "{message}");
        assert!(message.contains("no such address"), "{message}");
    }

    #[tokio::test]
    async fn what_is_no_address_is_told_as_it_was_written() {
        let message = refused("nowhere").await;
        assert!(message.starts_with("could not listen on nowhere: "), "{message}");
        assert!(message.contains("127.0.0.1:8080"), "{message}");
        let message = refused(&[][..] as &[SocketAddr]).await;
        assert!(message.starts_with("could not listen on []: "), "{message}");
    }
}
