use std::{
    sync::OnceLock,
    task::{Context, Poll},
};

use futures_util::task::AtomicWaker;
use mcp_core::{Inbound, TransportError};

/// The end of a conversation, decided by this side, for the task that receives.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    reason: OnceLock<Option<TransportError>>,
    receiver: AtomicWaker,
}

impl Ending {
    /// Ends the conversation, cleanly if there is no error. The first reason counts.
    pub(crate) fn declare(&self, error: Option<TransportError>) {
        if self.reason.set(error).is_ok() {
            self.receiver.wake();
        }
    }

    /// What `receive` returns once there is nothing left to deliver; pending while the conversation
    /// is open.
    pub(crate) fn poll(
        &self,
        context: &Context<'_>,
    ) -> Poll<Result<Option<Inbound>, TransportError>> {
        self.receiver.register(context.waker());
        match self.reason.get() {
            None => Poll::Pending,
            Some(None) => Poll::Ready(Ok(None)),
            Some(Some(error)) => Poll::Ready(Err(error.clone())),
        }
    }
}
