//! Assigns lines of a recording to conversations.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::{BuildHasher as _, Hash, RandomState},
};

use mcp_core::{Meta, Side};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use mcp_rules::{HttpRecord, ReadLine, Record};

const SESSION_ID: &str = "mcp-session-id";
/// Maximum number of HTTP exchanges to remember; an event of an older one counts for the first
/// conversation without a session.
const MAX_EXCHANGES: usize = 100_000;
/// Maximum number of conversation names to remember.
const MAX_NAMES: usize = 100_000;
/// Maximum number of conversations without a session; more concurrent clients are not told apart.
const MAX_STATELESS: usize = 64;
/// Maximum number of ids in use in one of them; beyond that they are forgotten.
const MAX_OPEN: usize = 100_000;

/// Numbers the conversations of a recording from 0, in the order in which they begin.
///
/// Over stdio, a conversation is what the recorder names as one. Over HTTP it is a session.
/// Requests without a session (2026-07-28) share a conversation, unless two open requests have the
/// same id: then they come from different clients, and get separate conversations.
#[derive(Debug, Default)]
pub struct Conversations {
    keys: RandomState,
    count: usize,
    names: HashMap<u64, usize>,
    exchanges: HashMap<u64, Exchange>,
    order: VecDeque<u64>,
    /// Conversations whose `initialize` over HTTP got no session id, by exchange.
    unnamed: HashMap<u64, usize>,
    /// Conversations without a session, and the ids in use there.
    stateless: Vec<(usize, HashSet<u64>)>,
}

#[derive(Debug, Clone, Copy)]
struct Exchange {
    /// `None` for a stream opened before its conversation: that of HTTP with SSE (2024-11-05),
    /// which carries all answers.
    conversation: Option<usize>,
    /// Digest of the id of its request.
    id: Option<u64>,
}

impl Conversations {
    /// The conversation of the next line; `None` if it belongs to none.
    pub fn of(&mut self, line: &ReadLine<'_>) -> Option<usize> {
        let record = line.record()?;
        let Some(http) = record.http.as_deref() else {
            return Some(self.named(self.digest((false, &*record.session))));
        };
        if record.from == Side::Client && http.method.is_some() {
            return self.begin_exchange(record, http, line.message());
        }
        let exchange = self.exchanges.get(&self.exchange_key(record, http)).copied();
        let place = self.digest(&*record.session);
        let unnamed = self.unnamed.get(&place).copied();
        let conversation = match exchange.map(|exchange| exchange.conversation) {
            Some(Some(conversation)) => conversation,
            Some(None) => unnamed.unwrap_or_else(|| self.stateless(None)),
            None => self.stateless(None),
        };
        let id = exchange.and_then(|exchange| exchange.id);
        if let Some(session) = http.headers.get(SESSION_ID) {
            let name = self.digest((true, &*record.session, session));
            if unnamed == Some(conversation) {
                self.unnamed.remove(&place);
            }
            self.remember(name, conversation);
        }
        let answers = line.message().is_some_and(|message| {
            Envelope::of(message).kind() == Some(MessageKind::Response) || message.is_array()
        });
        if answers || http.ends {
            self.close(conversation, id);
        }
        Some(conversation)
    }

    /// The number of conversations so far.
    pub fn count(&self) -> usize {
        self.count
    }

    fn begin_exchange(
        &mut self,
        record: &Record<'_>,
        http: &HttpRecord<'_>,
        message: Option<Node<'_>>,
    ) -> Option<usize> {
        let envelope = message.map(Envelope::of);
        let is = |kind| envelope.as_ref().is_some_and(|envelope| envelope.kind() == Some(kind));
        let id = envelope.as_ref().and_then(|envelope| envelope.id);
        let id = id.filter(|_| is(MessageKind::Request)).map(|id| self.digest(id.raw()));
        let method = envelope.as_ref().and_then(|envelope| envelope.method);
        let place = self.digest(&*record.session);
        let conversation = if let Some(session) = http.headers.get(SESSION_ID) {
            Some(self.named(self.digest((true, &*record.session, session))))
        } else if method.is_some_and(|method| method.str_eq("initialize")) {
            let conversation = self.begin();
            if self.unnamed.len() < MAX_NAMES {
                self.unnamed.insert(place, conversation);
            }
            Some(conversation)
        } else if message.is_none() {
            None
        } else {
            let states_revision = envelope.as_ref().is_some_and(|envelope| {
                let meta = envelope.params.and_then(|params| params.get("_meta"));
                meta.and_then(|meta| meta.get(Meta::PROTOCOL_VERSION)).is_some()
            });
            Some(match self.unnamed.get(&place) {
                Some(conversation) if !states_revision => *conversation,
                _ => self.stateless(id),
            })
        };
        let key = self.exchange_key(record, http);
        if self.exchanges.insert(key, Exchange { conversation, id }).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MAX_EXCHANGES
            && let Some(oldest) = self.order.pop_front()
        {
            self.exchanges.remove(&oldest);
        }
        conversation
    }

    fn exchange_key(&self, record: &Record<'_>, http: &HttpRecord<'_>) -> u64 {
        self.digest((&*record.session, http.exchange))
    }

    fn named(&mut self, name: u64) -> usize {
        if let Some(conversation) = self.names.get(&name) {
            return *conversation;
        }
        let conversation = self.begin();
        self.remember(name, conversation);
        conversation
    }

    fn remember(&mut self, name: u64, conversation: usize) {
        if self.names.len() < MAX_NAMES {
            self.names.insert(name, conversation);
        }
    }

    /// A conversation without a session in which the id is free.
    fn stateless(&mut self, id: Option<u64>) -> usize {
        let is_free = |open: &HashSet<u64>| id.is_none_or(|id| !open.contains(&id));
        let is_full = self.stateless.len() == MAX_STATELESS;
        let free = self.stateless.iter_mut().find(|(_, open)| is_full || is_free(open));
        if let Some((conversation, open)) = free {
            if open.len() == MAX_OPEN {
                open.clear();
            }
            open.extend(id);
            return *conversation;
        }
        let conversation = self.begin();
        self.stateless.push((conversation, id.into_iter().collect()));
        conversation
    }

    fn close(&mut self, conversation: usize, id: Option<u64>) {
        let found = self.stateless.iter_mut().find(|(number, _)| *number == conversation);
        if let (Some((_, open)), Some(id)) = (found, id) {
            open.remove(&id);
        }
    }

    fn begin(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    fn digest(&self, value: impl Hash) -> u64 {
        self.keys.hash_one(value)
    }
}

#[cfg(test)]
mod tests {
    use mcp_rules::{Limits, LineReader};

    use super::*;

    #[track_caller]
    fn check(lines: &[(&str, usize)]) {
        let mut reader = LineReader::new(&Limits::default());
        let mut conversations = Conversations::default();
        for (line, expected) in lines {
            let found = reader.read(line.as_bytes(), |line| conversations.of(line));
            assert_eq!(found, Some(*expected), "{line}");
        }
    }

    #[test]
    fn lines_of_streams_belong_to_what_the_recorder_names() {
        check(&[
            (r#"{"from":"client","session":"a","msg":{}}"#, 0),
            (r#"{"from":"client","session":"b","msg":{}}"#, 1),
            (r#"{"from":"server","session":"a","msg":{}}"#, 0),
        ]);
    }

    #[test]
    fn http_sessions_are_told_apart_by_their_ids() {
        let open = |exchange: u32| {
            format!(
                r#"{{"from":"client","http":{{"exchange":{exchange},"method":"POST","url":"/","headers":{{}}}},"msg":{{"jsonrpc":"2.0","id":1,"method":"initialize"}}}}"#
            )
        };
        let opened = |exchange: u32, session: &str| {
            format!(
                r#"{{"from":"server","http":{{"exchange":{exchange},"status":200,"headers":{{"Mcp-Session-Id":"{session}"}}}},"msg":{{"jsonrpc":"2.0","id":1,"result":{{}}}}}}"#
            )
        };
        let call = |exchange: u32, session: &str| {
            format!(
                r#"{{"from":"client","http":{{"exchange":{exchange},"method":"POST","url":"/","headers":{{"mcp-session-id":"{session}"}}}},"msg":{{"jsonrpc":"2.0","id":2,"method":"ping"}}}}"#
            )
        };
        check(&[
            (&open(1), 0),
            (&open(2), 1),
            (&opened(2, "b"), 1),
            (&opened(1, "a"), 0),
            (&call(3, "a"), 0),
            (&call(4, "b"), 1),
            (r#"{"from":"server","http":{"exchange":4,"status":200,"headers":{}}}"#, 1),
        ]);
    }

    #[test]
    fn clients_without_sessions_that_use_one_id_are_told_apart() {
        let call = |exchange: u32, id: u32| {
            format!(
                r#"{{"from":"client","http":{{"exchange":{exchange},"method":"POST","url":"/","headers":{{}}}},"msg":{{"jsonrpc":"2.0","id":{id},"method":"ping"}}}}"#
            )
        };
        let answer = r#"{"from":"server","http":{"exchange":1,"status":200,"headers":{}},"msg":{"jsonrpc":"2.0","id":1,"result":{}}}"#;
        check(&[
            (&call(1, 1), 0),
            (&call(2, 1), 1),
            (&call(3, 2), 0),
            (answer, 0),
            (&call(4, 1), 0),
        ]);
    }
}
