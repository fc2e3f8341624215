use std::{fmt, sync::Arc};

use tokio_util::sync::CancellationToken;

use super::{BoxFuture, Peer};
use crate::{Dispatch, Error, Notification, OutputContract, Request, Response, Revision};

/// Serves the peer's requests and notifications, one handler per conversation.
///
/// Requests are handled concurrently; responses are sent in the order in which they are ready.
pub trait Handler: fmt::Debug + Send + Sync {
    /// Serves a request. Dropping the future abandons it.
    fn handle_request(&self, request: Request, call: Call) -> BoxFuture<'_, UncheckedResponse>;

    /// Handles a notification, in order of arrival. `peer` is its sender.
    fn handle_notification(
        &self,
        notification: Notification,
        peer: Arc<dyn Peer>,
    ) -> BoxFuture<'_, ()>;

    /// The negotiated revision, once there is one.
    fn revision(&self) -> Option<Revision> {
        None
    }

    /// How calls are dispatched. Adapters adjust error codes, ids and batches to it.
    fn dispatch(&self) -> Dispatch {
        Dispatch::Mcp
    }

    /// Runs alongside the conversation until it ends, to send messages that are not responses:
    /// list changes, for example.
    fn run_background(&self, peer: Arc<dyn Peer>) -> BoxFuture<'_, ()> {
        let _ = peer;
        Box::pin(std::future::ready(()))
    }

    /// Called when notifications from the peer may be lost from now on; the conversation continues.
    fn notifications_lost(&self) {}

    /// Called when the peer will send nothing more. Requests in flight are finished, except
    /// long-lived subscriptions, which should end.
    fn input_ended(&self) {}
}

/// A response, and the output check that is still to be made.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "handlers build it")]
pub struct UncheckedResponse {
    /// The response.
    pub response: Response,
    /// The tool's output contract. The adapter checks it on the outgoing message, which is parsed
    /// anyway, or calls [`UncheckedResponse::checked`].
    pub contract: Option<OutputContract>,
}

impl UncheckedResponse {
    /// The response if it satisfies the contract, otherwise an error.
    pub fn checked(self) -> Response {
        let UncheckedResponse { response, contract } = self;
        let checked = match (&response.outcome, contract) {
            (Ok(result), Some(contract)) => result
                .to_parsed()
                .map_err(|error| Error::internal(format!("the result is not JSON: {error}")))
                .and_then(|result| contract.check(result.document().root())),
            _ => Ok(()),
        };
        match checked {
            Ok(()) => response,
            Err(error) => Response { outcome: Err(error), ..response },
        }
    }
}

impl From<Response> for UncheckedResponse {
    fn from(response: Response) -> UncheckedResponse {
        UncheckedResponse { response, contract: None }
    }
}

/// The context that an adapter gives a request.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "adapters build it")]
pub struct Call {
    /// The caller, bound to this request: messages to it use the request's own stream if the
    /// transport has one.
    pub peer: Arc<dyn Peer>,
    /// Cancelled when the response is no longer needed.
    pub cancellation: CancellationToken,
}
