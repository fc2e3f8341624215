//! Conversations over many HTTP exchanges, identified by `Mcp-Session-Id`.
//!
//! Every message is sent on exactly one stream. Events are kept for a while, so that a client that
//! lost its stream can resume it; disconnecting cancels nothing.

mod abandoned;
mod delivery;
mod queue;
mod replay;
mod resume;
mod roster;
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
    BoxFuture, Framing, Inbound, MemoryBudget, Outbound, Revision, Ticket, Transport,
    TransportError,
};
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use self::{
    queue::{Queue, Room},
    replay::Replay,
    roster::Holder,
    state::{PendingPost, Phase, State},
    unsent::Unsent,
};
pub(super) use self::{sessions::Sessions, state::ResponseStart};
use super::{HttpFault, HttpSettings, media::Accepts, stream::StreamObserver};
use crate::http::{arrived::Arrived, watch::HttpWatch};

/// Limits on memory that all sessions share.
#[derive(Debug)]
struct Budgets {
    /// For events kept for resuming clients.
    replayed: MemoryBudget,
    /// For messages that wait for the application.
    queued: MemoryBudget,
}

/// One session.
pub(super) struct Session {
    id: Box<str>,
    /// The principal that opened it.
    owner: Option<Arc<str>>,
    /// The principal or address whose limit it counts towards.
    holder: Option<Holder>,
    /// Sees its HTTP traffic.
    watch: Option<Arc<dyn HttpWatch>>,
    settings: Arc<HttpSettings>,
    queue: Queue,
    ended: CancellationToken,
    state: Mutex<State>,
    /// A GET stream was opened.
    listening: Notify,
    /// A request is to be cancelled.
    cancelling: Notify,
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
        holder: Option<Holder>,
        watch: Option<Arc<dyn HttpWatch>>,
        (settings, budgets): (Arc<HttpSettings>, &Budgets),
    ) -> Arc<Session> {
        let queue = Queue::new(settings.inbound_queue, budgets.queued.clone());
        let state = Mutex::new(State::new(&settings, &budgets.replayed));
        Arc::new_cyclic(|this| Session {
            id,
            owner,
            holder,
            watch,
            settings,
            queue,
            ended: CancellationToken::new(),
            state,
            listening: Notify::new(),
            cancelling: Notify::new(),
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
        self.room(&message).await?.send(message.inbound(None));
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
        let room = self.room(&message).await?;
        let (sender, start) = oneshot::channel();
        let mut state = self.lock();
        if state.closed {
            return Err(HttpFault::SessionUnknown);
        }
        if state.exchanges.len() >= self.settings.max_pending {
            return Err(HttpFault::TooManyPending);
        }
        let number = state.number();
        let bytes = message.len();
        let exchange = PendingPost { accepts, revision, bytes, phase: Phase::Pending(sender) };
        state.exchanges.insert(number, exchange);
        room.send(message.inbound(Some(Ticket(number))));
        Ok(start)
    }

    /// Waits for room for a message; fails if the session ends.
    async fn room(&self, message: &Arrived) -> Result<Room<'_>, HttpFault> {
        tokio::select! {
            biased;
            room = self.queue.room(message.len()) => room,
            () = self.ended.cancelled() => Err(HttpFault::SessionUnknown),
        }
    }

    /// Ends the session: streams end once everything in them is delivered.
    pub(super) fn end(&self) {
        let (exchanges, standalone) = {
            let mut state = self.lock();
            state.closed = true;
            state.replay.clear();
            state.unsent.take();
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
        state.revision.is_none() && state.exchanges.len() == 0
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

    /// Whether the client has used the session since it opened it.
    fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Relaxed)
    }

    /// The last sign of life of the client.
    fn seen_at(&self) -> Instant {
        self.born + Duration::from_millis(self.last_seen.load(Ordering::Relaxed))
    }

    /// Completes when the session has been idle for too long. Most abandoned sessions are abandoned
    /// right after they are opened, so those get less time.
    async fn idle(&self) {
        let HttpSettings { session_claim, session_idle, .. } = *self.settings;
        loop {
            let patience =
                if self.is_claimed() { session_idle } else { session_claim.min(session_idle) };
            let silence = self.seen_at().elapsed();
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
        self.readers.load(Ordering::Relaxed) > 0 || self.lock().exchanges.has_waiting()
    }

    async fn next(&self) -> Option<Inbound> {
        loop {
            if let Some(cancelled) = self.next_cancelled() {
                return Some(cancelled);
            }
            tokio::select! {
                biased;
                () = self.ended.cancelled() => return None,
                () = self.cancelling.notified() => {}
                message = self.queue.next() => return message,
            }
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

    fn framing(&self) -> Framing {
        Framing::HttpExchanges
    }

    /// Ends an exchange that gets no answer: its request was cancelled.
    fn finish_exchange(&self, ticket: Ticket) {
        self.give_up(ticket);
    }

    fn established(&self, revision: Revision) {
        self.lock().revision = Some(revision);
    }

    fn release_stream(&self, ticket: Ticket) {
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
        self.client_left();
    }
}

impl fmt::Debug for Session {
    /// The id is a secret between the two sides.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("state", &self.state).finish_non_exhaustive()
    }
}
