//! Work that the user may interrupt.

use std::{future::Future, io, time::Duration};

use mcp_proxy::shutdown;

use super::Outcome;

/// How a shell shows that a program was interrupted.
pub(super) const INTERRUPTED: Outcome = Outcome::Exit(130);

/// Does the work; `None` if the user has interrupted it.
pub(super) fn interruptible<T>(work: impl Future<Output = T>) -> io::Result<Option<T>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        tokio::select! {
            // Signals are listened for before the work begins.
            biased;
            () = shutdown::requested() => None,
            done = work => Some(done),
        }
    });
    // What is still running must not keep us.
    runtime.shutdown_timeout(Duration::from_millis(500));
    Ok(done)
}
