//! What clients are told without asking.

use std::{borrow::Cow, future::poll_fn, sync::Arc, task::Poll};

use serde_json::json;
use tokio::sync::watch;

use super::{Conversation, Mcp, updates::Listener};
use crate::{Json, Notification, Peer, PeerError};

/// Something has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum News {
    Tools,
    Prompts,
    Resources,
    /// One resource.
    Updated(Arc<str>),
}

/// Everything that changes from now on.
#[derive(Debug)]
pub(super) struct Changes {
    tools: watch::Receiver<u64>,
    prompts: watch::Receiver<u64>,
    resources: watch::Receiver<u64>,
    templates: watch::Receiver<u64>,
    updates: Option<Arc<Listener>>,
    /// Told one after the other, without a pause.
    in_a_row: u32,
}

/// News after which the rest of the conversation has its turn.
const IN_A_ROW: u32 = 64;

impl Changes {
    /// Of all lists, and of the resources of which `updates` wants to hear.
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
        // Where there is always something new, this would never wait for anything.
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

/// Lets whatever else runs in the same task have its turn.
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

/// Whether nobody hears us any more. News that only did not pass the gate, of a resource whose URI is
/// none, say, hold back no others.
pub(super) fn is_gone(told: &Result<(), PeerError>) -> bool {
    matches!(told, Err(error) if !matches!(error, PeerError::NotSent { .. }))
}

impl Conversation {
    /// Tells a client that has finished its handshake what has changed.
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
    fn news_without_end_leave_room_for_others() {
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
