use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_core::Side;
use mcp_jsonrpc::{JsonRpcId, MessageKind};

use super::{Passage, Watcher};

/// Beyond this, requests are not remembered.
const MOST: usize = 10_000;

/// The requests of a client that are not answered yet, as far as they were
/// looked at. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct OpenRequests(Arc<Mutex<HashMap<JsonRpcId, usize>>>);

impl OpenRequests {
    /// None yet.
    pub fn new() -> OpenRequests {
        OpenRequests::default()
    }

    /// Sees requests and their answers.
    pub fn watcher(&self) -> Watcher {
        let open = self.clone();
        Box::new(move |passage| open.note(passage))
    }

    /// Whether everything is answered.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Forgets all of them, and returns their ids.
    pub fn take(&self) -> Vec<JsonRpcId> {
        let open = std::mem::take(&mut *self.lock());
        let mut ids: Vec<JsonRpcId> =
            open.into_iter().flat_map(|(id, count)| std::iter::repeat_n(id, count)).collect();
        ids.sort_by_cached_key(ToString::to_string);
        ids
    }

    fn note(&self, passage: &Passage<'_>) {
        let Some(observation) = passage.observation else { return };
        for message in passage.messages {
            if let Some(id) = &message.id {
                self.pass(observation.from(), message.kind, id);
            }
        }
    }

    /// Takes a message with an id.
    pub(crate) fn pass(&self, from: Side, kind: Option<MessageKind>, id: &JsonRpcId) {
        let mut open = self.lock();
        match (from, kind) {
            (Side::Client, Some(MessageKind::Request)) if open.len() < MOST => {
                *open.entry(id.clone()).or_default() += 1;
            }
            (Side::Server, Some(MessageKind::Response)) => {
                if let Some(count) = open.get_mut(id) {
                    *count -= 1;
                    if *count == 0 {
                        open.remove(id);
                    }
                }
            }
            _ => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JsonRpcId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
