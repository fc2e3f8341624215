use std::{fmt, sync::Arc};

use tokio_util::sync::CancellationToken;

use super::{BoxFuture, Peer};
use crate::{Dispatch, Notification, Request, Response, Revision};

/// What serves the calls of a peer: one for each conversation.
///
/// Requests are handled side by side; their answers leave in the order in which they are ready.
pub trait Handler: fmt::Debug + Send + Sync {
    /// Serves a request. Dropping the future abandons it.
    fn handle_request(&self, request: Request, call: Call) -> BoxFuture<'_, Response>;

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
