use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use mcp_core::{Json, LogMessage, Notification, Progress, ProgressToken};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Granted, granted::Acknowledged};
use crate::feed::{Feed, Listener, Weighed};

/// A notification from the server, or a change of the connection.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// The list of resources has changed.
    ResourcesChanged,
    /// A resource has changed.
    ResourceUpdated {
        /// Which one.
        uri: String,
    },
    /// A log message. One of more than a mebibyte is not parsed and comes as
    /// [`ClientEvent::Other`].
    Log(LogMessage),
    /// Notifications may have been lost, and [subscriptions](crate::Client::subscribe) have ended:
    /// over HTTP in the handshake era, the notification stream could not be reopened. Calls may
    /// still succeed. Subscribe again to receive further notifications.
    NotificationsLost,
    /// The conversation is over: there will be no more events, and calls fail. Over HTTP this
    /// happens when the session has expired; servers without sessions never cause it.
    Closed,
    /// Anything else.
    Other(Notification),
}

/// Parsed, a message takes many times the memory of its text.
const LONGEST_LOG: usize = 1 << 20;

/// Dispatches the server's notifications.
pub(super) struct Events {
    feed: Feed<ClientEvent>,
    progress: Mutex<HashMap<ProgressToken, ProgressSink>>,
    /// Waiters for the acknowledgement of a subscription, by request id.
    subscribing: Mutex<HashMap<i64, oneshot::Sender<Granted>>>,
    /// Cancelled, and replaced, when notifications may have been lost.
    stream_lost: Mutex<CancellationToken>,
}

pub(super) type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

impl Events {
    pub(super) fn new() -> Events {
        Events {
            feed: Feed::new(),
            progress: Mutex::default(),
            subscribing: Mutex::default(),
            stream_lost: Mutex::default(),
        }
    }

    pub(super) fn listen(&self) -> Listener<ClientEvent> {
        self.feed.listen()
    }

    pub(super) fn follow_progress(&self, token: ProgressToken, sink: ProgressSink) {
        lock(&self.progress).insert(token, sink);
    }

    pub(super) fn forget_progress(&self, token: &ProgressToken) {
        lock(&self.progress).remove(token);
    }

    /// Sends the acknowledgement of subscription `id` to `waiting`.
    pub(super) fn await_acknowledgement(&self, id: i64, waiting: oneshot::Sender<Granted>) {
        lock(&self.subscribing).insert(id, waiting);
    }

    pub(super) fn forget_acknowledgement(&self, id: i64) {
        lock(&self.subscribing).remove(&id);
    }

    pub(super) fn take(&self, notification: Notification) {
        match &*notification.method {
            "notifications/progress" => self.take_progress(&notification),
            "notifications/subscriptions/acknowledged" => self.take_acknowledgement(&notification),
            _ => self.feed.tell(event_of(notification)),
        }
    }

    /// Cancelled when notifications may have been lost from now on.
    pub(super) fn stream_lost(&self) -> CancellationToken {
        lock(&self.stream_lost).clone()
    }

    pub(super) fn notifications_lost(&self) {
        self.feed.tell(ClientEvent::NotificationsLost);
        std::mem::take(&mut *lock(&self.stream_lost)).cancel();
    }

    pub(super) fn close(&self) {
        self.feed.end_with(ClientEvent::Closed);
        // The conversation is over, so it is not replaced.
        lock(&self.stream_lost).cancel();
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
        // The sink may do anything, such as end another call, so the lock must be released first.
        let sink = lock(&self.progress).get(&token.progress_token).cloned();
        if let Some(sink) = sink {
            sink(progress);
        }
    }

    fn take_acknowledgement(&self, notification: &Notification) {
        let read = notification.params.as_ref().and_then(|params| Acknowledged::read(params).ok());
        let waiting = read.and_then(|Acknowledged { subscription, granted }| {
            Some((lock(&self.subscribing).remove(&subscription)?, granted))
        });
        let Some((waiting, granted)) = waiting else {
            tracing::debug!("an unexpected subscription was acknowledged");
            return;
        };
        // If nobody is waiting, the subscription was dropped.
        let _ = waiting.send(granted);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
                None => other(notification),
            }
        }
        "notifications/message" => {
            let params = params.filter(|params| params.as_bytes().len() <= LONGEST_LOG);
            match params.and_then(|params| params.read().ok()) {
                Some(message) => ClientEvent::Log(message),
                None => other(notification),
            }
        }
        _ => other(notification),
    }
}

/// Unchanged, but copied: it must not keep alive the buffer it was received in.
fn other(mut notification: Notification) -> ClientEvent {
    let own = |params: Json| Json::parse(Bytes::copy_from_slice(params.as_bytes())).ok();
    notification.params = notification.params.and_then(own);
    ClientEvent::Other(notification)
}

impl Weighed for ClientEvent {
    fn weight(&self) -> usize {
        match self {
            ClientEvent::ResourceUpdated { uri } => uri.len(),
            ClientEvent::Log(message) => {
                message.logger.as_ref().map_or(0, String::len) + weight_of(&message.data)
            }
            ClientEvent::Other(Notification { method, params }) => {
                method.len() + params.as_ref().map_or(0, |params| params.as_bytes().len())
            }
            _ => 0,
        }
    }
}

/// The approximate memory of a parsed value: objects are trees.
fn weight_of(value: &Value) -> usize {
    const OBJECT: usize = 600;
    let mut weight = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        weight += size_of::<Value>();
        match value {
            Value::String(text) => weight += text.len(),
            Value::Array(elements) => open.extend(elements),
            Value::Object(members) => {
                weight += OBJECT + members.keys().map(|key| 64 + key.len()).sum::<usize>();
                open.extend(members.values());
            }
            _ => {}
        }
    }
    weight
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(method: &'static str, params: &str) -> Notification {
        let params = Some(Json::parse(params.to_owned()).unwrap());
        Notification { method: method.into(), params }
    }

    #[test]
    fn a_progress_sink_may_end_its_own_call() {
        let events = Arc::new(Events::new());
        let ended = Arc::clone(&events);
        let sink = move |_| ended.forget_progress(&7.into());
        events.follow_progress(7.into(), Arc::new(sink));
        events.take(told("notifications/progress", r#"{"progressToken":7,"progress":1}"#));
        assert!(lock(&events.progress).is_empty());
    }

    #[test]
    fn a_message_for_the_log_weighs_what_it_takes_in_memory() {
        let many = format!(r#"{{"level":"info","data":[{}{{}}]}}"#, "{\"\":0},".repeat(1000));
        let event = event_of(told("notifications/message", &many));
        assert!(matches!(event, ClientEvent::Log(_)));
        assert!(event.weight() > 50 * many.len(), "{}", event.weight());
        let long = format!(r#"{{"level":"info","data":"{}"}}"#, "x".repeat(LONGEST_LOG));
        let event = event_of(told("notifications/message", &long));
        assert!(matches!(event, ClientEvent::Other(_)));
        assert!(event.weight() > LONGEST_LOG);
    }
}
