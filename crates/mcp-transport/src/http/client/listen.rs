//! The stream on which a server before 2026-07-28 says what nobody asked for.

use std::sync::Arc;

use http::{Response, StatusCode};
use hyper::body::Incoming;
use mcp_core::TransportError;
use tokio::time::{Instant, sleep_until};

use super::{
    Shared, backoff::Backoff, exchange::is_passing, inbox::Abandoned, reply::Reply, stream::Stream,
};

/// Listens until the conversation ends, or the server says that there is nothing to listen to.
pub(super) async fn listen(shared: Arc<Shared>) {
    tokio::select! {
        biased;
        () = shared.closing.cancelled() => {}
        _ = follow(&shared) => {}
    }
}

async fn follow(shared: &Shared) -> Result<(), Abandoned> {
    let mut stream = Stream::new(None, shared.settings.max_message);
    let mut backoff = Backoff::new(shared.settings.retry);
    let mut ever_opened = false;
    while shared.conversation.check().is_ok() {
        let request = shared.endpoint.get(stream.last_id(), &shared.conversation);
        match heard(shared.endpoint.exchange(request).await) {
            Heard::Stream(body) => {
                ever_opened = true;
                if stream.read(body, &shared.inbox).await?.events {
                    backoff.reset();
                }
            }
            Heard::Refusal(StatusCode::NOT_FOUND) if ever_opened => {
                shared.conversation.expire();
                return Ok(());
            }
            Heard::Refusal(status) if !is_passing(status) => {
                tracing::debug!(%status, "the server has no stream of its own");
                return Ok(());
            }
            Heard::Nothing => return Ok(()),
            Heard::Refusal(_) | Heard::Failure => {}
        }
        let ended_at = Instant::now();
        let wait = backoff.next(stream.retry());
        if wait > shared.settings.max_retry {
            break;
        }
        sleep_until(ended_at + wait).await;
    }
    Ok(())
}

enum Heard {
    Stream(Incoming),
    Refusal(StatusCode),
    Failure,
    Nothing,
}

fn heard(response: Result<Response<Incoming>, TransportError>) -> Heard {
    match response.map(Reply::of) {
        Ok(Reply::Events(body)) => Heard::Stream(body),
        Ok(Reply::Refused(refusal)) => Heard::Refusal(refusal.status),
        Ok(_) => Heard::Nothing,
        Err(error) => {
            tracing::debug!(%error, "the server's own stream cannot be reached");
            Heard::Failure
        }
    }
}
