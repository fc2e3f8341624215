//! Drives a conversation: receives, validates, converts, calls the handler, converts back, sends.
//!
//! Client and server are the same here: either side may send requests, responses and notifications.
//! The peer's requests are handled concurrently in one task; a response is sent when it is ready.

mod calls;
mod cancelled;
mod in_flight;
mod output_check;
mod overlong;
mod peer;
mod respond;
mod settings;
mod settle;
#[cfg(test)]
mod tests;
mod unsent;

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

use self::{calls::Calls, in_flight::InFlight, overlong::Overlong, unsent::UnsentRefusals};
pub use self::{peer::JsonRpcPeer, settings::ProcessorSettings};
use crate::{
    JsonRpcId, JsonRpcMessage, JsonRpcNotification, JsonRpcTransport, OpenGate,
    transport::{Arrival, Entry, ReceivedBatch, RefusedMessage},
};

/// A conversation over a transport.
pub struct JsonRpcProcessor<T> {
    link: Arc<Link<T>>,
    handler: Arc<dyn Handler>,
    abandoned: mpsc::Receiver<i64>,
}

/// State shared by the processor and its peers.
struct Link<T> {
    transport: JsonRpcTransport<T>,
    calls: Calls,
    in_flight: InFlight,
    unsent_refusals: UnsentRefusals,
    settings: ProcessorSettings,
    /// Our own requests that were abandoned and should be cancelled.
    abandoned: mpsc::Sender<i64>,
    closing: CancellationToken,
}

impl<T: Transport> Link<T> {
    /// The exchange opened by our request `id`. A server's requests open none.
    fn own_ticket(&self, id: i64) -> Option<Ticket> {
        let is_client = self.transport.side() == Side::Client;
        u64::try_from(id).ok().filter(|_| is_client).map(Ticket)
    }
}

/// The number of messages received in a row before other work gets a turn.
const MAX_CONSECUTIVE: u32 = 64;

/// The work in progress besides receiving.
type Work<'p> = FuturesUnordered<BoxFuture<'p, ()>>;

impl<T: Transport + 'static> JsonRpcProcessor<T> {
    /// Creates a conversation in which the peer calls `tools` by plain JSON-RPC: the method is the
    /// name of a tool, the params are its arguments, and the result is its output. A notification
    /// also runs the tool. Only the envelope of messages is validated.
    ///
    /// | error | code | `data.error_type` |
    /// |---|---|---|
    /// | unknown tool | −32601 | `tool_not_found` |
    /// | invalid params | −32602 | `invalid_params` |
    /// | the tool failed | −32000 | `tool_error` |
    /// | the tool panicked, or returned [`Error::Internal`](mcp_core::Error::Internal) | −32603 | `internal_error` |
    ///
    /// `data.errors` is a list of the individual violations, often empty.
    ///
    /// It needs a tokio runtime with timers. For other settings, a gate or the methods of MCP, see
    /// [`JsonRpcProcessor::with_handler`].
    pub fn new(transport: T, tools: ToolRegistry) -> JsonRpcProcessor<T> {
        let transport = JsonRpcTransport::new(transport, Side::Server, Box::new(OpenGate));
        let handler = Arc::new(Mcp::bare(tools).conversation(None));
        JsonRpcProcessor::with_handler(transport, handler, ProcessorSettings::default())
    }

    /// Creates a conversation in which `handler` serves the peer, with the handler's
    /// [dispatch](Handler::dispatch).
    pub fn with_handler(
        transport: JsonRpcTransport<T>,
        handler: Arc<dyn Handler>,
        settings: ProcessorSettings,
    ) -> JsonRpcProcessor<T> {
        // Room for every request, in case all are abandoned at once.
        let room = settings.max_pending.clamp(1, Semaphore::MAX_PERMITS);
        let (sender, abandoned) = mpsc::channel(room);
        let link = Link {
            transport,
            calls: Calls::new(settings.max_pending),
            in_flight: InFlight::default(),
            unsent_refusals: UnsentRefusals::default(),
            settings,
            abandoned: sender,
            closing: CancellationToken::new(),
        };
        JsonRpcProcessor { link: Arc::new(link), handler, abandoned }
    }

    /// A handle for sending to the peer while [`JsonRpcProcessor::run`] runs.
    pub fn peer(&self) -> JsonRpcPeer<T> {
        JsonRpcPeer { link: Arc::clone(&self.link), ticket: None }
    }

    /// Runs the conversation to its end. When the peer closes it, requests in flight are still
    /// answered, and our own pending requests fail.
    ///
    /// # Errors
    ///
    /// If the transport failed.
    pub async fn run(mut self) -> Result<(), TransportError> {
        let mut abandoned = std::mem::replace(&mut self.abandoned, mpsc::channel(1).1);
        let driver = &self;
        let _fail_pending = FailPendingOnDrop(&driver.link.calls);
        let mut work: Work<'_> = FuturesUnordered::new();
        let mut background = driver.handler.run_background(Arc::new(driver.peer()));
        let mut in_background = true;
        let mut receiving = Box::pin(driver.link.transport.receive());
        let mut consecutive = 0;
        let outcome = loop {
            // Backpressure for a peer that sends but never reads.
            let has_room = work.len() < 2 * driver.link.settings.max_in_flight
                && driver.link.unsent_refusals.has_room();
            // A peer that sends without pause must not starve the branches below.
            let may_receive = has_room && consecutive < MAX_CONSECUTIVE;
            tokio::select! {
                biased;
                Some(()) = work.next(), if !work.is_empty() => {}
                Some(id) = abandoned.recv() => start(&mut work, driver.send_cancelled(id)),
                arrival = &mut receiving, if may_receive => match arrival {
                    Ok(Some(arrival)) => {
                        consecutive += 1;
                        driver.handle(arrival, &mut work);
                        receiving = Box::pin(driver.link.transport.receive());
                    }
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                },
                () = driver.link.closing.cancelled() => break Ok(()),
                () = &mut background, if in_background => in_background = false,
                () = std::future::ready(()), if consecutive >= MAX_CONSECUTIVE => consecutive = 0,
            }
        };
        driver.handler.input_ended();
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

    fn handle<'p>(&'p self, arrival: Arrival, work: &mut Work<'p>) {
        match arrival {
            Arrival::Single { ticket, entry: Ok(message) } => {
                self.handle_message(message, ticket, work);
            }
            Arrival::Single { ticket, entry: Err(refused) } => {
                self.handle_refused(*refused, ticket, work);
            }
            Arrival::Batch { ticket, batch } => self.handle_batch(&batch, ticket, work),
            Arrival::Unreadable { ticket, refusal } => {
                tracing::trace!(reason = ?refusal.reason, "received text that is not JSON");
                // A server may print anything by mistake and expects no response to it. In the
                // exchange of a request, however, it was meant as the response.
                if self.link.transport.side() == Side::Server {
                    start(work, self.refuse(None, refusal, ticket));
                } else {
                    self.settle_invalid(self.own_request(ticket), &refusal, ticket);
                }
            }
            Arrival::TooLong { ticket, length, limit, ends } => {
                tracing::debug!(length, "skipped a message over the size limit");
                let error = TransportError::TooLong { length, limit };
                let message = Overlong::of(&ends);
                // The client may be waiting for a response.
                let is_server = self.link.transport.side() == Side::Server;
                if !self.settle_overlong(&message, error, ticket) && is_server {
                    let refusal = respond::too_long(length, limit);
                    start(work, self.refuse_unseen(message.id, refusal, ticket));
                }
            }
            Arrival::ExchangeEnded { ticket, error } => self.exchange_over(ticket, error),
            Arrival::NotificationsLost(error) => {
                tracing::debug!(%error, "notifications may be lost from now on");
                self.handler.notifications_lost();
            }
            Arrival::Ignored => {}
        }
    }

    fn handle_message<'p>(
        &'p self,
        message: JsonRpcMessage,
        ticket: Option<Ticket>,
        work: &mut Work<'p>,
    ) {
        match message {
            JsonRpcMessage::Request(request) if self.is_stateless_client() => {
                tracing::warn!("dropped a request: a stateless server must not send any");
                tracing::debug!(method = request.method, "the dropped request");
            }
            JsonRpcMessage::Request(request) => start(work, self.serve(request, ticket)),
            JsonRpcMessage::Notification(notification) => {
                self.handle_notification(&notification, ticket, work);
            }
            JsonRpcMessage::Response(response) => self.handle_response(response, ticket),
        }
    }

    fn handle_notification<'p>(
        &'p self,
        notification: &JsonRpcNotification,
        ticket: Option<Ticket>,
        work: &mut Work<'p>,
    ) {
        if let Some(id) = cancelled::cancelled_id(notification)
            && (self.link.in_flight.cancel(&id) || self.end_own_request(&id, ticket))
        {
            return;
        }
        // In bare dispatch a notification can run a tool, and then the limits apply to it.
        let guard = if self.is_bare() {
            let guard = self.begin(None, &notification.method, notification.params.as_ref(), None);
            if guard.is_none() {
                tracing::warn!("dropped a notification: too many requests in flight");
                return;
            }
            guard
        } else {
            None
        };
        let peer: Arc<dyn Peer> = Arc::new(JsonRpcPeer { link: Arc::clone(&self.link), ticket });
        let notification = notification.to_domain_notification();
        start(work, async {
            let _guard = guard;
            let handled = async { self.handler.handle_notification(notification, peer).await };
            if let Err(panic) = AssertUnwindSafe(handled).catch_unwind().await {
                tracing::error!("a notification handler panicked");
                tracing::debug!(message = respond::panic_message(&*panic), "the panic message");
            }
        });
    }

    /// Whether we are a client at a stateless revision, which must not respond to anything.
    fn is_stateless_client(&self) -> bool {
        self.link.transport.side() == Side::Client
            && self.handler.revision().is_some_and(|revision| revision.era() == Era::Modern)
    }

    fn handle_refused<'p>(
        &'p self,
        refused: RefusedMessage,
        ticket: Option<Ticket>,
        work: &mut Work<'p>,
    ) {
        let RefusedMessage {
            message,
            id,
            may_be_response,
            may_expect_response,
            is_response,
            refusal,
        } = refused;
        let is_server = self.link.transport.side() == Side::Server;
        match message {
            Some(JsonRpcMessage::Request(request)) if self.is_stateless_client() => {
                tracing::warn!(reason = ?refusal.reason, "dropped a request");
                tracing::debug!(method = request.method, "the dropped request");
            }
            Some(JsonRpcMessage::Request(_)) => start(work, self.refuse(id, refusal, ticket)),
            Some(JsonRpcMessage::Notification(notification)) => {
                tracing::warn!(reason = ?refusal.reason, "dropped a notification");
                tracing::debug!(method = notification.method, "the dropped notification");
            }
            // A message with the id of our own request was meant as its response.
            Some(JsonRpcMessage::Response(_)) | None => {
                let own = match id.as_ref().and_then(JsonRpcId::as_i64) {
                    _ if !may_be_response => None,
                    Some(id) => Some(id),
                    // Without an id it was meant for the only pending request.
                    None => self.own_request(ticket).or_else(|| {
                        let lacks_id = is_response && id.is_none();
                        self.link.calls.only_pending().filter(|_| lacks_id)
                    }),
                };
                let was_settled = self.settle_invalid(own, &refusal, ticket);
                // An exchange expects a response, whatever its message was meant to be. A server may
                // print anything, but a message with a method and an id expects a response.
                let expects_response = if is_server {
                    ticket.is_some() || may_expect_response && !was_settled
                } else {
                    may_expect_response
                        && !may_be_response
                        && id.is_some()
                        && !self.is_stateless_client()
                };
                if message.is_none() && expects_response {
                    start(work, self.refuse(id, refusal, ticket));
                }
            }
        }
    }

    fn handle_batch<'p>(
        &'p self,
        batch: &ReceivedBatch,
        ticket: Option<Ticket>,
        work: &mut Work<'p>,
    ) {
        let limit = self.link.settings.max_batch;
        let accepts = self.accepts_batches();
        if accepts && batch.len() <= limit {
            return self.handle_entries(batch.entries(), ticket, work);
        }
        let refusal = batch.refusal().cloned().unwrap_or_else(|| {
            if accepts {
                respond::batch_too_long(batch.len(), limit)
            } else {
                respond::batches_unsupported()
            }
        });
        self.refuse_batch(batch, refusal, ticket, work);
    }

    fn handle_entries<'p>(
        &'p self,
        entries: Vec<Entry>,
        ticket: Option<Ticket>,
        work: &mut Work<'p>,
    ) {
        let is_server = self.link.transport.side() == Side::Server;
        let mut requests = Vec::new();
        for entry in entries {
            match entry {
                Ok(JsonRpcMessage::Request(request)) => requests.push(Ok(request)),
                Ok(message) => self.handle_message(message, ticket, work),
                Err(refused) => match refused.message {
                    Some(JsonRpcMessage::Request(_)) => requests.push(Err(refused)),
                    Some(_) => self.handle_refused(*refused, ticket, work),
                    None if self.settle_batch_entry(&refused, ticket) => {}
                    None if is_server && refused.may_expect_response => requests.push(Err(refused)),
                    None => tracing::warn!(reason = ?refused.refusal.reason, "dropped an entry"),
                },
            }
        }
        if !requests.is_empty() {
            start(work, self.serve_batch(requests, ticket));
        } else if is_server {
            self.finish_exchange(ticket);
        }
    }

    /// Rejects a whole batch. Our own requests that it answers fail rather than time out.
    fn refuse_batch<'p>(
        &'p self,
        batch: &ReceivedBatch,
        refusal: Refusal,
        ticket: Option<Ticket>,
        work: &mut Work<'p>,
    ) {
        batch.for_each_answered(|id| {
            if self.link.calls.is_pending(id) {
                self.settle_invalid(Some(id), &refusal, ticket);
            }
        });
        if self.link.transport.side() == Side::Server {
            start(work, self.refuse(None, refusal, ticket));
        }
    }

    async fn send_cancelled(&self, id: i64) {
        let peer = JsonRpcPeer { link: Arc::clone(&self.link), ticket: self.link.own_ticket(id) };
        if let Err(error) = peer.notify(cancelled::cancel(id)).await {
            tracing::debug!(%error, "could not cancel a request");
        }
    }
}

/// Fails our pending requests when the conversation is no longer driven, because its future was
/// dropped or panicked.
struct FailPendingOnDrop<'l>(&'l Calls);

impl Drop for FailPendingOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close("the conversation is no longer running");
    }
}

/// Polls `future` once, which completes most futures; the others are added to `work`.
/// It saves 2 % of the instructions of a call over stdio (15.7 thousand instead of 16.0).
fn start<'p>(work: &mut Work<'p>, future: impl Future<Output = ()> + Send + 'p) {
    let mut future: BoxFuture<'p, ()> = Box::pin(future);
    let mut context = Context::from_waker(Waker::noop());
    // A pending future is polled again from `work`, with a real waker.
    if future.as_mut().poll(&mut context).is_pending() {
        work.push(future);
    }
}

/// Fails pending requests even if the conversation was never run.
impl<T> Drop for JsonRpcProcessor<T> {
    fn drop(&mut self) {
        self.link.calls.close("the conversation was dropped");
    }
}

impl<T> fmt::Debug for JsonRpcProcessor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonRpcProcessor").field("handler", &self.handler).finish_non_exhaustive()
    }
}
