use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, SystemTime},
};

use mcp_core::Side;
use mcp_jsonrpc::{JsonRpcId, MessageKind};
use mcp_rules::Identity;

use super::labels::method_of;
use crate::Observation;

/// How many requests are remembered until their answers come.
const MOST: usize = 10_000;
/// Longer ids are not worth the memory.
const LONGEST_ID: usize = 256;

/// Requests that wait for their answers, to tell how long those take.
#[derive(Debug, Default)]
pub(super) struct Answers {
    waiting: HashMap<Key, (SystemTime, &'static str)>,
    /// Keys in the order of their requests; some are answered already.
    order: VecDeque<Key>,
}

/// Identifies a request: who sent it, where, and its id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    by: Side,
    session: Option<Arc<str>>,
    /// Many clients may use one id, each in an exchange of its own.
    exchange: Option<u64>,
    id: JsonRpcId,
}

impl Answers {
    /// Notes a message. If it is an answer, returns the method of its request and the time it took.
    pub(super) fn note(
        &mut self,
        observation: &Observation,
        message: &Identity,
    ) -> Option<(&'static str, Duration)> {
        let id = message.id.clone().filter(is_short)?;
        let from = observation.from();
        let by = match message.kind? {
            MessageKind::Request => from,
            MessageKind::Response => from.other(),
            MessageKind::Notification => return None,
        };
        let session = observation.session().cloned();
        let key = Key { by, session, exchange: observation.exchange(), id };
        if message.kind == Some(MessageKind::Request) {
            self.remember(key, observation.at(), method_of(message));
            return None;
        }
        let (asked, method) = self.waiting.remove(&key)?;
        Some((method, observation.at().duration_since(asked).unwrap_or_default()))
    }

    fn remember(&mut self, key: Key, at: SystemTime, method: &'static str) {
        while self.order.len() >= MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.waiting.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.waiting.insert(key, (at, method));
    }
}

fn is_short(id: &JsonRpcId) -> bool {
    match id {
        JsonRpcId::String(text) => text.len() <= LONGEST_ID,
        JsonRpcId::Number(spelling) => spelling.len() <= LONGEST_ID,
        JsonRpcId::Integer(_) | JsonRpcId::Null => true,
    }
}
