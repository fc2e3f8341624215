use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use mcp_core::{
    BoxFuture, Framing, Inbound, Outbound, OutboundRole, ResponseStatus, Ticket, Transport,
    TransportError,
};
use mcp_json::Parsed;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{
    HttpSettings,
    event_queue::{EventReceiver, EventSender, event_queue},
    events::{Event, message_event},
    media::Accepts,
    stream::{EventStream, StreamObserver},
};
use crate::http::arrived::Arrived;

/// The ticket of the only exchange.
const TICKET: Ticket = Ticket(0);

/// A conversation that consists of one POST and its response.
#[derive(Debug)]
pub(super) struct StatelessExchange {
    settings: Arc<HttpSettings>,
    accepts: Accepts,
    expects_response: bool,
    /// Cancelled when a long-lived request should be answered.
    ending: Option<CancellationToken>,
    state: Mutex<State>,
    /// Wakes the receiver.
    wake_receiver: Notify,
    this: Weak<StatelessExchange>,
}

/// How the response begins.
#[derive(Debug)]
pub(super) enum ResponseStart {
    /// The answer, and nothing before it.
    Answer(ResponseStatus, Bytes, Option<Parsed>),
    /// Messages before the answer.
    Events(EventStream),
}

#[derive(Debug)]
struct State {
    message: Option<Arrived>,
    phase: Phase,
    /// Whether the client has disconnected before the answer.
    gone: Gone,
}

enum Phase {
    /// Nothing was sent; the handler of the POST waits.
    Pending(Option<Waker>),
    /// The handler has not picked up the start of the response yet.
    Started(ResponseStart, Option<EventSender>),
    Streaming(EventSender),
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gone {
    No,
    Unnoticed,
    Noticed,
}

impl StatelessExchange {
    pub(super) fn new(
        message: Arrived,
        accepts: Accepts,
        expects_response: bool,
        ending: Option<CancellationToken>,
        settings: Arc<HttpSettings>,
    ) -> Arc<StatelessExchange> {
        let phase = if expects_response { Phase::Pending(None) } else { Phase::Over };
        let state = State { message: Some(message), phase, gone: Gone::No };
        Arc::new_cyclic(|this| StatelessExchange {
            settings,
            accepts,
            expects_response,
            ending,
            state: Mutex::new(state),
            wake_receiver: Notify::new(),
            this: this.clone(),
        })
    }

    /// The start of the response, once there is one. `None` if there will be none.
    pub(super) fn poll_response_start(
        &self,
        context: &mut Context<'_>,
    ) -> Poll<Option<ResponseStart>> {
        let mut state = self.lock();
        match std::mem::replace(&mut state.phase, Phase::Over) {
            Phase::Pending(_) => {
                state.phase = Phase::Pending(Some(context.waker().clone()));
                Poll::Pending
            }
            Phase::Started(start, more) => {
                state.phase = more.map_or(Phase::Over, Phase::Streaming);
                Poll::Ready(Some(start))
            }
            phase => {
                state.phase = phase;
                Poll::Ready(None)
            }
        }
    }

    /// The client has disconnected.
    pub(super) fn client_disconnected(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Over) || state.gone != Gone::No {
            return;
        }
        state.gone = Gone::Unnoticed;
        // A stream in it must not be dropped while the lock is held: it would call this again.
        let phase = std::mem::replace(&mut state.phase, Phase::Over);
        drop(state);
        drop(phase);
        self.wake_receiver.notify_one();
    }

    /// The handler of the POST is done, which is fine if the response has become a stream.
    pub(super) fn let_go(&self) {
        if !matches!(self.lock().phase, Phase::Streaming(_)) {
            self.client_disconnected();
        }
    }

    async fn next(&self) -> Option<Inbound> {
        loop {
            {
                let mut state = self.lock();
                if let Some(message) = state.message.take() {
                    return Some(message.inbound(self.expects_response.then_some(TICKET)));
                }
                if state.gone == Gone::Unnoticed {
                    state.gone = Gone::Noticed;
                    return Some(Inbound::ExchangeEnded { ticket: TICKET, error: None });
                }
                if matches!(state.phase, Phase::Over | Phase::Started(_, None)) {
                    return None;
                }
            }
            match &self.ending {
                None => self.wake_receiver.notified().await,
                Some(ending) => tokio::select! {
                    biased;
                    () = self.wake_receiver.notified() => {}
                    () = ending.cancelled() => return None,
                },
            }
        }
    }

    async fn put(&self, outbound: Outbound) -> Result<(), TransportError> {
        let Some(sender) = self.begin_response(&outbound)? else { return Ok(()) };
        let stall = self.settings.stall_timeout;
        let event = event(&outbound);
        let room = tokio::time::timeout(stall, sender.reserve(event.size()));
        let Ok(room) = room.await else {
            self.client_disconnected();
            return Err(TransportError::Stalled { seconds: stall.as_secs() });
        };
        let Ok(permit) = room else {
            self.client_disconnected();
            return Err(lost());
        };
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Streaming(_) | Phase::Started(_, Some(_))) {
            return Err(closed(&state));
        }
        permit.send(event);
        if matches!(outbound.role, OutboundRole::Response(_)) {
            end(&mut state.phase);
            self.wake_receiver.notify_one();
        }
        Ok(())
    }

    /// Begins the response with this message; if it has already begun, returns the sender of its
    /// stream.
    fn begin_response(&self, outbound: &Outbound) -> Result<Option<EventSender>, TransportError> {
        let mut state = self.lock();
        let waker = match &mut state.phase {
            Phase::Pending(waker) => waker.take(),
            Phase::Streaming(sender) | Phase::Started(_, Some(sender)) => {
                return Ok(Some(sender.clone()));
            }
            Phase::Over | Phase::Started(_, None) => return Err(closed(&state)),
        };
        state.phase = match outbound.role {
            OutboundRole::Response(status)
                if self.accepts.json || status != ResponseStatus::Served =>
            {
                Phase::Started(
                    ResponseStart::Answer(status, outbound.bytes.clone(), outbound.parsed.clone()),
                    None,
                )
            }
            OutboundRole::Response(_) => {
                Phase::Started(ResponseStart::Events(self.stream(outbound, None)), None)
            }
            OutboundRole::Request | OutboundRole::Notification => {
                let (sender, live) = event_queue(&self.settings);
                let stream = self.stream(outbound, Some(live));
                Phase::Started(ResponseStart::Events(stream), Some(sender))
            }
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        self.wake_receiver.notify_one();
        Ok(None)
    }

    fn stream(&self, first: &Outbound, live: Option<EventReceiver>) -> EventStream {
        let backlog = VecDeque::from([event(first)]);
        let observer = Arc::new(ClientReader(self.this.clone()));
        EventStream::new(backlog, live, self.settings.keep_alive, observer)
    }

    /// Ends the response without sending anything more.
    pub(super) fn finish(&self) {
        let mut state = self.lock();
        let waker = match &mut state.phase {
            Phase::Pending(waker) => waker.take(),
            _ => None,
        };
        end(&mut state.phase);
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        self.wake_receiver.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for StatelessExchange {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(async { Ok(self.next().await) })
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(self.put(outbound))
    }

    fn framing(&self) -> Framing {
        Framing::HttpExchanges
    }

    fn finish_exchange(&self, _: Ticket) {
        self.finish();
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.finish();
        Box::pin(std::future::ready(()))
    }
}

/// A message as an event; such streams cannot be resumed.
fn event(outbound: &Outbound) -> Event {
    Event { text: message_event(None, &outbound.bytes), message: outbound.parsed.clone() }
}

/// Tells the exchange when its stream is dropped. Weak, as the exchange may hold the stream.
#[derive(Debug)]
struct ClientReader(Weak<StatelessExchange>);

impl StreamObserver for ClientReader {
    fn stream_dropped(&self) {
        if let Some(exchange) = self.0.upgrade() {
            exchange.client_disconnected();
        }
    }
}

impl fmt::Debug for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Pending(_) => "pending",
            Phase::Started(..) => "started",
            Phase::Streaming(_) => "streaming",
            Phase::Over => "over",
        })
    }
}

/// The start of the response can still be picked up, but nothing follows it.
fn end(phase: &mut Phase) {
    match phase {
        Phase::Started(_, more) => *more = None,
        phase => *phase = Phase::Over,
    }
}

fn closed(state: &State) -> TransportError {
    if state.gone == Gone::No { TransportError::Closed } else { lost() }
}

fn lost() -> TransportError {
    TransportError::Lost("the client has disconnected".to_owned())
}
