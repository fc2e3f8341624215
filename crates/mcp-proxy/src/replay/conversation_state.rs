//! The state of one conversation, in the recording and in the replay.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
};

use bytes::Bytes;
use mcp_jsonrpc::JsonRpcId;

use super::{
    peer::Peer,
    tokens::{Named, Tokens},
};

/// Maximum number of requests to remember per side, recorded and replayed; the oldest are
/// forgotten.
const MAX_OPEN: usize = 10_000;
/// Requests of the server with longer ids are not answered.
pub(super) const MAX_ID: usize = 1024;

/// The state of a conversation. `then` is the recording, `now` the replay.
#[derive(Debug)]
pub(super) struct ConversationState {
    pub(super) peer: Peer,
    keys: RandomState,
    /// Why the conversation ended, if it has.
    pub(super) ended: Option<String>,
    /// Requests of the client, by the digests of their ids.
    sent: HashMap<u64, VecDeque<Slot>>,
    sent_order: VecDeque<u64>,
    /// Requests of the recorded server that its client has not answered yet.
    asked_then: HashMap<u64, Asked>,
    asked_then_order: VecDeque<u64>,
    /// Requests of the new server that are not answered yet, with their ids as JSON text.
    asked_now: VecDeque<(Asked, Bytes)>,
    counts: [HashMap<u64, u64>; 2],
    pub(super) tokens: Tokens,
    /// Number of expected messages in a row that the server did not send.
    pub(super) misses: u32,
    /// Number of messages of the server, then and now.
    pub(super) messages: [u64; 2],
}

/// A request of the client.
#[derive(Debug, Default)]
struct Slot {
    /// The generated values in the new answer, once there is one.
    answer: Option<Named>,
}

/// Identifies a request of a server: the digest of its method, and its index among those.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    method: u64,
    ordinal: u64,
    is_ping: bool,
}

/// What to do with an answer of the recorded client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// Send it as the answer to this request.
    To(Asked),
    /// Skip it: the request is answered when it arrives.
    Skip,
    /// It answers no known request.
    Unknown,
}

const THEN: usize = 0;
const NOW: usize = 1;

impl ConversationState {
    pub(super) fn new(peer: Peer) -> ConversationState {
        ConversationState {
            peer,
            keys: RandomState::new(),
            ended: None,
            sent: HashMap::new(),
            sent_order: VecDeque::new(),
            asked_then: HashMap::new(),
            asked_then_order: VecDeque::new(),
            asked_now: VecDeque::new(),
            counts: [HashMap::new(), HashMap::new()],
            tokens: Tokens::default(),
            misses: 0,
            messages: [0; 2],
        }
    }

    /// Notes that a request was sent.
    pub(super) fn note_sent(&mut self, id: &JsonRpcId) {
        let key = self.keys.hash_one(id);
        self.sent.entry(key).or_default().push_back(Slot::default());
        self.sent_order.push_back(key);
        if self.sent_order.len() > MAX_OPEN
            && let Some(oldest) = self.sent_order.pop_front()
        {
            self.drop_first(oldest);
        }
    }

    /// Notes an answer of the new server.
    pub(super) fn note_answer(&mut self, id: &JsonRpcId, named: Named) {
        self.messages[NOW] += 1;
        let slots = self.sent.get_mut(&self.keys.hash_one(id));
        let waiting = slots.and_then(|slots| slots.iter_mut().find(|slot| slot.answer.is_none()));
        if let Some(slot) = waiting {
            slot.answer = Some(named);
        }
    }

    /// Whether the first request with this id is answered, or forgotten.
    pub(super) fn is_answered(&self, id: &JsonRpcId) -> bool {
        let slots = self.sent.get(&self.keys.hash_one(id));
        slots.and_then(VecDeque::front).is_none_or(|slot| slot.answer.is_some())
    }

    /// Takes the answer to the first request with this id; `None` if there is none.
    pub(super) fn take_answer(&mut self, id: &JsonRpcId) -> Option<Named> {
        let key = self.keys.hash_one(id);
        let slot = self.drop_first(key)?;
        // Usually near the front: answers come almost in the order of requests.
        if let Some(place) = self.sent_order.iter().position(|other| *other == key) {
            self.sent_order.remove(place);
        }
        slot.answer
    }

    fn drop_first(&mut self, key: u64) -> Option<Slot> {
        let slots = self.sent.get_mut(&key)?;
        let slot = slots.pop_front();
        if slots.is_empty() {
            self.sent.remove(&key);
        }
        slot
    }

    /// Notes a request of the recorded server.
    pub(super) fn note_asked_then(&mut self, id: &JsonRpcId, method: &str) {
        let asked = self.count(THEN, method);
        let key = self.keys.hash_one(id);
        if self.asked_then.insert(key, asked).is_none() {
            self.asked_then_order.push_back(key);
        }
        if self.asked_then_order.len() > MAX_OPEN
            && let Some(oldest) = self.asked_then_order.pop_front()
        {
            self.asked_then.remove(&oldest);
        }
    }

    /// Notes a request of the new server.
    pub(super) fn note_asked_now(&mut self, id: &[u8], method: &str) {
        self.messages[NOW] += 1;
        let asked = self.count(NOW, method);
        if id.len() > MAX_ID {
            return;
        }
        self.asked_now.push_back((asked, Bytes::copy_from_slice(id)));
        if self.asked_now.len() > MAX_OPEN {
            self.asked_now.pop_front();
        }
    }

    /// Matches an answer of the recorded client.
    pub(super) fn reply(&mut self, id: &JsonRpcId) -> Reply {
        match self.asked_then.remove(&self.keys.hash_one(id)) {
            Some(asked) if asked.is_ping => Reply::Skip,
            Some(asked) => Reply::To(asked),
            None => Reply::Unknown,
        }
    }

    /// Whether the new server has sent the same request.
    pub(super) fn is_asked(&self, asked: Asked) -> bool {
        self.asked_now.iter().any(|(other, _)| *other == asked)
    }

    /// Takes the id of the same request of the new server.
    pub(super) fn take_asked(&mut self, asked: Asked) -> Option<Bytes> {
        let place = self.asked_now.iter().position(|(other, _)| *other == asked)?;
        self.asked_now.remove(place).map(|(_, id)| id)
    }

    /// Takes the requests of the new server that the recording has no answer to.
    pub(super) fn take_all_asked(&mut self) -> Vec<Bytes> {
        self.asked_now.drain(..).map(|(_, id)| id).collect()
    }

    fn count(&mut self, when: usize, method: &str) -> Asked {
        let is_ping = method == "ping";
        let method = self.keys.hash_one(method);
        let counts = &mut self.counts[when];
        if counts.len() >= MAX_OPEN && !counts.contains_key(&method) {
            counts.clear();
        }
        let count = counts.entry(method).or_default();
        *count += 1;
        Asked { method, ordinal: *count, is_ping }
    }
}
