use std::sync::Arc;

use tokio::sync::broadcast;

use super::member::Shelves;
use crate::ClientEvent;

/// Something one of the servers told without being asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HostEvent {
    /// The server's name at this host.
    pub server: Arc<str>,
    /// What it told.
    pub event: ClientEvent,
}

/// Passes on what a server tells, and takes note of what it means for the lists.
pub(super) async fn forward(
    server: Arc<str>,
    mut from: broadcast::Receiver<ClientEvent>,
    shelves: Arc<Shelves>,
    to: broadcast::Sender<HostEvent>,
) {
    loop {
        match from.recv().await {
            Ok(event) => {
                take_note(&event, &shelves);
                // Nobody may be listening.
                let _ = to.send(HostEvent { server: Arc::clone(&server), event });
            }
            // What was missed may have been that something has changed.
            Err(broadcast::error::RecvError::Lagged(_)) => shelves.outdate(),
            Err(broadcast::error::RecvError::Closed) => return,
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
        ClientEvent::Closed => shelves.outdate(),
        _ => {}
    }
}
