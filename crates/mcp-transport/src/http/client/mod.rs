//! The client side of Streamable HTTP, for all revisions from 2025-03-26 on.
//!
//! Every message is its own POST. A request opens an *exchange*, which a task follows: it reads the
//! response, a JSON body or a stream of events, and puts what it receives into one bounded queue.
//! Up to 2025-11-25 a stream that ends without the answer is resumed; the notification stream (GET)
//! is opened with the first message after [`Transport::established`]; closing ends the session.
//! From 2026-07-28 on there is none of that, and disconnecting cancels a request.

mod backoff;
mod connect;
mod conversation;
mod endpoint;
mod inbox;
mod listen;
mod pending_posts;
mod post;
mod reply;
mod settings;
mod stream;
mod watched;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http::StatusCode;
use mcp_core::{
    BoxFuture, Era, Framing, Inbound, Outbound, OutboundRole, Revision, Ticket, Transport,
    TransportError,
};
use tokio::{
    sync::{Mutex, Semaphore},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use self::{
    conversation::Conversation,
    endpoint::Endpoint,
    inbox::{Inbox, InboxReceiver, inbox},
    pending_posts::PendingPosts,
    post::PostTask,
    reply::{Reply, drain},
};
use super::{
    headers::SESSION_ID,
    watch::{HttpWatch, WatchFactory},
};

pub use settings::HttpSettings;

/// A conversation with a server over Streamable HTTP.
///
/// - A request needs a ticket that no other request in flight has.
/// - Sending a request completes at once, unless [`HttpSettings::max_exchanges`] are in flight; its
///   outcome is received. Sending a notification or an answer completes when the server has
///   accepted it, so anything sent afterwards arrives after it.
/// - [`finish_exchange`](Transport::finish_exchange) ends an exchange: its response has been
///   received, or nobody waits for it any more. [`Inbound::ExchangeEnded`] is not reported for it then.
/// - [`established`](Transport::established) belongs between the answer to `initialize` and the
///   `initialized` notification: the notification must name the revision, and the notification
///   stream is opened once it is accepted.
/// - Once the session has expired, sending returns [`TransportError::SessionExpired`], and so does
///   receiving after everything before it; continue with [`HttpTransport::renewed`].
/// - If the notification stream is lost and cannot be reopened, or could not be opened,
///   [`Inbound::NotificationsLost`] is received. Sending the next message tries again.
pub struct HttpTransport {
    shared: Arc<Shared>,
    inbox_receiver: Mutex<InboxReceiver>,
    slots: Arc<Semaphore>,
}

#[derive(Debug)]
struct Shared {
    settings: HttpSettings,
    endpoint: Endpoint,
    conversation: Conversation,
    pending: PendingPosts,
    inbox: Inbox,
    closing: CancellationToken,
    /// The session has expired, so nothing more will arrive.
    expired: CancellationToken,
    /// The notification stream should be opened with the next message.
    listen_next: AtomicBool,
    /// The server has a notification stream: it was open once.
    has_stream: AtomicBool,
}

/// Why a client cannot be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum HttpSetupError {
    #[error("the URL cannot be used: {0}")]
    Url(String),
    #[error("https needs the feature `tls`")]
    NoTls,
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    #[error("the header `{0}` cannot be set by callers")]
    ReservedHeader(String),
}

impl HttpTransport {
    /// A conversation with the server at `url`, which is not contacted yet.
    ///
    /// # Errors
    ///
    /// If the URL is not an HTTP URL, or the settings cannot be used.
    pub fn new(url: &str, settings: HttpSettings) -> Result<HttpTransport, HttpSetupError> {
        let endpoint = Endpoint::new(url, &settings)?;
        Ok(HttpTransport::with(endpoint, settings))
    }

    /// A new conversation with the same server over the same connections.
    #[must_use]
    pub fn renewed(&self) -> HttpTransport {
        HttpTransport::with(self.shared.endpoint.clone(), self.shared.settings.clone())
    }

    /// What sees its HTTP traffic, made by [`HttpSettings::watch`].
    pub fn watch(&self) -> Option<Arc<dyn HttpWatch>> {
        self.shared.endpoint.watch()
    }

    fn with(endpoint: Endpoint, settings: HttpSettings) -> HttpTransport {
        let endpoint = endpoint.watched_by(settings.watch.as_ref().map(WatchFactory::make));
        let (inbox, inbox_receiver) = inbox(settings.inbox);
        let slots = settings.max_exchanges.clamp(1, Semaphore::MAX_PERMITS);
        HttpTransport {
            shared: Arc::new(Shared {
                settings,
                endpoint,
                conversation: Conversation::default(),
                pending: PendingPosts::new(),
                inbox,
                closing: CancellationToken::new(),
                expired: CancellationToken::new(),
                listen_next: AtomicBool::new(false),
                has_stream: AtomicBool::new(false),
            }),
            inbox_receiver: Mutex::new(inbox_receiver),
            slots: Arc::new(Semaphore::new(slots)),
        }
    }

    async fn open(&self, outbound: Outbound) -> Result<(), TransportError> {
        let shared = &self.shared;
        let ticket = outbound
            .ticket
            .ok_or_else(|| TransportError::Framing("a request needs a ticket".to_owned()))?;
        let era = shared.conversation.era(outbound.headers.as_deref());
        let permit = match Arc::clone(&self.slots).acquire_owned().await {
            Ok(permit) => permit,
            Err(_closed) => return Err(TransportError::Closed),
        };
        // Waiting for a slot may have taken long.
        shared.conversation.check()?;
        let request = shared.endpoint.post(outbound, &shared.conversation)?;
        let disconnect = shared.pending.begin(ticket)?;
        let task = PostTask { shared: Arc::clone(shared), ticket, era, disconnect, permit };
        tokio::spawn(task.run(request));
        Ok(())
    }

    async fn deliver(&self, outbound: Outbound) -> Result<(), TransportError> {
        let limit = self.shared.settings.accept_timeout;
        match timeout(limit, self.shared.deliver(outbound)).await {
            Ok(delivered) => delivered,
            Err(_) => Err(TransportError::Stalled { seconds: limit.as_secs() }),
        }
    }

    fn listen_if_due(&self) {
        if self.shared.listen_next.swap(false, Ordering::AcqRel) {
            tokio::spawn(listen::listen(Arc::clone(&self.shared)));
        }
    }

    /// Stops everything, and returns whether it was still running.
    fn stop(&self) -> bool {
        let first = !self.shared.closing.is_cancelled();
        self.shared.closing.cancel();
        self.shared.pending.close();
        self.slots.close();
        first
    }
}

impl Shared {
    /// The server no longer knows the session.
    fn expire(&self) {
        self.conversation.expire();
        self.expired.cancel();
    }

    async fn deliver(&self, outbound: Outbound) -> Result<(), TransportError> {
        let request = self.endpoint.post(outbound, &self.conversation)?;
        let in_session = request.headers().contains_key(SESSION_ID);
        match Reply::of(self.endpoint.exchange(request).await?) {
            Reply::Accepted(body) => {
                drain(body).await;
                Ok(())
            }
            Reply::Json(body, watched) => {
                // Nothing was asked, so nothing is read.
                drop(watched);
                drain(body).await;
                Ok(())
            }
            Reply::ErrorStatus(refusal)
                if in_session && refusal.status == StatusCode::NOT_FOUND =>
            {
                self.expire();
                Err(TransportError::SessionExpired)
            }
            Reply::ErrorStatus(refusal) => Err(refusal.read(self.settings.max_message).await.1),
            // Not what the protocol requires, but it is acceptance.
            Reply::Events(..) | Reply::Unreadable(_) => Ok(()),
        }
    }
}

impl Transport for HttpTransport {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(async move {
            let mut inbox_receiver = self.inbox_receiver.lock().await;
            let Shared { pending, closing, expired, .. } = &*self.shared;
            inbox_receiver.next(pending, closing, expired).await
        })
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(async move {
            self.shared.conversation.check()?;
            if self.shared.closing.is_cancelled() {
                return Err(TransportError::Closed);
            }
            let (length, limit) = (outbound.bytes.len(), self.shared.settings.max_message);
            if length > limit {
                let (length, limit) = (length as u64, limit as u64);
                return Err(TransportError::TooLong { length, limit });
            }
            match outbound.role {
                OutboundRole::Request => self.open(outbound).await?,
                // The only notification about a request is its cancellation. Without a session,
                // ending the exchange says that already.
                OutboundRole::Notification
                    if outbound.ticket.is_some()
                        && self.shared.conversation.era(None) == Era::Modern => {}
                OutboundRole::Notification | OutboundRole::Response(_) => {
                    self.deliver(outbound).await?;
                }
            }
            self.listen_if_due();
            Ok(())
        })
    }

    fn framing(&self) -> Framing {
        Framing::HttpExchanges
    }

    fn finish_exchange(&self, ticket: Ticket) {
        self.shared.pending.finish(ticket);
    }

    fn last_error(&self, ticket: Ticket) -> Option<TransportError> {
        self.shared.pending.last_error(ticket)
    }

    /// Without a session, closing the stream cancels the request.
    fn finishing_cancels(&self) -> bool {
        let revision = self.shared.conversation.revision();
        revision.is_none_or(|revision| revision.era() == Era::Modern)
    }

    fn established(&self, revision: Revision) {
        let is_new = self.shared.conversation.establish(revision);
        let listens = self.shared.settings.listen && revision.era() == Era::Legacy;
        if is_new {
            self.shared.listen_next.store(listens, Ordering::Release);
        }
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if self.stop() && self.shared.conversation.has_session() {
                let request = self.shared.endpoint.delete(&self.shared.conversation);
                let ending = self.shared.endpoint.exchange(request);
                let _ = timeout(self.shared.settings.close_timeout, ending).await;
            }
        })
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport")
            .field("url", &self.shared.endpoint.shown())
            .field("settings", &self.shared.settings)
            .field("conversation", &self.shared.conversation)
            .finish_non_exhaustive()
    }
}
