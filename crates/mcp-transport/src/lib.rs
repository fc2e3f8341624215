//! Transports for the Model Context Protocol: implementations of [`mcp_core::Transport`].
//!
//! Transports frame and move bytes. None of them parses JSON; what they need to know about a
//! message (is it an answer, which exchange does it belong to) is passed along with it.
//!
//! | feature | gives | for |
//! |---|---|---|
//! | – | [`memory::pair`] | a server in the same process as its client, tests |
//! | – | [`LineTransport`] | one message per line over any byte streams |
//! | `stdio` | `stdio`, `ChildTransport` | a server's own standard streams; servers as child processes |
//! | `ws` | `ws::connect`, `ws::accept`, `WsListener` | WebSocket, a custom transport |
//! | `http` | `http::server`, `http::client` | Streamable HTTP, both eras |
//! | `tls` | `wss` and HTTPS, with rustls | |
//!
//! All of them guarantee the same: messages arrive whole, in the order in which one task sent them,
//! or not at all; every queue is bounded, so a sender waits for a peer that does not read, and gets
//! [`TransportError::Stalled`](mcp_core::TransportError::Stalled) if it waits too long; dropping a
//! `receive` future loses nothing; a clean end is distinguished from a lost connection.
//!
//! ```
//! use mcp_core::{Inbound, Outbound, OutboundRole, Transport};
//! use mcp_transport::memory;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), mcp_core::TransportError> {
//! let (client, server) = memory::pair(16);
//! let bytes = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into();
//! let role = OutboundRole::Notification;
//! client.send(Outbound { bytes, role, ticket: None, headers: None, parsed: None }).await?;
//! client.close().await;
//! assert!(matches!(server.receive().await?, Some(Inbound::Message { .. })));
//! assert!(server.receive().await?.is_none());
//! # Ok(())
//! # }
//! ```

#[cfg(any(feature = "http", feature = "ws"))]
mod allowed;
mod ending;
#[cfg(feature = "http")]
pub mod http;
pub mod lines;
#[cfg(any(feature = "http", feature = "ws"))]
mod listening;
pub mod memory;
#[cfg(feature = "stdio")]
pub mod stdio;
#[cfg(feature = "ws")]
pub mod ws;

#[cfg(any(feature = "http", feature = "ws"))]
pub use allowed::{Allowed, SourceNotAllowed, check_source};
pub use lines::{LineSettings, LineTransport};
#[cfg(any(feature = "http", feature = "ws"))]
pub use listening::bind;
pub use memory::MemoryTransport;
#[cfg(feature = "stdio")]
pub use stdio::{ChildCommand, ChildSettings, ChildStderr, ChildTransport, StdioTransport, stdio};
#[cfg(feature = "ws")]
pub use ws::{WsListener, WsTransport};
