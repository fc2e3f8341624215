//! Which requests are under way.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_core::{Ticket, TransportError};
use tokio::sync::oneshot;

/// The exchanges for which something may still come.
#[derive(Debug)]
pub(super) struct Exchanges(Mutex<Option<HashMap<Ticket, Open>>>);

#[derive(Debug)]
struct Open {
    farewell: oneshot::Sender<Farewell>,
    heard: bool,
    /// What went wrong last, though it is still tried.
    trouble: Option<TransportError>,
}

/// How to leave an exchange that nobody waits for any more. Losing the sender means the same as
/// `Leave`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Farewell {
    /// Hang up at once, which tells the server that it need not go on.
    Leave,
    /// What came may have been the answer: the stream probably ends by itself, and then its
    /// connection can be used again.
    Linger,
}

impl Exchanges {
    pub(super) fn new() -> Exchanges {
        Exchanges(Mutex::new(Some(HashMap::new())))
    }

    /// Begins an exchange; the receiver hears when it is settled.
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

    /// Notes that something of the exchange has been received.
    pub(super) fn heard(&self, ticket: Ticket) {
        if let Some(open) = self.table().as_mut().and_then(|table| table.get_mut(&ticket)) {
            open.heard = true;
        }
    }

    /// Notes that the exchange does not go as it should.
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

    /// Forgets an exchange that is over; whether it was still open.
    pub(super) fn end(&self, ticket: Ticket) -> bool {
        self.table().as_mut().is_some_and(|table| table.remove(&ticket).is_some())
    }

    pub(super) fn settle(&self, ticket: Ticket) {
        let settled = self.table().as_mut().and_then(|table| table.remove(&ticket));
        if let Some(Open { farewell, heard, .. }) = settled {
            let _ = farewell.send(if heard { Farewell::Linger } else { Farewell::Leave });
        }
    }

    /// Leaves all exchanges and begins no more.
    pub(super) fn close(&self) {
        self.table().take();
    }

    fn table(&self) -> MutexGuard<'_, Option<HashMap<Ticket, Open>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
