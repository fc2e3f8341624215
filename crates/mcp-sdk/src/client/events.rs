use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
};

use mcp_core::{LogMessage, Notification, Progress, ProgressToken};
use serde::Deserialize;
use tokio::sync::broadcast;

/// Something the server told without being asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The list of tools is not what it was.
    ToolsChanged,
    /// The list of prompts is not what it was.
    PromptsChanged,
    /// The list of resources is not what it was.
    ResourcesChanged,
    /// A resource is not what it was.
    ResourceUpdated {
        /// Which one.
        uri: String,
    },
    /// A message for the log.
    Log(LogMessage),
    /// The conversation is over: nothing more comes, and calls fail. Connections without an end
    /// of their own, as over HTTP, never tell this.
    Closed,
    /// Anything else.
    Other(Notification),
}

/// Where what the server tells goes.
pub(super) struct Events {
    sender: broadcast::Sender<ClientEvent>,
    progress: Mutex<HashMap<ProgressToken, ProgressSink>>,
}

pub(super) type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// Events that a slow listener may be behind before it misses some.
const BACKLOG: usize = 1024;

impl Events {
    pub(super) fn new() -> Events {
        Events { sender: broadcast::channel(BACKLOG).0, progress: Mutex::default() }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<ClientEvent> {
        self.sender.subscribe()
    }

    pub(super) fn follow_progress(&self, token: ProgressToken, sink: ProgressSink) {
        self.sinks().insert(token, sink);
    }

    pub(super) fn forget_progress(&self, token: &ProgressToken) {
        self.sinks().remove(token);
    }

    pub(super) fn take(&self, notification: Notification) {
        if notification.method == "notifications/progress" {
            return self.take_progress(&notification);
        }
        // Nobody may be listening.
        let _ = self.sender.send(event_of(notification));
    }

    pub(super) fn closed(&self) {
        let _ = self.sender.send(ClientEvent::Closed);
    }

    fn take_progress(&self, notification: &Notification) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Token {
            progress_token: ProgressToken,
        }
        let Some(params) = &notification.params else { return };
        let (Ok(token), Ok(progress)) = (params.read::<Token>(), params.read::<Progress>()) else {
            return;
        };
        // It may do anything, such as end another call, so the lock must be free.
        let sink = self.sinks().get(&token.progress_token).cloned();
        if let Some(sink) = sink {
            sink(progress);
        }
    }

    fn sinks(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, ProgressSink>> {
        self.progress.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn event_of(notification: Notification) -> ClientEvent {
    #[derive(Deserialize)]
    struct Updated {
        uri: String,
    }
    let params = notification.params.as_ref();
    match &*notification.method {
        "notifications/tools/list_changed" => ClientEvent::ToolsChanged,
        "notifications/prompts/list_changed" => ClientEvent::PromptsChanged,
        "notifications/resources/list_changed" => ClientEvent::ResourcesChanged,
        "notifications/resources/updated" => {
            match params.and_then(|params| params.read::<Updated>().ok()) {
                Some(Updated { uri }) => ClientEvent::ResourceUpdated { uri },
                None => ClientEvent::Other(notification),
            }
        }
        "notifications/message" => match params.and_then(|params| params.read().ok()) {
            Some(message) => ClientEvent::Log(message),
            None => ClientEvent::Other(notification),
        },
        _ => ClientEvent::Other(notification),
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}

#[cfg(test)]
mod tests {
    use mcp_core::Json;

    use super::*;

    #[test]
    fn a_progress_sink_may_end_its_own_call() {
        let events = Arc::new(Events::new());
        let ended = Arc::clone(&events);
        let sink = move |_| ended.forget_progress(&7.into());
        events.follow_progress(7.into(), Arc::new(sink));
        let params = Json::parse(r#"{"progressToken":7,"progress":1}"#).unwrap();
        let method = "notifications/progress".into();
        events.take(Notification { method, params: Some(params) });
        assert!(events.sinks().is_empty());
    }
}
