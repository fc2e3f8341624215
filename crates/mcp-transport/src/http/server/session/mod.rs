//! Conversations over many HTTP exchanges, identified by `Mcp-Session-Id`.
//!
//! Every message is sent on exactly one stream. Events are kept for a while, so that a client that
//! lost its stream can resume it; disconnecting cancels nothing.

mod delivery;
mod replay;
mod resume;
mod sessions;
mod state;
mod unsent;

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_core::{
    BoxFuture, Carriage, Inbound, Outbound, Revision, Ticket, Transport, TransportError,
};
use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use self::{
    replay::Replay,
    state::{PendingPost, Phase, State},
    unsent::Unsent,
};
pub(super) use self::{sessions::Sessions, state::ResponseStart};
use super::{HttpFault, HttpSettings, media::Accepts, stream::StreamObserver};
use crate::http::{arrived::Arrived, watch::HttpWatch};

/// One session.
pub(super) struct Session {
    id: Box<str>,
    /// The principal that opened it.
    owner: Option<Arc<str>>,
    /// Sees its HTTP traffic.
    watch: Option<Arc<dyn HttpWatch>>,
    settings: Arc<HttpSettings>,
    inbound: mpsc::Sender<Inbound>,
    /// Only one task receives, so this lock is never contended.
    receiver: tokio::sync::Mutex<mpsc::Receiver<Inbound>>,
    ended: CancellationToken,
    state: Mutex<State>,
    /// A GET stream was opened.
    listening: Notify,
    born: Instant,
    /// Milliseconds from `born` to the last sign of life of the client.
    last_seen: AtomicU64,
    /// The client has sent another request since it opened the session.
    claimed: AtomicBool,
    readers: AtomicUsize,
    this: Weak<Session>,
}

impl Session {
    fn new(
        id: Box<str>,
        owner: Option<Arc<str>>,
        watch: Option<Arc<dyn HttpWatch>>,
        settings: Arc<HttpSettings>,
    ) -> Arc<Session> {
        let (inbound, receiver) = mpsc::channel(settings.inbound_queue.max(1));
        let state = Mutex::new(State::new(&settings));
        Arc::new_cyclic(|this| Session {
            id,
            owner,
            watch,
            settings,
            inbound,
            receiver: tokio::sync::Mutex::new(receiver),
            ended: CancellationToken::new(),
            state,
            listening: Notify::new(),
            born: Instant::now(),
            last_seen: AtomicU64::new(0),
            claimed: AtomicBool::new(false),
            readers: AtomicUsize::new(0),
            this: this.clone(),
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn watch(&self) -> Option<Arc<dyn HttpWatch>> {
        self.watch.clone()
    }

    /// Accepts a message that needs no answer.
    pub(super) async fn tell(&self, message: Arrived) -> Result<(), HttpFault> {
        self.room().await?.send(message.inbound(None));
        Ok(())
    }

    /// Accepts a message that needs an answer. The start of the response comes through the channel;
    /// if that is closed without one, there will be none.
    pub(super) async fn ask(
        &self,
        message: Arrived,
        accepts: Accepts,
        revision: Option<Revision>,
    ) -> Result<oneshot::Receiver<ResponseStart>, HttpFault> {
        // With the permit, nothing can come between registering the exchange and passing it on.
        let room = self.room().await?;
        let (sender, start) = oneshot::channel();
        let mut state = self.lock();
        if state.closed {
            return Err(HttpFault::SessionUnknown);
        }
        if state.exchanges.len() >= self.settings.max_pending {
            return Err(HttpFault::TooManyPending);
        }
        let number = state.number();
        let exchange = PendingPost { accepts, revision, phase: Phase::Pending(sender) };
        state.exchanges.insert(number, exchange);
        room.send(message.inbound(Some(Ticket(number))));
        Ok(start)
    }

    /// A permit for a message; fails if the session ends.
    async fn room(&self) -> Result<mpsc::Permit<'_, Inbound>, HttpFault> {
        if let Ok(room) = self.inbound.try_reserve() {
            return Ok(room);
        }
        tokio::select! {
            () = self.ended.cancelled() => Err(HttpFault::SessionUnknown),
            room = self.inbound.reserve() => room.map_err(|_| HttpFault::SessionUnknown),
        }
    }

    /// Ends the session: streams end once everything in them is delivered.
    pub(super) fn end(&self) {
        let (exchanges, standalone) = {
            let mut state = self.lock();
            state.closed = true;
            (std::mem::take(&mut state.exchanges), std::mem::take(&mut state.standalone))
        };
        // First, since callers waiting for an answer check why they get none.
        self.ended.cancel();
        drop((exchanges, standalone));
        self.listening.notify_waiters();
    }

    /// Whether the request that should open the session was answered without agreeing on a
    /// revision.
    pub(super) fn is_refused(&self) -> bool {
        let state = self.lock();
        state.revision.is_none() && state.exchanges.is_empty()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Notes a sign of life of the client.
    pub(super) fn touch(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_seen.store(now, Ordering::Relaxed);
    }

    /// Notes that the client has used the session.
    pub(super) fn visited(&self) {
        self.claimed.store(true, Ordering::Relaxed);
        self.touch();
    }

    /// Completes when the session has been idle for too long. Most abandoned sessions are abandoned
    /// right after they are opened, so those get less time.
    async fn idle(&self) {
        let HttpSettings { session_claim, session_idle, .. } = *self.settings;
        loop {
            let claimed = self.claimed.load(Ordering::Relaxed);
            let patience = if claimed { session_idle } else { session_claim.min(session_idle) };
            let last_seen = Duration::from_millis(self.last_seen.load(Ordering::Relaxed));
            let silence = self.born.elapsed().saturating_sub(last_seen);
            let silence = if self.is_attended() { Duration::ZERO } else { silence };
            let left = patience.saturating_sub(silence);
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }

    /// Whether a client is waiting for something. Work for one that has disappeared does not count.
    fn is_attended(&self) -> bool {
        self.readers.load(Ordering::Relaxed) > 0
            || self.lock().exchanges.values().any(|exchange| match &exchange.phase {
                Phase::Pending(waiting) => !waiting.is_closed(),
                Phase::Streaming(_) => false,
            })
    }

    async fn next(&self) -> Option<Inbound> {
        let mut receiver = self.receiver.lock().await;
        tokio::select! {
            biased;
            () = self.ended.cancelled() => None,
            message = receiver.recv() => message,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Session {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(async { Ok(self.next().await) })
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(self.deliver(outbound))
    }

    fn carriage(&self) -> Carriage {
        Carriage::Exchanges
    }

    /// Ends an exchange that gets no answer: its request was cancelled.
    fn settle(&self, ticket: Ticket) {
        self.give_up(ticket);
    }

    fn established(&self, revision: Revision) {
        self.lock().revision = Some(revision);
    }

    fn release(&self, ticket: Ticket) {
        self.let_go(ticket);
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.end();
        Box::pin(std::future::ready(()))
    }
}

impl StreamObserver for Session {
    fn stream_dropped(&self) {
        self.readers.fetch_sub(1, Ordering::Relaxed);
        self.touch();
    }
}

impl fmt::Debug for Session {
    /// The id is a secret between the two sides.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("state", &self.state).finish_non_exhaustive()
    }
}
