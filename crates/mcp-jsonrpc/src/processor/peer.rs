use std::{fmt, sync::Arc, time::Duration};

use mcp_core::{
    BoxFuture, Json, MessageHeaders, Notification, OutboundRole, OutgoingRequest, Peer, PeerError,
    Refusal, Side, Ticket, Transport, TransportError,
};

use super::{Link, cancelled};
use crate::{JsonRpcId, JsonRpcNotification, JsonRpcRequest, transport::SendError};

/// The peer of a conversation, to send to.
pub struct JsonRpcPeer<T> {
    pub(super) link: Arc<Link<T>>,
    /// The exchange that everything sent belongs to.
    pub(super) ticket: Option<Ticket>,
}

impl<T: Transport> JsonRpcPeer<T> {
    /// Ends the conversation: requests in flight are finished, then the transport is closed.
    pub fn close(&self) {
        self.link.closing.cancel();
    }

    /// Tells the transport that the handshake is done and `revision` applies from now on.
    pub fn established(&self, revision: mcp_core::Revision) {
        self.link.transport.inner().established(revision);
    }

    /// The last transport error of the pending request `id`.
    pub fn last_error(&self, id: i64) -> Option<TransportError> {
        self.link.transport.inner().last_error(self.link.own_ticket(id)?)
    }

    /// Like [`Peer::request`]; `note` is called with the id of the request before it is sent, to
    /// recognise messages that refer to it.
    ///
    /// # Errors
    ///
    /// As for [`Peer::request`].
    pub async fn request_with_id(
        &self,
        ask: OutgoingRequest,
        note: impl FnOnce(i64) + Send,
    ) -> Result<Json, PeerError> {
        let link = &self.link;
        let (id, answer) = link.calls.open()?;
        note(id);
        // A client's request opens its own exchange; a server's belongs to the request it serves.
        let ticket = link.own_ticket(id).or(self.ticket);
        let may_cancel = !cancelled::OPENINGS.contains(&&*ask.method);
        let _pending = PendingRequest { link, id, ticket, may_cancel };
        let timeout = ask.timeout.unwrap_or(link.settings.timeout);
        let timed_out = async {
            match timeout {
                Duration::MAX => std::future::pending().await,
                timeout => link.settings.clock.sleep(timeout).await,
            }
        };
        let request = JsonRpcRequest {
            id: JsonRpcId::Integer(id),
            method: ask.method.into_owned(),
            params: ask.params,
        };
        // Only the bytes are kept while it is sent, and nothing while the response is awaited.
        let bytes = request.to_bytes();
        drop(request);
        let sending = link.transport.send(bytes.into(), OutboundRole::Request, ticket, ask.headers);
        let response = async move {
            if let Err(error) = sending.await {
                // The peer has not seen it, so there is nothing to cancel.
                link.calls.remove(id);
                return Err(not_sent(error));
            }
            answer.await.unwrap_or_else(|_| Err(PeerError::Closed("it is not being read".into())))
        };
        tokio::select! {
            biased;
            outcome = response => outcome,
            () = timed_out => Err(PeerError::TimedOut { after: timeout, last_error: None }),
        }
    }
}

impl<T: Transport> Peer for JsonRpcPeer<T> {
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<(), PeerError>> {
        Box::pin(async move {
            let transport = &self.link.transport;
            let notification = JsonRpcNotification::from(notification);
            let (bytes, role) = (notification.to_bytes(), OutboundRole::Notification);
            let headers = (transport.side() == Side::Client).then(|| {
                Box::new(MessageHeaders {
                    method: Some(notification.method),
                    ..MessageHeaders::default()
                })
            });
            let sent = transport.send(bytes.into(), role, self.ticket, headers).await;
            if let Err(SendError::Transport(error @ TransportError::TooLong { .. })) = &sent {
                // Most callers ignore the error.
                tracing::warn!(%error, "a notification was not sent");
            }
            sent.map_err(not_sent)
        })
    }

    fn request(&self, ask: OutgoingRequest) -> BoxFuture<'_, Result<Json, PeerError>> {
        Box::pin(self.request_with_id(ask, |_| {}))
    }

    fn release_stream(&self) {
        if let Some(ticket) = self.ticket {
            self.link.transport.inner().release_stream(ticket);
        }
    }
}

fn not_sent(error: SendError) -> PeerError {
    match error {
        SendError::Refused(Refusal { message, findings, .. }) => {
            PeerError::NotSent { message: format!("it violates the protocol: {message}"), findings }
        }
        SendError::Transport(error @ TransportError::TooLong { .. }) => {
            PeerError::NotSent { message: error.to_string(), findings: Vec::new() }
        }
        SendError::Transport(error) => PeerError::Transport(error),
    }
}

/// A pending request of ours; dropping it cancels the request.
struct PendingRequest<'l, T: Transport> {
    link: &'l Link<T>,
    id: i64,
    ticket: Option<Ticket>,
    may_cancel: bool,
}

impl<T: Transport> Drop for PendingRequest<'_, T> {
    fn drop(&mut self) {
        if !self.link.calls.remove(self.id) {
            return;
        }
        let must_notify = self.may_cancel && !self.link.transport.inner().finishing_cancels();
        if must_notify && self.link.abandoned.try_send(self.id).is_err() {
            tracing::debug!(id = self.id, "an abandoned request could not be cancelled");
        }
        if let (Side::Client, Some(ticket)) = (self.link.transport.side(), self.ticket) {
            self.link.transport.inner().finish_exchange(ticket);
        }
    }
}

impl<T> Clone for JsonRpcPeer<T> {
    fn clone(&self) -> Self {
        JsonRpcPeer { link: Arc::clone(&self.link), ticket: self.ticket }
    }
}

impl<T> fmt::Debug for JsonRpcPeer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonRpcPeer").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
