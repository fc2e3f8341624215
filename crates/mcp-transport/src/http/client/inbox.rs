//! Messages waiting to be received: one bounded queue, in order.
//!
//! Whether to resume a stream that ended depends on whether its answer was among the messages
//! before the end, which only the receiver knows. So the end goes into the queue as well, and the
//! question is answered when it is taken out: by then everything before it has been received, and
//! finished if it was the answer.

use mcp_core::{Inbound, MessageEnds, Ticket, TransportError};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::pending_posts::PendingPosts;
use crate::http::arrived::Arrived;

/// The end that streams write to.
#[derive(Debug, Clone)]
pub(super) struct Inbox(mpsc::Sender<Item>);

/// The end that the transport reads from.
#[derive(Debug)]
pub(super) struct InboxReceiver {
    items: mpsc::Receiver<Item>,
    /// The end of the exchange whose last message was just received.
    over: Option<(Ticket, Option<TransportError>)>,
}

#[derive(Debug)]
enum Item {
    Message {
        ticket: Option<Ticket>,
        message: Arrived,
    },
    Skipped {
        ticket: Option<Ticket>,
        skipped: Skipped,
    },
    Last {
        ticket: Ticket,
        message: Option<Arrived>,
        error: Option<TransportError>,
    },
    /// The server's notification stream has been given up.
    StreamLost {
        error: TransportError,
    },
    /// The stream has ended and could be resumed.
    Pause {
        ticket: Ticket,
        go_on: oneshot::Sender<()>,
    },
}

/// What is known about a message that was too long.
#[derive(Debug)]
pub(super) struct Skipped {
    pub(super) length: u64,
    pub(super) limit: u64,
    pub(super) ends: MessageEnds,
}

/// The receiver is gone.
#[derive(Debug)]
pub(super) struct Abandoned;

pub(super) fn inbox(capacity: usize) -> (Inbox, InboxReceiver) {
    let (sender, items) = mpsc::channel(capacity.max(1));
    (Inbox(sender), InboxReceiver { items, over: None })
}

impl Inbox {
    pub(super) async fn message(
        &self,
        ticket: Option<Ticket>,
        message: Arrived,
    ) -> Result<(), Abandoned> {
        self.put(Item::Message { ticket, message }).await
    }

    pub(super) async fn skipped(
        &self,
        ticket: Option<Ticket>,
        skipped: Skipped,
    ) -> Result<(), Abandoned> {
        self.put(Item::Skipped { ticket, skipped }).await
    }

    pub(super) async fn stream_lost(&self, error: TransportError) {
        let _ = self.put(Item::StreamLost { error }).await;
    }

    /// The end of an exchange, with its last message.
    pub(super) async fn last(
        &self,
        ticket: Ticket,
        message: Option<Arrived>,
        error: Option<TransportError>,
    ) {
        let _ = self.put(Item::Last { ticket, message, error }).await;
    }

    /// Waits until everything before has been received, and returns whether the exchange still
    /// lacks its answer.
    pub(super) async fn is_wanted(&self, ticket: Ticket) -> bool {
        let (go_on, answer) = oneshot::channel();
        self.put(Item::Pause { ticket, go_on }).await.is_ok() && answer.await.is_ok()
    }

    async fn put(&self, item: Item) -> Result<(), Abandoned> {
        self.0.send(item).await.map_err(|_| Abandoned)
    }
}

impl InboxReceiver {
    /// The next item; after `closing`, whatever is left and then `None`; after `expired` the same
    /// with an error.
    pub(super) async fn next(
        &mut self,
        pending: &PendingPosts,
        closing: &CancellationToken,
        expired: &CancellationToken,
    ) -> Result<Option<Inbound>, TransportError> {
        loop {
            if let Some((ticket, error)) = self.over.take()
                && pending.end(ticket)
            {
                return Ok(Some(Inbound::ExchangeEnded { ticket, error }));
            }
            let item = tokio::select! {
                biased;
                item = self.items.recv() => item,
                () = closing.cancelled() => None,
                () = expired.cancelled() => return Err(TransportError::SessionExpired),
            };
            let Some(item) = item else { return Ok(None) };
            match item {
                Item::Message { ticket, message } => {
                    if let Some(ticket) = ticket {
                        pending.received(ticket);
                    }
                    return Ok(Some(message.inbound(ticket)));
                }
                Item::Skipped { ticket, skipped: Skipped { length, limit, ends } } => {
                    return Ok(Some(Inbound::TooLong { ticket, length, limit, ends }));
                }
                Item::StreamLost { error } => {
                    return Ok(Some(Inbound::NotificationsLost { error }));
                }
                Item::Last { ticket, message, error } => {
                    let refused = error.is_some();
                    self.over = Some((ticket, error));
                    if let Some(message) = message {
                        return Ok(Some(if refused {
                            message.error_body(ticket)
                        } else {
                            message.inbound(Some(ticket))
                        }));
                    }
                }
                Item::Pause { ticket, go_on } => {
                    if pending.is_open(ticket) {
                        let _ = go_on.send(());
                    }
                }
            }
        }
    }
}
