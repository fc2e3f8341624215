//! The stream on which a server before 2026-07-28 sends notifications and requests (GET).

use std::sync::{Arc, atomic::Ordering};

use http::{Response, StatusCode};
use hyper::body::Incoming;
use mcp_core::TransportError;
use tokio::time::{Instant, sleep_until};

use super::{
    Shared, backoff::Backoff, inbox::Abandoned, post::is_passing, reply::Reply, stream::Stream,
    watched::WatchedStream,
};

/// Listens until the conversation ends, or the server says that it has no such stream.
pub(super) async fn listen(shared: Arc<Shared>) {
    tokio::select! {
        biased;
        () = shared.closing.cancelled() => {}
        outcome = follow(&shared) => match outcome {
            Ok(Outcome::Expired) => shared.expire(),
            Ok(Outcome::GivenUp(error)) => {
                // The receiver may send something as soon as it is told.
                shared.listen_next.store(true, Ordering::Release);
                shared.inbox.stream_lost(error).await;
            }
            Ok(Outcome::NoStream) | Err(Abandoned) => {}
        }
    }
}

/// Why listening ended.
enum Outcome {
    /// The server has no such stream and never had one.
    NoStream,
    Expired,
    GivenUp(TransportError),
}

async fn follow(shared: &Shared) -> Result<Outcome, Abandoned> {
    let mut stream = Stream::new(None, shared.settings.max_message);
    let mut backoff = Backoff::new(shared.settings.retry);
    let mut failures = 0;
    while shared.conversation.check().is_ok() {
        let request = shared.endpoint.get(stream.last_id(), &shared.conversation);
        let has_stream = shared.has_stream.load(Ordering::Acquire);
        let error = match classify(shared.endpoint.exchange(request).await) {
            ListenReply::Stream(body) => {
                shared.has_stream.store(true, Ordering::Release);
                failures = 0;
                let ended = stream.read(body, &shared.inbox).await?;
                if ended.events {
                    backoff.reset();
                }
                ended.blocked.or(ended.broken).unwrap_or_else(|| lost("the server closed it"))
            }
            ListenReply::ErrorResponse(StatusCode::NOT_FOUND) if has_stream => {
                return Ok(Outcome::Expired);
            }
            ListenReply::ErrorResponse(status) if is_passing(status) => refused(status),
            // The server has not yet noticed that the last one is gone.
            ListenReply::ErrorResponse(status @ StatusCode::CONFLICT) if has_stream => {
                refused(status)
            }
            ListenReply::ErrorResponse(status) if has_stream => {
                return Ok(Outcome::GivenUp(refused(status)));
            }
            ListenReply::Nothing if has_stream => {
                return Ok(Outcome::GivenUp(lost("the server no longer has one")));
            }
            ListenReply::ErrorResponse(_) | ListenReply::Nothing => {
                tracing::debug!("the server has no notification stream");
                return Ok(Outcome::NoStream);
            }
            ListenReply::Failure(error) => error,
        };
        tracing::debug!(%error, "the notification stream could not be opened");
        let ended_at = Instant::now();
        let wait = backoff.next(stream.retry());
        if wait > shared.settings.max_retry || failures >= shared.settings.resume_attempts {
            return Ok(Outcome::GivenUp(error));
        }
        sleep_until(ended_at + wait).await;
        // The count restarts whenever there is a stream, however short.
        failures += 1;
    }
    Ok(Outcome::Expired)
}

enum ListenReply {
    Stream((Incoming, WatchedStream)),
    ErrorResponse(StatusCode),
    Failure(TransportError),
    Nothing,
}

fn classify(response: Result<Response<Incoming>, TransportError>) -> ListenReply {
    match response.map(Reply::of) {
        Ok(Reply::Events(body, watched)) => ListenReply::Stream((body, watched)),
        Ok(Reply::ErrorStatus(refusal)) => ListenReply::ErrorResponse(refusal.status),
        Ok(_) => ListenReply::Nothing,
        Err(error) => ListenReply::Failure(error),
    }
}

fn lost(reason: &str) -> TransportError {
    TransportError::Lost(format!("the notification stream: {reason}"))
}

fn refused(status: StatusCode) -> TransportError {
    TransportError::Status { status: status.as_u16(), body: String::new() }
}
