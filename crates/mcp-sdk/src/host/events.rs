use std::sync::Arc;

use super::member::Shelves;
use crate::{
    ClientEvent,
    feed::{Feed, ListenError, Listener, Weighed},
};

/// Something one of the servers told without being asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HostEvent {
    /// The server's name at this host.
    pub server: Arc<str>,
    /// What it told.
    pub event: ClientEvent,
}

impl Weighed for HostEvent {
    fn weight(&self) -> usize {
        self.event.weight()
    }
}

/// Passes on what a server tells, and takes note of what it means for the lists.
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
            // What was missed may have been that something has changed.
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
