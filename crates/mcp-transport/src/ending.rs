use std::{
    sync::OnceLock,
    task::{Context, Poll},
};

use futures_util::task::AtomicWaker;
use mcp_core::{Inbound, TransportError};

/// The end of a conversation as this side has decided it, told to the task that receives.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    reason: OnceLock<Option<TransportError>>,
    receiver: AtomicWaker,
}

impl Ending {
    /// Ends the conversation, in good order if there is no error. The first reason counts.
    pub(crate) fn declare(&self, error: Option<TransportError>) {
        if self.reason.set(error).is_ok() {
            self.receiver.wake();
        }
    }

    /// What `receive` has to answer once nothing is left to hand out; pending while the
    /// conversation goes on.
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
