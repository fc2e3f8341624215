//! Drives a conversation: receives, validates, converts, lets it be handled, converts back, sends.
//!
//! Client and server are the same here: either side may ask, answer and tell. Requests of the other
//! side are handled side by side in one task; an answer leaves when it is ready.

mod answer;
mod calls;
mod cancelled;
mod in_work;
mod overlong;
mod peer;
mod promise;
mod settings;
mod settle;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Waker},
};

use futures_util::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use mcp_core::{
    BoxFuture, Era, Handler, Mcp, Peer, Refusal, Side, Ticket, ToolRegistry, Transport,
    TransportError,
};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use self::{calls::Calls, in_work::InWork, overlong::Overlong};
pub use self::{peer::JsonRpcPeer, settings::ProcessorSettings};
use crate::{
    JsonRpcId, JsonRpcMessage, JsonRpcNotification, JsonRpcTransport, OpenGate,
    transport::{Arrival, Entry, RefusedMessage},
};

/// A conversation over a transport.
pub struct JsonRpcProcessor<T> {
    link: Arc<Link<T>>,
    handler: Arc<dyn Handler>,
    abandoned: mpsc::Receiver<i64>,
}

/// What the driver and the peers it hands out have in common.
struct Link<T> {
    transport: JsonRpcTransport<T>,
    calls: Calls,
    in_work: InWork,
    settings: ProcessorSettings,
    /// Own requests that nobody waits for any more and that the other side should hear about.
    abandoned: mpsc::Sender<i64>,
    closing: CancellationToken,
}

impl<T: Transport> Link<T> {
    /// The exchange that request `id` of ours opens. A server's requests open none.
    fn own_ticket(&self, id: i64) -> Option<Ticket> {
        let is_client = self.transport.side() == Side::Client;
        u64::try_from(id).ok().filter(|_| is_client).map(Ticket)
    }
}

/// Messages that are taken in one after the other before everything else has its turn.
const IN_A_ROW: u32 = 64;

/// Everything that goes on beside receiving.
type Work<'p> = FuturesUnordered<BoxFuture<'p, ()>>;

impl<T: Transport + 'static> JsonRpcProcessor<T> {
    /// Prepares a conversation in which the other side calls `tools` by base JSON-RPC: the method is
    /// the name of a tool, the params are its arguments, the result is what it gives back. A
    /// notification runs the tool too. Messages are judged by their envelope alone.
    ///
    /// | error | code | `data.error_type` |
    /// |---|---|---|
    /// | there is no such tool | −32601 | `tool_not_found` |
    /// | the params do not fit | −32602 | `invalid_params` |
    /// | the tool failed | −32000 | `tool_error` |
    /// | the tool panicked, or gave [`Error::Internal`](mcp_core::Error::Internal) | −32603 | `internal_error` |
    ///
    /// `data.errors` is a list of what exactly is wrong, often empty.
    ///
    /// It runs on tokio with timers. For other settings, a gate or the methods of MCP, see
    /// [`JsonRpcProcessor::with_handler`].
    pub fn new(transport: T, tools: ToolRegistry) -> JsonRpcProcessor<T> {
        let transport = JsonRpcTransport::new(transport, Side::Server, Box::new(OpenGate));
        let handler = Arc::new(Mcp::bare(tools).conversation(None));
        JsonRpcProcessor::with_handler(transport, handler, ProcessorSettings::default())
    }

    /// Prepares a conversation in which `handler` serves the other side, in the way it
    /// [dispatches](Handler::dispatch) calls.
    pub fn with_handler(
        transport: JsonRpcTransport<T>,
        handler: Arc<dyn Handler>,
        settings: ProcessorSettings,
    ) -> JsonRpcProcessor<T> {
        // Room for everything that can be abandoned at once.
        let room = settings.max_waiting.clamp(1, Semaphore::MAX_PERMITS);
        let (sender, abandoned) = mpsc::channel(room);
        let link = Link {
            transport,
            calls: Calls::new(settings.max_waiting),
            in_work: InWork::default(),
            settings,
            abandoned: sender,
            closing: CancellationToken::new(),
        };
        JsonRpcProcessor { link: Arc::new(link), handler, abandoned }
    }

    /// The other side, to be spoken to while [`JsonRpcProcessor::run`] runs.
    pub fn peer(&self) -> JsonRpcPeer<T> {
        JsonRpcPeer { link: Arc::clone(&self.link), ticket: None }
    }

    /// Holds the conversation to its end. Requests in work are still answered when the other side
    /// has said its last word; requests of ours that wait then fail.
    ///
    /// # Errors
    ///
    /// If the transport failed.
    pub async fn run(mut self) -> Result<(), TransportError> {
        let mut abandoned = std::mem::replace(&mut self.abandoned, mpsc::channel(1).1);
        let driver = &self;
        let _waiting = Waiting(&driver.link.calls);
        let mut work: Work<'_> = FuturesUnordered::new();
        let mut attending = driver.handler.attend(Arc::new(driver.peer()));
        let mut attends = true;
        let mut receiving = Box::pin(driver.link.transport.receive());
        let mut in_a_row = 0;
        let outcome = loop {
            // A peer that sends without ever reading is not listened to any further.
            let has_room = work.len() < 2 * driver.link.settings.max_in_work;
            // One that sends without a pause must not keep us from what comes below.
            let listens = has_room && in_a_row < IN_A_ROW;
            tokio::select! {
                biased;
                Some(()) = work.next(), if !work.is_empty() => {}
                Some(id) = abandoned.recv() => start(&mut work, driver.tell_cancelled(id)),
                arrival = &mut receiving, if listens => match arrival {
                    Ok(Some(arrival)) => {
                        in_a_row += 1;
                        driver.take(arrival, &mut work);
                        receiving = Box::pin(driver.link.transport.receive());
                    }
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                },
                () = driver.link.closing.cancelled() => break Ok(()),
                () = &mut attending, if attends => attends = false,
                () = std::future::ready(()), if in_a_row >= IN_A_ROW => in_a_row = 0,
            }
        };
        driver.handler.ending();
        match &outcome {
            Ok(()) => driver.link.calls.close("it was closed"),
            Err(error) => driver.link.calls.close(&error.to_string()),
        }
        if outcome.is_ok() {
            let finished = async { while work.next().await.is_some() {} };
            tokio::select! {
                biased;
                () = finished => {}
                () = driver.link.settings.clock.sleep(driver.link.settings.grace) => {}
            }
        }
        driver.link.transport.inner().close().await;
        outcome
    }

    fn take<'p>(&'p self, arrival: Arrival, work: &mut Work<'p>) {
        match arrival {
            Arrival::Single { ticket, entry: Ok(message) } => {
                self.take_message(message, ticket, work);
            }
            Arrival::Single { ticket, entry: Err(refused) } => {
                self.take_refused(*refused, ticket, work);
            }
            Arrival::Batch { ticket, entries, .. } if self.takes_batches() => {
                self.take_batch(entries, ticket, work);
            }
            Arrival::Batch { ticket, entries, refusal } => {
                let refusal = refusal.unwrap_or_else(answer::no_batches);
                self.refuse_batch(&entries, refusal, ticket, work);
            }
            Arrival::Unreadable { ticket, refusal } => {
                tracing::trace!(reason = ?refusal.reason, "something that is not JSON came in");
                // A server may print anything by mistake; it does not wait for an answer to it. But
                // where it came in the exchange of a request, it was meant as the answer.
                if self.link.transport.side() == Side::Server {
                    start(work, self.refuse(None, refusal, ticket));
                } else {
                    self.settle_invalid(self.own_request(ticket), &refusal, ticket);
                }
            }
            Arrival::TooLong { ticket, length, limit, edges } => {
                tracing::debug!(length, "a message that is too long was skipped");
                let error = TransportError::TooLong { length, limit };
                let message = Overlong::of(&edges);
                // Whoever sent it may wait for an answer.
                let is_server = self.link.transport.side() == Side::Server;
                if !self.settle_overlong(&message, error, ticket) && is_server {
                    let refusal = answer::too_long(length, limit);
                    start(work, self.refuse_unseen(message.id, refusal, ticket));
                }
            }
            Arrival::Over { ticket, error } => self.exchange_over(ticket, error),
            Arrival::Deaf(error) => {
                tracing::debug!(%error, "news do not come any more");
                self.handler.deaf();
            }
            Arrival::Skipped => {}
        }
    }

    fn take_message<'p>(
        &'p self,
        message: JsonRpcMessage,
        ticket: Option<Ticket>,
        work: &mut Work<'p>,
    ) {
        match message {
            JsonRpcMessage::Request(request) if self.may_not_answer() => {
                tracing::warn!(method = request.method, "a stateless server has no requests");
            }
            JsonRpcMessage::Request(request) => start(work, self.serve(request, ticket)),
            JsonRpcMessage::Notification(notification) => {
                self.take_notification(&notification, ticket, work);
            }
            JsonRpcMessage::Response(response) => self.take_response(response, ticket),
        }
    }

    fn take_notification<'p>(
        &'p self,
        notification: &JsonRpcNotification,
        ticket: Option<Ticket>,
        work: &mut Work<'p>,
    ) {
        if let Some(id) = cancelled::cancelled_id(notification)
            && (self.link.in_work.cancel(&id) || self.is_ended(&id, ticket))
        {
            return;
        }
        // Here a notification can run a tool, which takes as long as one that is asked for.
        let place = if self.is_bare() {
            let place = self.enter(None, notification.params.as_ref(), None);
            if place.is_none() {
                let method = &notification.method;
                tracing::warn!(method, "a notification was dropped: too much is in work");
                return;
            }
            place
        } else {
            None
        };
        let peer: Arc<dyn Peer> = Arc::new(JsonRpcPeer { link: Arc::clone(&self.link), ticket });
        let notification = notification.to_domain_notification();
        start(work, async {
            let _place = place;
            let handled = async { self.handler.handle_notification(notification, peer).await };
            if let Err(panic) = AssertUnwindSafe(handled).catch_unwind().await {
                tracing::error!("a notification made its handler panic: {}", answer::said(&*panic));
            }
        });
    }

    /// Whether we are a client without a session: whatever a server asks of it, it has nothing to say.
    fn may_not_answer(&self) -> bool {
        self.link.transport.side() == Side::Client
            && self.handler.revision().is_some_and(|spoken| spoken.era() == Era::Modern)
    }

    fn take_refused<'p>(
        &'p self,
        refused: RefusedMessage,
        ticket: Option<Ticket>,
        work: &mut Work<'p>,
    ) {
        let RefusedMessage { message, id, may_answer, may_ask, is_response, refusal } = refused;
        let is_server = self.link.transport.side() == Side::Server;
        match message {
            Some(JsonRpcMessage::Request(request)) if self.may_not_answer() => {
                tracing::warn!(method = request.method, reason = ?refusal.reason, "dropped");
            }
            Some(JsonRpcMessage::Request(_)) => start(work, self.refuse(id, refusal, ticket)),
            Some(JsonRpcMessage::Notification(notification)) => {
                tracing::warn!(method = notification.method, reason = ?refusal.reason, "dropped");
            }
            // What has the id of a request of ours was meant as its answer.
            Some(JsonRpcMessage::Response(_)) | None => {
                let own = match id.as_ref().and_then(JsonRpcId::as_i64) {
                    _ if !may_answer => None,
                    Some(id) => Some(id),
                    // What names no request was meant for the only one that waits.
                    None => self.own_request(ticket).or_else(|| {
                        let is_nameless = is_response && id.is_none();
                        self.link.calls.only().filter(|_| is_nameless)
                    }),
                };
                let meant = self.settle_invalid(own, &refusal, ticket);
                // An exchange of its own waits for something, whatever its message was meant as. A
                // server may print anything, but what has a method and an id waits for an answer.
                let is_waited_for = if is_server {
                    ticket.is_some() || may_ask && !meant
                } else {
                    may_ask && !may_answer && id.is_some() && !self.may_not_answer()
                };
                if message.is_none() && is_waited_for {
                    start(work, self.refuse(id, refusal, ticket));
                }
            }
        }
    }

    fn take_batch<'p>(&'p self, entries: Vec<Entry>, ticket: Option<Ticket>, work: &mut Work<'p>) {
        let is_server = self.link.transport.side() == Side::Server;
        let mut requests = Vec::new();
        for entry in entries {
            match entry {
                Ok(JsonRpcMessage::Request(request)) => requests.push(Ok(request)),
                Ok(message) => self.take_message(message, ticket, work),
                Err(refused) => match refused.message {
                    Some(JsonRpcMessage::Request(_)) => requests.push(Err(refused)),
                    Some(_) => self.take_refused(*refused, ticket, work),
                    None if self.was_our_answer(&refused, ticket) => {}
                    None if is_server && refused.may_ask => requests.push(Err(refused)),
                    None => tracing::warn!(reason = ?refused.refusal.reason, "dropped"),
                },
            }
        }
        if !requests.is_empty() {
            start(work, self.serve_batch(requests, ticket));
        } else if is_server {
            self.settle(ticket);
        }
    }

    /// Nothing in the batch counts. Requests of ours that it answers must not wait any longer.
    fn refuse_batch<'p>(
        &'p self,
        entries: &[Entry],
        refusal: Refusal,
        ticket: Option<Ticket>,
        work: &mut Work<'p>,
    ) {
        for entry in entries {
            let id = match entry {
                Ok(JsonRpcMessage::Response(response)) => response.id.as_ref(),
                Err(refused) if refused.may_answer => refused.id.as_ref(),
                _ => None,
            };
            if let Some(id) = id.and_then(JsonRpcId::as_i64) {
                self.settle_invalid(Some(id), &refusal, ticket);
            }
        }
        if self.link.transport.side() == Side::Server {
            start(work, self.refuse(None, refusal, ticket));
        }
    }

    async fn tell_cancelled(&self, id: i64) {
        let peer = JsonRpcPeer { link: Arc::clone(&self.link), ticket: self.link.own_ticket(id) };
        if let Err(error) = peer.notify(cancelled::cancel(id)).await {
            tracing::debug!(%error, "could not cancel a request");
        }
    }
}

/// Fails what waits for an answer when nobody drives the conversation any more, whatever the
/// reason: its future was dropped, or something in it panicked.
struct Waiting<'l>(&'l Calls);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.close("nobody drives the conversation any more");
    }
}

/// Polls `future` once; most are done with that, and only the others are kept.
fn start<'p>(work: &mut Work<'p>, future: impl Future<Output = ()> + Send + 'p) {
    let mut future: BoxFuture<'p, ()> = Box::pin(future);
    let mut context = Context::from_waker(Waker::noop());
    // A future that is not ready is polled again, with a real waker, from the list.
    if future.as_mut().poll(&mut context).is_pending() {
        work.push(future);
    }
}

/// However the conversation ends, nobody waits for an answer that cannot come.
impl<T> Drop for JsonRpcProcessor<T> {
    fn drop(&mut self) {
        self.link.calls.close("the conversation was broken off");
    }
}

impl<T> fmt::Debug for JsonRpcProcessor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonRpcProcessor").field("handler", &self.handler).finish_non_exhaustive()
    }
}
