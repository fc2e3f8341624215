//! What clients are told without asking.

use std::{borrow::Cow, sync::Arc};

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
}

impl Changes {
    /// Of all lists, and of the resources of which `updates` wants to hear.
    pub(super) fn of(mcp: &Mcp, updates: Option<Arc<Listener>>) -> Changes {
        Changes {
            tools: mcp.tools().changes(),
            prompts: mcp.prompts().changes(),
            resources: mcp.resources().changes(),
            templates: mcp.templates().changes(),
            updates,
        }
    }

    /// Waits for the next change; `None` when the server is gone.
    pub(super) async fn next(&mut self) -> Option<News> {
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
