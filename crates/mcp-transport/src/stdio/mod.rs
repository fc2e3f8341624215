//! Standard streams: a server's own, and those of a server started as a child process.
//!
//! Both are [lines](crate::lines) over pipes. [`stdio`] is what a server uses when a client has
//! started it; [`ChildTransport`] is what that client uses.

mod child;
mod command;
mod process;
mod stderr;
mod streams;

pub use child::ChildTransport;
pub use command::{ChildCommand, ChildSettings};
pub use stderr::ChildStderr;
pub use streams::{ServerInput, ServerOutput};

use crate::lines::{LineSettings, LineTransport};

/// The conversation of a server with the client that started it.
pub type StdioTransport = LineTransport<ServerInput, ServerOutput>;

/// A conversation over this process's standard input and output. Call it only once.
///
/// If they are pipes or Unix sockets, as when a client starts a server, they are read and written
/// without blocking threads. For that they are put into non-blocking mode, which affects everything
/// that uses the same end of the pipe: after this call, `println!` may fail when the pipe is full.
/// (A server must not print to its standard output anyway.) Standard error is not affected: a
/// stream that it shares (`2>&1`) is left in blocking mode.
///
/// Terminals and files are read on a separate thread. A runtime that shuts down waits for that
/// thread's last read: to avoid that, call
/// [`shutdown_background`](tokio::runtime::Runtime::shutdown_background) or exit the process.
///
/// # Panics
///
/// Outside a tokio runtime with I/O enabled.
pub fn stdio(settings: &LineSettings) -> StdioTransport {
    let transport = LineTransport::new(ServerInput::open(), ServerOutput::open(), settings);
    // A server that nobody listens to has nothing left to do, even if its input stays open.
    transport.must_write(streams::output_unread());
    transport
}
