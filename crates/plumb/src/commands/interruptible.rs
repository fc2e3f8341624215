//! Work that the user may interrupt.

use std::{future::Future, io, time::Duration};

use mcp_proxy::shutdown;

use super::Outcome;

/// The exit code of an interrupted program, as in shells.
pub(super) const INTERRUPTED: Outcome = Outcome::Exit(130);

/// Runs `work`; `None` if the user interrupts it.
pub(super) fn interruptible<T>(work: impl Future<Output = T>) -> io::Result<Option<T>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        tokio::select! {
            // Listen for signals before the work begins.
            biased;
            () = shutdown::requested() => None,
            done = work => Some(done),
        }
    });
    // Do not wait for what is still running.
    runtime.shutdown_timeout(Duration::from_millis(500));
    Ok(done)
}
