//! Notifications about changed lists and resources.

use std::{borrow::Cow, future::poll_fn, sync::Arc, task::Poll};

use serde_json::json;
use tokio::sync::watch;

use super::{Conversation, Mcp, updates::Listener};
use crate::{Json, Notification, Peer, PeerError};

/// A changed list or resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum News {
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
    in_a_row: u32,
}

/// The number of changes after which the rest of the conversation gets a turn.
const IN_A_ROW: u32 = 64;

impl Changes {
    /// The changes of all lists, and of the resources that `updates` is subscribed to.
    pub(super) fn of(mcp: &Mcp, updates: Option<Arc<Listener>>) -> Changes {
        Changes {
            tools: mcp.tools().changes(),
            prompts: mcp.prompts().changes(),
            resources: mcp.resources().changes(),
            templates: mcp.templates().changes(),
            updates,
            in_a_row: 0,
        }
    }

    /// Waits for the next change; `None` when the server is gone.
    pub(super) async fn next(&mut self) -> Option<News> {
        // With a constant supply of changes this would otherwise never yield.
        self.in_a_row = (self.in_a_row + 1) % IN_A_ROW;
        if self.in_a_row == 0 {
            pause().await;
        }
        let updated = async {
            match &self.updates {
                Some(updates) => updates.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = self.tools.changed() => changed.ok().map(|()| News::Tools),
            changed = self.prompts.changed() => changed.ok().map(|()| News::Prompts),
            changed = self.resources.changed() => changed.ok().map(|()| News::Resources),
            changed = self.templates.changed() => changed.ok().map(|()| News::Resources),
            uri = updated => Some(News::Updated(uri)),
        }
    }
}

/// Yields to whatever else runs in the same task.
async fn pause() {
    let mut has_paused = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_paused, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Whether the peer is gone. A notification that was merely rejected by the gate, for example for
/// a resource with an invalid URI, does not stop later ones.
pub(super) fn is_gone(told: &Result<(), PeerError>) -> bool {
    matches!(told, Err(error) if !matches!(error, PeerError::NotSent { .. }))
}

impl Conversation {
    /// Notifies the client of changes once it has finished its handshake.
    pub(super) async fn bring_news(&self, peer: Arc<dyn Peer>) {
        let mut ready = self.ready.subscribe();
        if ready.wait_for(|ready| *ready).await.is_err() {
            return;
        }
        let mut changes = Changes::of(&self.mcp, Some(Arc::clone(self.listener())));
        let offer = &self.mcp.shared.offer;
        let tells = |offered: bool| offer.list_changes && offered;
        while let Some(news) = changes.next().await {
            let (method, params) = match &news {
                News::Tools if tells(offer.tools) => ("notifications/tools/list_changed", None),
                News::Prompts if tells(offer.prompts) => {
                    ("notifications/prompts/list_changed", None)
                }
                News::Resources if tells(offer.resources) => {
                    ("notifications/resources/list_changed", None)
                }
                News::Updated(uri) => {
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
        let mut pauses = 0;
        for _ in 0..2 * IN_A_ROW {
            mcp.resource_updated("a:b");
            pauses += u32::from(changes.next().now_or_never().is_none());
        }
        assert_eq!(pauses, 2);
    }
}
