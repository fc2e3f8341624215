//! State shared by all conversations: notes, and listeners for changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, atomic::AtomicUsize},
};

use serde_json::{Value, json};

use crate::{
    faults::Fault,
    outbox::{Outbox, notify},
    server::Faults,
};

/// Shared state.
#[derive(Default)]
pub(crate) struct World {
    notes: Mutex<BTreeMap<String, String>>,
    extra: Mutex<bool>,
    listeners: Mutex<Vec<Weak<Listener>>>,
    pub(crate) listings: AtomicUsize,
    pub(crate) requests: AtomicUsize,
    pub(crate) running: AtomicUsize,
    pub(crate) previous: Mutex<String>,
}

/// A listener for changes.
pub(crate) struct Listener {
    pub(crate) outbox: Outbox,
    /// The id of its subscription (2026-07-28), as spelled.
    pub(crate) subscription: Option<String>,
    pub(crate) tools: bool,
    pub(crate) resources: bool,
    pub(crate) uris: Mutex<BTreeSet<String>>,
}

/// What changed.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Tools,
    Resources,
    Updated(String),
}

impl World {
    pub(crate) fn notes(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        held(&self.notes)
    }

    pub(crate) fn has_extra(&self) -> bool {
        *held(&self.extra)
    }

    pub(crate) fn set_extra(&self, on: bool) -> bool {
        std::mem::replace(&mut *held(&self.extra), on) != on
    }

    pub(crate) fn listen(&self, listener: &Arc<Listener>) {
        let mut listeners = held(&self.listeners);
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(Arc::downgrade(listener));
    }

    pub(crate) fn announce(&self, faults: Faults, change: &Change) {
        let listeners: Vec<_> = held(&self.listeners).iter().filter_map(Weak::upgrade).collect();
        for listener in listeners {
            listener.hear(faults, change);
        }
    }
}

impl Listener {
    fn hear(&self, faults: Faults, change: &Change) {
        match change {
            Change::Tools if faults.has(Fault::ToolListChangedMissing) => {}
            Change::Tools if self.tools => self.say("notifications/tools/list_changed", json!({})),
            Change::Resources if self.resources => {
                self.say("notifications/resources/list_changed", json!({}));
            }
            Change::Updated(uri)
                if held(&self.uris).contains(uri) || faults.has(Fault::HttpSessionsMixed) =>
            {
                self.say("notifications/resources/updated", json!({"uri": uri}));
            }
            _ => {}
        }
    }

    fn say(&self, method: &str, mut params: Value) {
        if let Some(id) = &self.subscription {
            let id = serde_json::from_str(id).unwrap_or(Value::Null);
            params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
        }
        notify(&self.outbox, method, &params);
    }
}

/// Locks a mutex, ignoring poisoning: nothing here panics while holding one.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
