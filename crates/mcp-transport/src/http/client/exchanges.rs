//! The requests in flight.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_core::{Ticket, TransportError};
use tokio::sync::oneshot;

/// The exchanges that may still receive something.
#[derive(Debug)]
pub(super) struct Exchanges(Mutex<Option<HashMap<Ticket, Open>>>);

#[derive(Debug)]
struct Open {
    farewell: oneshot::Sender<Farewell>,
    heard: bool,
    /// The last error of an exchange that is still being retried.
    trouble: Option<TransportError>,
}

/// How to end an exchange that nobody waits for any more. Dropping the sender means the same as
/// `Leave`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Farewell {
    /// Disconnect at once, which tells the server that it can stop.
    Leave,
    /// The answer may have arrived: the stream probably ends by itself, and then its connection can
    /// be reused.
    Linger,
}

impl Exchanges {
    pub(super) fn new() -> Exchanges {
        Exchanges(Mutex::new(Some(HashMap::new())))
    }

    /// Begins an exchange; the receiver is notified when it is settled.
    pub(super) fn begin(
        &self,
        ticket: Ticket,
    ) -> Result<oneshot::Receiver<Farewell>, TransportError> {
        let mut table = self.table();
        let open = table.as_mut().ok_or(TransportError::Closed)?;
        if open.contains_key(&ticket) {
            return Err(TransportError::Framing(format!("ticket {} is in use", ticket.0)));
        }
        let (farewell, receiver) = oneshot::channel();
        open.insert(ticket, Open { farewell, heard: false, trouble: None });
        Ok(receiver)
    }

    /// Notes that the exchange has received something.
    pub(super) fn heard(&self, ticket: Ticket) {
        if let Some(open) = self.table().as_mut().and_then(|table| table.get_mut(&ticket)) {
            open.heard = true;
        }
    }

    /// Notes an error of an exchange that is being retried.
    pub(super) fn troubled(&self, ticket: Ticket, trouble: TransportError) {
        if let Some(open) = self.table().as_mut().and_then(|table| table.get_mut(&ticket)) {
            open.trouble = Some(trouble);
        }
    }

    pub(super) fn trouble(&self, ticket: Ticket) -> Option<TransportError> {
        self.table().as_ref()?.get(&ticket)?.trouble.clone()
    }

    pub(super) fn is_open(&self, ticket: Ticket) -> bool {
        self.table().as_ref().is_some_and(|table| table.contains_key(&ticket))
    }

    /// Removes an exchange that is over, and returns whether it was still open.
    pub(super) fn end(&self, ticket: Ticket) -> bool {
        self.table().as_mut().is_some_and(|table| table.remove(&ticket).is_some())
    }

    pub(super) fn settle(&self, ticket: Ticket) {
        let settled = self.table().as_mut().and_then(|table| table.remove(&ticket));
        if let Some(Open { farewell, heard, .. }) = settled {
            let _ = farewell.send(if heard { Farewell::Linger } else { Farewell::Leave });
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
