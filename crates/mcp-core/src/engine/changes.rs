//! Notifications about changed lists and resources.

use std::{borrow::Cow, future::poll_fn, sync::Arc, task::Poll};

use serde_json::json;
use tokio::sync::watch;

use super::{Conversation, Mcp, updates::Listener};
use crate::{Json, Notification, Peer, PeerError};

/// A changed list or resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Tools,
    Prompts,
    Resources,
    /// One resource.
    Updated(Arc<str>),
}

/// The stream of changes from now on.
#[derive(Debug)]
pub(super) struct Changes {
    tools: watch::Receiver<u64>,
    prompts: watch::Receiver<u64>,
    resources: watch::Receiver<u64>,
    templates: watch::Receiver<u64>,
    updates: Option<Arc<Listener>>,
    /// Changes returned since the last yield.
    consecutive: u32,
}

/// The number of changes after which the rest of the conversation gets a turn.
const MAX_CONSECUTIVE: u32 = 64;

impl Changes {
    /// The changes of all lists, and of the resources that `updates` is subscribed to.
    pub(super) fn of(mcp: &Mcp, updates: Option<Arc<Listener>>) -> Changes {
        Changes {
            tools: mcp.tools().changes(),
            prompts: mcp.prompts().changes(),
            resources: mcp.resources().changes(),
            templates: mcp.templates().changes(),
            updates,
            consecutive: 0,
        }
    }

    /// Waits for the next change; `None` when the server is gone.
    pub(super) async fn next(&mut self) -> Option<Change> {
        // With a constant supply of changes this would otherwise never yield.
        self.consecutive = (self.consecutive + 1) % MAX_CONSECUTIVE;
        if self.consecutive == 0 {
            yield_now().await;
        }
        let updated = async {
            match &self.updates {
                Some(updates) => updates.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = self.tools.changed() => changed.ok().map(|()| Change::Tools),
            changed = self.prompts.changed() => changed.ok().map(|()| Change::Prompts),
            changed = self.resources.changed() => changed.ok().map(|()| Change::Resources),
            changed = self.templates.changed() => changed.ok().map(|()| Change::Resources),
            uri = updated => Some(Change::Updated(uri)),
        }
    }
}

/// Yields to whatever else runs in the same task.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Whether the peer is gone. A notification that was merely rejected by the gate, for example for
/// a resource with an invalid URI, does not stop later ones.
pub(super) fn is_gone(sent: &Result<(), PeerError>) -> bool {
    matches!(sent, Err(error) if !matches!(error, PeerError::NotSent { .. }))
}

impl Conversation {
    /// Notifies the client of changes once it has finished its handshake.
    pub(super) async fn forward_changes(&self, peer: Arc<dyn Peer>) {
        let mut ready = self.ready.subscribe();
        if ready.wait_for(|ready| *ready).await.is_err() {
            return;
        }
        let mut changes = Changes::of(&self.mcp, Some(Arc::clone(self.listener())));
        let offer = &self.mcp.shared.offer;
        let announces = |offered: bool| offer.list_changes && offered;
        while let Some(change) = changes.next().await {
            let (method, params) = match &change {
                Change::Tools if announces(offer.tools) => {
                    ("notifications/tools/list_changed", None)
                }
                Change::Prompts if announces(offer.prompts) => {
                    ("notifications/prompts/list_changed", None)
                }
                Change::Resources if announces(offer.resources) => {
                    ("notifications/resources/list_changed", None)
                }
                Change::Updated(uri) => {
                    ("notifications/resources/updated", Json::of(&json!({ "uri": &**uri })).ok())
                }
                _ => continue,
            };
            let notification = Notification { method: Cow::Borrowed(method), params };
            if is_gone(&peer.notify(notification).await) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::Implementation;

    #[test]
    fn a_constant_supply_of_changes_yields_to_others() {
        let mcp = Mcp::builder(Implementation::new("test", "1")).build().unwrap();
        let updates = mcp.shared.updates.listen(["a:b".to_owned()].into());
        let mut changes = Changes::of(&mcp, Some(updates));
        let mut yields = 0;
        for _ in 0..2 * MAX_CONSECUTIVE {
            mcp.resource_updated("a:b");
            yields += u32::from(changes.next().now_or_never().is_none());
        }
        assert_eq!(yields, 2);
    }
}
