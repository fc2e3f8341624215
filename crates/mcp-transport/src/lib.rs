//! Ways to move messages of the Model Context Protocol: adapters behind [`mcp_core::Transport`].
//!
//! Transports frame and move bytes. None of them parses JSON; what they must know about a message
//! (is it an answer, which exchange does it belong to) travels beside it.

mod ending;
pub mod lines;
pub mod memory;
#[cfg(feature = "stdio")]
pub mod stdio;
#[cfg(feature = "ws")]
pub mod ws;

pub use lines::{LineSettings, LineTransport};
pub use memory::MemoryTransport;
#[cfg(feature = "stdio")]
pub use stdio::{ChildCommand, ChildSettings, ChildStderr, ChildTransport, StdioTransport, stdio};
#[cfg(feature = "ws")]
pub use ws::{WsListener, WsTransport};
