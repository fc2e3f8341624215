//! The requests in flight.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_core::{Ticket, TransportError};
use tokio::sync::oneshot;

/// The exchanges that may still receive something.
#[derive(Debug)]
pub(super) struct PendingPosts(Mutex<Option<HashMap<Ticket, Open>>>);

#[derive(Debug)]
struct Open {
    disconnect: oneshot::Sender<Disconnect>,
    received: bool,
    /// The last error of an exchange that is still being retried.
    last_error: Option<TransportError>,
}

/// How to end an exchange that nobody waits for any more. Dropping the sender means the same as
/// `AtOnce`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disconnect {
    /// Disconnect at once, which tells the server that it can stop.
    AtOnce,
    /// The answer may have arrived: the stream probably ends by itself, and then its connection can
    /// be reused.
    AfterAnswer,
}

impl PendingPosts {
    pub(super) fn new() -> PendingPosts {
        PendingPosts(Mutex::new(Some(HashMap::new())))
    }

    /// Begins an exchange; the receiver is notified when it is finished.
    pub(super) fn begin(
        &self,
        ticket: Ticket,
    ) -> Result<oneshot::Receiver<Disconnect>, TransportError> {
        let mut table = self.table();
        let open = table.as_mut().ok_or(TransportError::Closed)?;
        if open.contains_key(&ticket) {
            return Err(TransportError::Framing(format!("ticket {} is in use", ticket.0)));
        }
        let (disconnect, receiver) = oneshot::channel();
        open.insert(ticket, Open { disconnect, received: false, last_error: None });
        Ok(receiver)
    }

    /// Notes that the exchange has received something.
    pub(super) fn received(&self, ticket: Ticket) {
        if let Some(open) = self.table().as_mut().and_then(|table| table.get_mut(&ticket)) {
            open.received = true;
        }
    }

    /// Notes an error of an exchange that is being retried.
    pub(super) fn set_last_error(&self, ticket: Ticket, last_error: TransportError) {
        if let Some(open) = self.table().as_mut().and_then(|table| table.get_mut(&ticket)) {
            open.last_error = Some(last_error);
        }
    }

    pub(super) fn last_error(&self, ticket: Ticket) -> Option<TransportError> {
        self.table().as_ref()?.get(&ticket)?.last_error.clone()
    }

    pub(super) fn is_open(&self, ticket: Ticket) -> bool {
        self.table().as_ref().is_some_and(|table| table.contains_key(&ticket))
    }

    /// Removes an exchange that is over, and returns whether it was still open.
    pub(super) fn end(&self, ticket: Ticket) -> bool {
        self.table().as_mut().is_some_and(|table| table.remove(&ticket).is_some())
    }

    pub(super) fn finish(&self, ticket: Ticket) {
        let finished = self.table().as_mut().and_then(|table| table.remove(&ticket));
        if let Some(Open { disconnect, received, .. }) = finished {
            let _ = disconnect.send(if received {
                Disconnect::AfterAnswer
            } else {
                Disconnect::AtOnce
            });
        }
    }

    /// Ends all exchanges and allows no new ones.
    pub(super) fn close(&self) {
        self.table().take();
    }

    fn table(&self) -> MutexGuard<'_, Option<HashMap<Ticket, Open>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
