//! Output of messages.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch;

/// Takes whole messages in order.
pub(crate) trait Sink: Send + Sync {
    fn send(&self, text: String);
}

/// A shared sink.
pub(crate) type Outbox = Arc<dyn Sink>;

/// Sends a notification.
pub(crate) fn notify(outbox: &Outbox, method: &str, params: &Value) {
    outbox.send(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
}

/// A log of sent messages that can be read from any position, and whether more may follow.
pub(crate) struct MessageLog {
    messages: Mutex<Vec<String>>,
    state: watch::Sender<LogState>,
}

/// The state of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LogState {
    pub(crate) length: usize,
    pub(crate) ended: bool,
}

impl MessageLog {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            messages: Mutex::default(),
            state: watch::Sender::new(LogState::default()),
        })
    }

    pub(crate) fn end(&self) {
        self.state.send_modify(|state| state.ended = true);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<LogState> {
        self.state.subscribe()
    }

    pub(crate) fn get(&self, index: usize) -> Option<String> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).get(index).cloned()
    }

    pub(crate) fn length(&self) -> usize {
        self.state.borrow().length
    }
}

impl Sink for MessageLog {
    fn send(&self, text: String) {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.push(text);
        let length = messages.len();
        self.state.send_modify(|state| state.length = length);
    }
}
