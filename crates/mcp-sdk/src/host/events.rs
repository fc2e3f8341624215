use std::sync::Arc;

use super::member::Shelves;
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
    shelves: Arc<Shelves>,
    to: Arc<Feed<HostEvent>>,
) {
    loop {
        match from.recv().await {
            Ok(event) => {
                take_note(&event, &shelves);
                to.tell(HostEvent { server: Arc::clone(&server), event });
            }
            // The missed events may have been changes.
            Err(ListenError::Missed(_)) => shelves.outdate(),
            Err(ListenError::Over) => return,
        }
    }
}

fn take_note(event: &ClientEvent, shelves: &Shelves) {
    match event {
        ClientEvent::ToolsChanged => shelves.tools.outdate(),
        ClientEvent::PromptsChanged => shelves.prompts.outdate(),
        ClientEvent::ResourcesChanged => {
            shelves.resources.outdate();
            shelves.templates.outdate();
        }
        ClientEvent::NewsLost | ClientEvent::Closed => shelves.outdate(),
        _ => {}
    }
}
