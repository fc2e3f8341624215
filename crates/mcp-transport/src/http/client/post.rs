//! One request and its response.

use std::{pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use mcp_core::{Era, MessageEnds, Ticket, TransportError};
use tokio::{
    sync::{OwnedSemaphorePermit, oneshot},
    time::{Instant, sleep_until, timeout},
};

use super::{
    Shared,
    backoff::Backoff,
    inbox::{Abandoned, Skipped},
    pending_posts::Disconnect,
    reply::{ErrorResponse, Reply, drain, read_whole},
    stream::{Ended, Stream},
    watched::{WatchedResponse, WatchedStream},
};
use crate::http::headers::SESSION_ID;

/// How long to wait for a stream to end by itself once it may have delivered its answer.
const LINGER: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct PostTask {
    pub(super) shared: Arc<Shared>,
    pub(super) ticket: Ticket,
    pub(super) era: Era,
    pub(super) disconnect: oneshot::Receiver<Disconnect>,
    /// Counts towards the limit while the exchange is running.
    pub(super) permit: OwnedSemaphorePermit,
}

impl PostTask {
    pub(super) async fn run(mut self, request: Request<Full<Bytes>>) {
        let task = PostWork { shared: &self.shared, ticket: self.ticket, era: self.era };
        let mut running = pin!(task.run(request));
        tokio::select! {
            biased;
            () = &mut running => {}
            disconnect = &mut self.disconnect => {
                if disconnect == Ok(Disconnect::AfterAnswer) {
                    let _ = timeout(LINGER, running).await;
                }
            }
        }
        drop(self.permit);
    }
}

/// The part that does not care whether anyone is still waiting.
struct PostWork<'x> {
    shared: &'x Shared,
    ticket: Ticket,
    era: Era,
}

impl PostWork<'_> {
    async fn run(&self, request: Request<Full<Bytes>>) {
        let in_session = request.headers().contains_key(SESSION_ID);
        let response = match self.response_to(request).await {
            Ok(response) => response,
            Err(error) => return self.over(Some(error)).await,
        };
        if response.status().is_success() {
            self.shared.conversation.open_session(self.era, response.headers());
        }
        match Reply::of(response) {
            Reply::Json(body, watched) => self.answer(body, watched).await,
            // If the receiver is gone, nobody needs to know.
            Reply::Events(body, watched) => drop(self.follow((body, watched)).await),
            Reply::Accepted(body) => {
                drain(body).await;
                self.over(None).await;
            }
            Reply::ErrorStatus(refusal) => self.refused(refusal, in_session).await,
            Reply::Unreadable(error) => self.over(Some(error)).await,
        }
    }

    async fn response_to(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TransportError> {
        let response = self.shared.endpoint.exchange(request);
        let Some(limit) = self.shared.settings.answer_timeout else { return response.await };
        match timeout(limit, response).await {
            Ok(response) => response,
            Err(_) => Err(TransportError::Unanswered { seconds: limit.as_secs() }),
        }
    }

    async fn answer(&self, body: Incoming, watched: WatchedResponse) {
        match read_whole(body, self.shared.settings.max_message).await {
            Ok(bytes) if bytes.is_empty() => {
                let error = TransportError::Framing("the response has no body".to_owned());
                self.over(Some(error)).await;
            }
            Ok(bytes) => match watched.body(bytes) {
                Ok(message) => self.shared.inbox.last(self.ticket, Some(message), None).await,
                Err(error) => self.over(Some(error)).await,
            },
            Err(error) => {
                if let TransportError::TooLong { length, limit } = error {
                    // The end of the exchange shows which request it answered.
                    let skipped = Skipped { length, limit, ends: MessageEnds::default() };
                    let _ = self.shared.inbox.skipped(Some(self.ticket), skipped).await;
                }
                self.over(Some(error)).await;
            }
        }
    }

    async fn refused(&self, refusal: ErrorResponse, in_session: bool) {
        // Whatever the body says, the status is enough.
        if in_session && refusal.status == StatusCode::NOT_FOUND {
            self.shared.conversation.expire();
            self.over(Some(TransportError::SessionExpired)).await;
            // The caller waiting for this answer is told first.
            return self.shared.expired.cancel();
        }
        let (message, error) = refusal.read(self.shared.settings.max_message).await;
        self.shared.inbox.last(self.ticket, message, Some(error)).await;
    }

    /// Reads a stream to its end, resuming it as long as the answer has not come.
    async fn follow(&self, body: (Incoming, WatchedStream)) -> Result<(), Abandoned> {
        let Shared { settings, inbox, .. } = self.shared;
        let mut stream = Stream::new(Some(self.ticket), settings.max_message);
        let mut backoff = Backoff::new(settings.retry);
        let mut ended = stream.read(body, inbox).await?;
        loop {
            if ended.blocked.is_some() {
                self.over(ended.blocked).await;
                return Ok(());
            }
            let ended_at = Instant::now();
            if ended.events {
                backoff.reset();
            }
            let wait = backoff.next(stream.retry());
            // The skipped message is probably the answer, and would be skipped again.
            let resumable = self.era == Era::Legacy
                && ended.skipped.is_none()
                && wait <= settings.max_retry
                && backoff.attempts() <= settings.resume_attempts;
            let Some(id) = stream.last_id().filter(|_| resumable) else {
                self.over(Some(self.lost(&ended))).await;
                return Ok(());
            };
            if !inbox.is_wanted(self.ticket).await {
                return Ok(());
            }
            self.shared.pending.set_last_error(self.ticket, self.lost(&ended));
            sleep_until(ended_at + wait).await;
            // It may have been abandoned in the meantime.
            if !self.shared.pending.is_open(self.ticket) {
                return Ok(());
            }
            ended = match self.resume(id).await {
                Resumed::Stream(body) => stream.read(body, inbox).await?,
                Resumed::NotNow(error) => Ended { broken: Some(error), ..Ended::default() },
                Resumed::Never(error) => {
                    self.over(Some(error)).await;
                    return Ok(());
                }
            };
        }
    }

    async fn resume(&self, last_id: HeaderValue) -> Resumed {
        let Shared { endpoint, conversation, .. } = self.shared;
        if let Err(error) = conversation.check() {
            return Resumed::Never(error);
        }
        let reason = match endpoint.exchange(endpoint.get(Some(last_id), conversation)).await {
            Err(error) => return Resumed::NotNow(error),
            Ok(response) => match Reply::of(response) {
                Reply::Events(body, watched) => return Resumed::Stream((body, watched)),
                Reply::ErrorStatus(refusal) if is_passing(refusal.status) => {
                    let status = refusal.status.as_u16();
                    let text = format!("resuming the stream failed with status {status}");
                    return Resumed::NotNow(TransportError::Lost(text));
                }
                Reply::ErrorStatus(refusal) => format!("status {}", refusal.status.as_u16()),
                Reply::Unreadable(error) => error.to_string(),
                Reply::Json(..) | Reply::Accepted(_) => "the response is not a stream".to_owned(),
            },
        };
        let text = format!("the stream broke off and cannot be resumed: {reason}");
        Resumed::Never(TransportError::Lost(text))
    }

    fn lost(&self, ended: &Ended) -> TransportError {
        match (ended.skipped, &ended.broken) {
            (Some(length), _) => {
                TransportError::TooLong { length, limit: self.shared.settings.max_message as u64 }
            }
            (None, Some(error)) => error.clone(),
            (None, None) => TransportError::Lost("the stream ended without an answer".to_owned()),
        }
    }

    async fn over(&self, error: Option<TransportError>) {
        self.shared.inbox.last(self.ticket, None, error).await;
    }
}

/// Whether a retry may succeed after this status.
pub(super) fn is_passing(status: StatusCode) -> bool {
    let busy = matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
    busy || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

/// The result of trying to resume a stream.
enum Resumed {
    Stream((Incoming, WatchedStream)),
    NotNow(TransportError),
    Never(TransportError),
}
