use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_core::Side;
use mcp_jsonrpc::{JsonRpcId, MessageKind};

use super::{TapEvent, Watcher};

/// Maximum number of requests to remember.
const MOST: usize = 10_000;
/// Maximum bytes of their ids.
const MOST_BYTES: usize = 16 << 20;

/// The open requests of a client, as of the last observation. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct OpenRequests(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    /// Number of open requests by id.
    ids: HashMap<JsonRpcId, usize>,
    bytes: usize,
}

impl OpenRequests {
    /// No open requests.
    pub fn new() -> OpenRequests {
        OpenRequests::default()
    }

    /// A watcher that keeps track of requests and answers.
    pub fn watcher(&self) -> Watcher {
        let open = self.clone();
        Box::new(move |event| open.note(event))
    }

    /// Whether all requests are answered.
    pub fn is_empty(&self) -> bool {
        self.lock().ids.is_empty()
    }

    /// Removes all requests, and returns their ids.
    pub fn take(&self) -> Vec<JsonRpcId> {
        let open = std::mem::take(&mut *self.lock());
        let mut ids: Vec<JsonRpcId> =
            open.ids.into_iter().flat_map(|(id, count)| std::iter::repeat_n(id, count)).collect();
        ids.sort_by_cached_key(ToString::to_string);
        ids
    }

    fn note(&self, event: &TapEvent<'_>) {
        let Some(observation) = event.observation else { return };
        for message in event.messages {
            if let Some(id) = &message.id {
                self.pass(observation.from(), message.kind, id);
            }
        }
    }

    /// Notes a message with an id.
    pub(crate) fn pass(&self, from: Side, kind: Option<MessageKind>, id: &JsonRpcId) {
        let mut open = self.lock();
        match (from, kind) {
            (Side::Client, Some(MessageKind::Request)) => {
                let bytes = open.bytes + length(id);
                if open.ids.len() < MOST && bytes <= MOST_BYTES {
                    let count = open.ids.entry(id.clone()).or_default();
                    *count += 1;
                    if *count == 1 {
                        open.bytes = bytes;
                    }
                }
            }
            (Side::Server, Some(MessageKind::Response)) => {
                if let Some(count) = open.ids.get_mut(id) {
                    *count -= 1;
                    if *count == 0 {
                        open.ids.remove(id);
                        open.bytes -= length(id);
                    }
                }
            }
            _ => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn length(id: &JsonRpcId) -> usize {
    match id {
        JsonRpcId::Null | JsonRpcId::Integer(_) => 0,
        JsonRpcId::Number(text) | JsonRpcId::String(text) => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_remembered_up_to_a_limit_and_have_room_again_when_answered() {
        let open = OpenRequests::new();
        let ask = |id: JsonRpcId| open.pass(Side::Client, Some(MessageKind::Request), &id);
        let answer = |id: JsonRpcId| open.pass(Side::Server, Some(MessageKind::Response), &id);
        (0..=10_000).for_each(|id: i64| ask(id.into()));
        assert_eq!(open.take().len(), MOST, "one is too many");
        let long = |letter: &str| JsonRpcId::from(letter.repeat(MOST_BYTES / 2).as_str());
        for letter in ["a", "b", "c"] {
            ask(long(letter));
        }
        assert_eq!(open.lock().ids.len(), 2, "the third is too many");
        answer(long("a"));
        ask(long("c"));
        ask(long("d"));
        assert_eq!(open.take().len(), 2);
        assert!(open.is_empty() && open.lock().bytes == 0);
    }
}
