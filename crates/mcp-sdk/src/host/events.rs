use std::sync::Arc;

use super::member::CachedLists;
use crate::{
    ClientEvent,
    feed::{Feed, ListenError, Listener, Weighed},
};

/// An event of one of the servers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HostEvent {
    /// The server's name at this host.
    pub server: Arc<str>,
    /// The event.
    pub event: ClientEvent,
}

impl Weighed for HostEvent {
    fn weight(&self) -> usize {
        self.event.weight()
    }
}

/// Forwards a server's events, and invalidates lists that have changed.
pub(super) async fn forward(
    server: Arc<str>,
    mut from: Listener<ClientEvent>,
    lists: Arc<CachedLists>,
    to: Arc<Feed<HostEvent>>,
) {
    loop {
        match from.recv().await {
            Ok(event) => {
                take_note(&event, &lists);
                to.tell(HostEvent { server: Arc::clone(&server), event });
            }
            // The missed events may have been changes.
            Err(ListenError::Missed(_)) => lists.invalidate(),
            Err(ListenError::Closed) => return,
        }
    }
}

fn take_note(event: &ClientEvent, lists: &CachedLists) {
    match event {
        ClientEvent::ToolsChanged => lists.tools.invalidate(),
        ClientEvent::PromptsChanged => lists.prompts.invalidate(),
        ClientEvent::ResourcesChanged => {
            lists.resources.invalidate();
            lists.templates.invalidate();
        }
        ClientEvent::NotificationsLost | ClientEvent::Closed => lists.invalidate(),
        _ => {}
    }
}
