use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use mcp_core::Side;
use mcp_jsonrpc::{JsonRpcId, MessageKind};
use mcp_rules::Identity;

use crate::Observation;

/// Maximum number of requests remembered until they are answered.
const MOST: usize = 10_000;
/// Requests with longer ids are not remembered.
const LONGEST_ID: usize = 256;

/// Open requests, each with data for when it is answered.
#[derive(Debug)]
pub(crate) struct Pairs<T> {
    waiting: HashMap<Key, T>,
    /// Keys in the order of their requests; some are answered already.
    order: VecDeque<Key>,
}

/// Identifies a request: who sent it, where, and its id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    by: Side,
    session: Option<Arc<str>>,
    upstream: Option<Arc<str>>,
    /// Several clients may use the same id, each in its own exchange.
    exchange: Option<u64>,
    id: JsonRpcId,
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Pairs { waiting: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T> Pairs<T> {
    /// Notes a message. A request is remembered with the value of `ask`; for an answer, returns the
    /// value of its request.
    pub(crate) fn note(
        &mut self,
        observation: &Observation,
        message: &Identity,
        ask: impl FnOnce() -> T,
    ) -> Option<T> {
        let id = message.id.clone().filter(is_short)?;
        let from = observation.from();
        let by = match message.kind? {
            MessageKind::Request => from,
            MessageKind::Response => from.other(),
            MessageKind::Notification => return None,
        };
        let (session, upstream) = (observation.session().cloned(), observation.upstream().cloned());
        let key = Key { by, session, upstream, exchange: observation.exchange(), id };
        if message.kind == Some(MessageKind::Request) {
            self.remember(key, ask());
            return None;
        }
        self.waiting.remove(&key)
    }

    fn remember(&mut self, key: Key, value: T) {
        while self.order.len() >= MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.waiting.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.waiting.insert(key, value);
    }
}

fn is_short(id: &JsonRpcId) -> bool {
    match id {
        JsonRpcId::String(text) => text.len() <= LONGEST_ID,
        JsonRpcId::Number(spelling) => spelling.len() <= LONGEST_ID,
        JsonRpcId::Integer(_) | JsonRpcId::Null => true,
    }
}
