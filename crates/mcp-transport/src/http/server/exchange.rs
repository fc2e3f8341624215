use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use mcp_core::{
    BoxFuture, Carriage, Inbound, Outbound, OutboundRole, Standing, Ticket, Transport,
    TransportError,
};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    HttpSettings,
    events::message_event,
    media::Accepts,
    posted::Posted,
    stream::{Audience, EventStream},
};

/// The one exchange of such a conversation.
const TICKET: Ticket = Ticket(0);

/// A conversation that is one POST and its response.
#[derive(Debug)]
pub(super) struct Exchange {
    settings: Arc<HttpSettings>,
    accepts: Accepts,
    wants_answer: bool,
    /// Cancelled when a request that has no end in sight shall be answered.
    ending: Option<CancellationToken>,
    state: Mutex<State>,
    /// Wakes the one who receives.
    news: Notify,
    this: Weak<Exchange>,
}

/// With what the response begins.
#[derive(Debug)]
pub(super) enum FirstWord {
    /// The answer, and nothing before it.
    Answer(Standing, Bytes),
    /// Something that comes before the answer.
    Events(EventStream),
}

#[derive(Debug)]
struct State {
    message: Option<Posted>,
    phase: Phase,
    /// The client has hung up before the answer.
    gone: Gone,
}

enum Phase {
    /// Nothing was sent; the handler of the POST waits.
    Silent(Option<Waker>),
    /// The handler has not picked up the first word yet.
    Spoken(FirstWord, Option<mpsc::Sender<Bytes>>),
    Streaming(mpsc::Sender<Bytes>),
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gone {
    No,
    Unnoticed,
    Noticed,
}

impl Exchange {
    pub(super) fn new(
        message: Posted,
        accepts: Accepts,
        wants_answer: bool,
        ending: Option<CancellationToken>,
        settings: Arc<HttpSettings>,
    ) -> Arc<Exchange> {
        let phase = if wants_answer { Phase::Silent(None) } else { Phase::Over };
        let state = State { message: Some(message), phase, gone: Gone::No };
        Arc::new_cyclic(|this| Exchange {
            settings,
            accepts,
            wants_answer,
            ending,
            state: Mutex::new(state),
            news: Notify::new(),
            this: this.clone(),
        })
    }

    /// What was sent first, once there is something. `None` if nothing will be.
    pub(super) fn poll_first_word(&self, context: &mut Context<'_>) -> Poll<Option<FirstWord>> {
        let mut state = self.lock();
        match std::mem::replace(&mut state.phase, Phase::Over) {
            Phase::Silent(_) => {
                state.phase = Phase::Silent(Some(context.waker().clone()));
                Poll::Pending
            }
            Phase::Spoken(word, more) => {
                state.phase = more.map_or(Phase::Over, Phase::Streaming);
                Poll::Ready(Some(word))
            }
            phase => {
                state.phase = phase;
                Poll::Ready(None)
            }
        }
    }

    /// Nobody is there any more who would read an answer.
    pub(super) fn hang_up(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Over) || state.gone != Gone::No {
            return;
        }
        state.gone = Gone::Unnoticed;
        // A stream in it must not be dropped under the lock: it would call this again.
        let phase = std::mem::replace(&mut state.phase, Phase::Over);
        drop(state);
        drop(phase);
        self.news.notify_one();
    }

    /// The handler of the POST has gone, which is all right if it took the response's stream along.
    pub(super) fn let_go(&self) {
        if !matches!(self.lock().phase, Phase::Streaming(_)) {
            self.hang_up();
        }
    }

    async fn next(&self) -> Option<Inbound> {
        loop {
            {
                let mut state = self.lock();
                if let Some(message) = state.message.take() {
                    return Some(message.inbound(self.wants_answer.then_some(TICKET)));
                }
                if state.gone == Gone::Unnoticed {
                    state.gone = Gone::Noticed;
                    return Some(Inbound::Over { ticket: TICKET, error: None });
                }
                if matches!(state.phase, Phase::Over | Phase::Spoken(_, None)) {
                    return None;
                }
            }
            match &self.ending {
                None => self.news.notified().await,
                Some(ending) => tokio::select! {
                    biased;
                    () = self.news.notified() => {}
                    () = ending.cancelled() => return None,
                },
            }
        }
    }

    async fn put(&self, outbound: Outbound) -> Result<(), TransportError> {
        let Some(sender) = self.speak_first(&outbound)? else { return Ok(()) };
        let stall = self.settings.stall_timeout;
        let Ok(room) = tokio::time::timeout(stall, sender.reserve()).await else {
            self.hang_up();
            return Err(TransportError::Stuck { seconds: stall.as_secs() });
        };
        let permit = room.map_err(|_| lost())?;
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Streaming(_) | Phase::Spoken(_, Some(_))) {
            return Err(closed(&state));
        }
        permit.send(message_event(None, &outbound.bytes));
        if matches!(outbound.role, OutboundRole::Answer(_)) {
            end(&mut state.phase);
            self.news.notify_one();
        }
        Ok(())
    }

    /// Begins the response with this message; if that was done before, the way into its stream.
    fn speak_first(
        &self,
        outbound: &Outbound,
    ) -> Result<Option<mpsc::Sender<Bytes>>, TransportError> {
        let mut state = self.lock();
        let waker = match &mut state.phase {
            Phase::Silent(waker) => waker.take(),
            Phase::Streaming(sender) | Phase::Spoken(_, Some(sender)) => {
                return Ok(Some(sender.clone()));
            }
            Phase::Over | Phase::Spoken(_, None) => return Err(closed(&state)),
        };
        state.phase = match outbound.role {
            OutboundRole::Answer(standing) if self.accepts.json || standing != Standing::Served => {
                Phase::Spoken(FirstWord::Answer(standing, outbound.bytes.clone()), None)
            }
            OutboundRole::Answer(_) => {
                Phase::Spoken(FirstWord::Events(self.stream(&outbound.bytes, None)), None)
            }
            OutboundRole::Request | OutboundRole::Notification => {
                let (sender, live) = mpsc::channel(self.settings.stream_queue.max(1));
                let stream = self.stream(&outbound.bytes, Some(live));
                Phase::Spoken(FirstWord::Events(stream), Some(sender))
            }
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        self.news.notify_one();
        Ok(None)
    }

    fn stream(&self, first: &[u8], live: Option<mpsc::Receiver<Bytes>>) -> EventStream {
        let backlog = VecDeque::from([message_event(None, first)]);
        let audience = Arc::new(Reader(self.this.clone()));
        EventStream::new(backlog, live, self.settings.keep_alive, audience)
    }

    /// Ends the response where it stands.
    pub(super) fn finish(&self) {
        let mut state = self.lock();
        let waker = match &mut state.phase {
            Phase::Silent(waker) => waker.take(),
            _ => None,
        };
        end(&mut state.phase);
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        self.news.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Exchange {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(async { Ok(self.next().await) })
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(self.put(outbound))
    }

    fn carriage(&self) -> Carriage {
        Carriage::Exchanges
    }

    fn settle(&self, _: Ticket) {
        self.finish();
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.finish();
        Box::pin(std::future::ready(()))
    }
}

/// The client at the other end of the stream; weak, since the exchange may hold the stream.
#[derive(Debug)]
struct Reader(Weak<Exchange>);

impl Audience for Reader {
    fn left(&self) {
        if let Some(exchange) = self.0.upgrade() {
            exchange.hang_up();
        }
    }
}

impl fmt::Debug for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Silent(_) => "silent",
            Phase::Spoken(..) => "spoken",
            Phase::Streaming(_) => "streaming",
            Phase::Over => "over",
        })
    }
}

/// Lets a first word that was not picked up be picked up, but nothing follow it.
fn end(phase: &mut Phase) {
    match phase {
        Phase::Spoken(_, more) => *more = None,
        phase => *phase = Phase::Over,
    }
}

fn closed(state: &State) -> TransportError {
    if state.gone == Gone::No { TransportError::Closed } else { lost() }
}

fn lost() -> TransportError {
    TransportError::Lost("the client has hung up".to_owned())
}
