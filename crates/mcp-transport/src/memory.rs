//! A pair of connected in-memory transports: for servers in the same process as their client, and
//! for tests.
//!
//! They behave like any other transport: a bounded number of messages is in flight, and senders of
//! more wait, though not forever. Messages are not copied.

use std::{
    fmt,
    future::poll_fn,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use mcp_core::{BoxFuture, Inbound, Outbound, Transport, TransportError};
use tokio::sync::mpsc::{self, error::SendTimeoutError};
use tokio_util::sync::CancellationToken;

use crate::ending::Ending;

/// How long the peer may read nothing while a sender waits.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Two ends of one conversation. At most `capacity` messages (at least one) are queued in each
/// direction. If one end reads nothing for 30 seconds while the other has more to send, the
/// connection is lost; this needs a runtime with timers.
pub fn pair(capacity: usize) -> (MemoryTransport, MemoryTransport) {
    let (to_right, from_left) = mpsc::channel(capacity.max(1));
    let (to_left, from_right) = mpsc::channel(capacity.max(1));
    (MemoryTransport::new(to_right, from_right), MemoryTransport::new(to_left, from_left))
}

/// One end of a [`pair`]. Dropping it ends the conversation like [`Transport::close`].
pub struct MemoryTransport {
    outgoing: Mutex<Option<mpsc::Sender<Bytes>>>,
    incoming: Mutex<mpsc::Receiver<Bytes>>,
    ending: Ending,
    closing: CancellationToken,
}

impl MemoryTransport {
    fn new(outgoing: mpsc::Sender<Bytes>, incoming: mpsc::Receiver<Bytes>) -> Self {
        MemoryTransport {
            outgoing: Mutex::new(Some(outgoing)),
            incoming: Mutex::new(incoming),
            ending: Ending::default(),
            closing: CancellationToken::new(),
        }
    }

    fn poll_receive(
        &self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Inbound>, TransportError>> {
        match lock(&self.incoming).poll_recv(context) {
            Poll::Ready(Some(bytes)) => {
                Poll::Ready(Ok(Some(Inbound::Message { ticket: None, bytes })))
            }
            Poll::Ready(None) => Poll::Ready(Ok(None)),
            Poll::Pending => self.ending.poll(context),
        }
    }

    async fn hand_over(&self, bytes: Bytes) -> Result<(), TransportError> {
        let sender = lock(&self.outgoing).clone().ok_or(TransportError::Closed)?;
        let bytes = match sender.try_send(bytes) {
            Ok(()) => return Ok(()),
            Err(mpsc::error::TrySendError::Closed(_)) => return Err(gone()),
            Err(mpsc::error::TrySendError::Full(bytes)) => bytes,
        };
        tokio::select! {
            biased;
            () = self.closing.cancelled() => Err(TransportError::Closed),
            sent = sender.send_timeout(bytes, STALL_TIMEOUT) => sent.map_err(|error| match error {
                SendTimeoutError::Closed(_) => gone(),
                SendTimeoutError::Timeout(_) => {
                    TransportError::Stalled { seconds: STALL_TIMEOUT.as_secs() }
                }
            }),
        }
    }
}

impl Transport for MemoryTransport {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(poll_fn(|context| self.poll_receive(context)))
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(self.hand_over(outbound.bytes))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        lock(&self.outgoing).take();
        lock(&self.incoming).close();
        self.closing.cancel();
        self.ending.declare(None);
        Box::pin(std::future::ready(()))
    }
}

impl fmt::Debug for MemoryTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryTransport").finish_non_exhaustive()
    }
}

fn gone() -> TransportError {
    TransportError::Lost("the other end is gone".into())
}

/// A panic elsewhere leaves no inconsistent state here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use mcp_core::OutboundRole;

    use super::*;

    fn message() -> Outbound {
        let (bytes, role) = (Bytes::from_static(b"{}"), OutboundRole::Notification);
        Outbound { bytes, role, ticket: None, headers: None, parsed: None }
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_that_does_not_read_is_given_up() {
        let (near, far) = pair(1);
        assert_eq!(near.send(message()).await, Ok(()));
        assert_eq!(near.send(message()).await, Err(TransportError::Stalled { seconds: 30 }));
        assert!(matches!(far.receive().await, Ok(Some(_))));
        assert_eq!(near.send(message()).await, Ok(()));
    }
}
