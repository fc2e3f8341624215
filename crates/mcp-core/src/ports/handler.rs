use std::{fmt, sync::Arc};

use tokio_util::sync::CancellationToken;

use super::{BoxFuture, Peer};
use crate::{Dispatch, Error, Notification, OutputPromise, Request, Response, Revision};

/// What serves the calls of a peer: one for each conversation.
///
/// Requests are handled side by side; their answers leave in the order in which they are ready.
pub trait Handler: fmt::Debug + Send + Sync {
    /// Serves a request. Dropping the future abandons it.
    fn handle_request(&self, request: Request, call: Call) -> BoxFuture<'_, Answer>;

    /// Takes a notification, in the order of arrival. `peer` is where it came from.
    fn handle_notification(
        &self,
        notification: Notification,
        peer: Arc<dyn Peer>,
    ) -> BoxFuture<'_, ()>;

    /// The revision the two sides agreed on, once they have.
    fn revision(&self) -> Option<Revision> {
        None
    }

    /// How calls name what they want; adapters follow it in what differs between the two.
    fn dispatch(&self) -> Dispatch {
        Dispatch::Mcp
    }

    /// Runs beside the conversation until it ends, for what nobody asked for: news, for example.
    fn attend(&self, peer: Arc<dyn Peer>) -> BoxFuture<'_, ()> {
        let _ = peer;
        Box::pin(std::future::ready(()))
    }

    /// Hears that news of the other side may be lost from here on, though the conversation goes on.
    fn deaf(&self) {}

    /// Hears that nothing more comes in. Requests in work are finished; those that only wait for
    /// news have nothing to wait for any more.
    fn ending(&self) {}
}

/// A response, and what it still has to be held to.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "handlers build it")]
pub struct Answer {
    /// The response.
    pub response: Response,
    /// What the tool has promised about its output. Whoever writes the response checks it on the
    /// text that leaves, which is parsed anyway, or calls [`Answer::checked`].
    pub promise: Option<OutputPromise>,
}

impl Answer {
    /// The response if it keeps the promise, an error otherwise.
    pub fn checked(self) -> Response {
        let Answer { response, promise } = self;
        let kept = match (&response.outcome, promise) {
            (Ok(result), Some(promise)) => result
                .to_parsed()
                .map_err(|error| Error::internal(format!("the result is not JSON: {error}")))
                .and_then(|result| promise.check(result.document().root())),
            _ => Ok(()),
        };
        match kept {
            Ok(()) => response,
            Err(error) => Response { outcome: Err(error), ..response },
        }
    }
}

impl From<Response> for Answer {
    fn from(response: Response) -> Answer {
        Answer { response, promise: None }
    }
}

/// What surrounds one request.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "adapters build it")]
pub struct Call {
    /// The way back to the caller, bound to this request: what is sent through it travels on the
    /// request's own stream where the transport has one.
    pub peer: Arc<dyn Peer>,
    /// Cancelled when nobody waits for the answer any more.
    pub cancellation: CancellationToken,
}
