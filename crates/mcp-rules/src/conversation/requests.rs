//! Open and answered requests, and all ids ever used.

use std::num::NonZero;

use mcp_core::{Era, RequestId, Side};
use serde::{Deserialize, Serialize};

use super::{BoundedMap, Moment, Past, Request, id_set::IdSet, past::PastRequests};
use crate::Limits;

/// The requests of both sides, each with its own ids.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Requests {
    client: Asker,
    server: Asker,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Asker {
    open: BoundedMap<RequestId, Request>,
    /// Ids of the session, where they must not be reused.
    used: IdSet,
    /// Number of requests so far.
    count: u64,
    /// The newest request that has been answered, by its number.
    newest_answered: Option<NonZero<u64>>,
    /// How many there were when the other side last sent something unreadable.
    count_at_unreadable: u64,
    /// The most recently answered requests.
    past: PastRequests,
    odd: Option<Box<OddIds>>,
}

/// Ids that no longer belong, or never belonged, to requests that await an answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct OddIds {
    /// Of requests that were still open when they were evicted.
    evicted: IdSet,
    /// Of invalid messages; an answer to one is not a fault.
    void: IdSet,
}

impl Asker {
    fn open(&self, id: &RequestId) -> Option<&Request> {
        // A new id is not looked up, which avoids touching cold memory.
        if self.past.is_beyond(id) { None } else { self.open.get(id) }
    }
}

impl Requests {
    fn of(&self, asker: Side) -> &Asker {
        match asker {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    fn of_mut(&mut self, asker: Side) -> &mut Asker {
        match asker {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// The open request with this id.
    pub(crate) fn open(&self, asker: Side, id: &RequestId) -> Option<&Request> {
        self.of(asker).open(id)
    }

    /// All open requests, oldest first.
    pub(crate) fn iter_open(&self, asker: Side) -> impl Iterator<Item = (&RequestId, &Request)> {
        self.of(asker).open.iter()
    }

    /// The number of open requests.
    pub(crate) fn count_open(&self, asker: Side) -> usize {
        self.of(asker).open.len()
    }

    /// A recently answered request.
    pub(crate) fn past(&self, asker: Side, id: &RequestId) -> Option<&Past> {
        self.of(asker).past.get(id)
    }

    /// Whether a legacy request of this session had this id.
    pub(crate) fn was_used(&self, asker: Side, id: &RequestId) -> bool {
        self.of(asker).used.contains(id)
    }

    /// Whether a request with this id may have been made, although it is not known.
    pub(crate) fn may_have_been(&self, asker: Side, id: &RequestId, era: Era) -> bool {
        let asker = self.of(asker);
        let known_ids_end = match era {
            Era::Legacy => asker.used.forgot(),
            Era::Modern => asker.past.forgot(),
        };
        let odd = || asker.odd.iter().flat_map(|odd| [&odd.evicted, &odd.void]);
        known_ids_end || odd().any(|ids| ids.contains(id) || ids.forgot())
    }

    /// Whether the other side has answered a request that came after this one.
    pub(crate) fn was_overtaken(&self, asker: Side, request: &Request) -> bool {
        self.of(asker).newest_answered.is_some_and(|newest| newest.get() > request.number)
    }

    /// Number of requests so far.
    pub(crate) fn made(&self, asker: Side) -> u64 {
        self.of(asker).count
    }

    /// Whether a request was answered that was made after the first `count` of them.
    pub(crate) fn were_answered_since(&self, asker: Side, count: u64) -> bool {
        self.of(asker).newest_answered.is_some_and(|newest| newest.get() > count)
    }

    /// Whether the answer may have been in something unreadable.
    pub(crate) fn may_be_answered(&self, asker: Side, request: &Request) -> bool {
        request.number <= self.of(asker).count_at_unreadable
    }

    /// Records that the other side has sent something unreadable.
    pub(crate) fn note_unreadable_to(&mut self, asker: Side) {
        let asker = self.of_mut(asker);
        asker.count_at_unreadable = asker.count;
    }

    pub(crate) fn next_number(&mut self, asker: Side) -> u64 {
        let asker = self.of_mut(asker);
        asker.count += 1;
        asker.count
    }

    pub(crate) fn insert(
        &mut self,
        side: Side,
        id: RequestId,
        mut request: Request,
        limits: &Limits,
    ) {
        let asker = self.of_mut(side);
        if request.revision.era() == Era::Legacy {
            asker.used.insert(&id, limits.remembered);
        }
        asker.past.remove(&id);
        // Two messages with one id may well get two answers.
        let is_void = asker.odd.as_ref().is_some_and(|odd| odd.void.contains(&id));
        request.ambiguous |= is_void || asker.open(&id).is_some();
        request.repeated |= request.ambiguous;
        asker.past.note(&id);
        if let Some((id, _)) = asker.open.insert(id, request, limits.pending) {
            asker.odd.get_or_insert_default().evicted.insert(&id, limits.remembered);
        }
    }

    /// Records which exchange carries a request of the client.
    pub(crate) fn place(&mut self, id: &RequestId, exchange: u64) -> Option<&Request> {
        let request = self.client.open.get_mut(id)?;
        request.at = request.at.on_stream(Some(exchange));
        Some(request)
    }

    pub(crate) fn take(&mut self, asker: Side, id: &RequestId) -> Option<Request> {
        self.of_mut(asker).open.remove(id)
    }

    /// Remembers for a while that a request was answered.
    pub(crate) fn keep(&mut self, side: Side, id: RequestId, request: &Request, answered: Moment) {
        let asker = self.of_mut(side);
        let Request { at, number, name, repeated, .. } = request;
        asker.newest_answered = asker.newest_answered.max(NonZero::new(*number));
        let past = Past { line: at.line(), name: name.clone(), answered, repeated: *repeated };
        asker.past.push(id, past);
    }

    pub(crate) fn cancel(&mut self, asker: Side, id: &RequestId, at: Moment) {
        if let Some(request) = self.of_mut(asker).open.get_mut(id) {
            request.cancelled.get_or_insert_with(|| Box::new(at));
        }
    }

    /// Records that no answer is expected any more; one may still come.
    pub(crate) fn lose(&mut self, asker: Side, id: &RequestId) {
        if let Some(request) = self.of_mut(asker).open.get_mut(id) {
            request.lost = true;
        }
    }

    pub(crate) fn repeat(&mut self, side: Side, id: &RequestId) {
        let asker = self.of_mut(side);
        if let Some(request) = asker.open.get_mut(id) {
            request.repeated = true;
        }
        if let Some(request) = asker.past.get_mut(id) {
            request.repeated = true;
        }
    }

    /// Closes a request whose answer is no longer awaited; one that still comes is not a fault.
    pub(crate) fn close(&mut self, side: Side, id: &RequestId, limits: &Limits) {
        let asker = self.of_mut(side);
        asker.open.remove(id);
        asker.odd.get_or_insert_default().void.insert(id, limits.remembered);
    }

    /// Undoes a request.
    pub(crate) fn forget(&mut self, side: Side, id: &RequestId) {
        let asker = self.of_mut(side);
        asker.open.remove(id);
        asker.used.remove(id);
    }

    /// Called for an answer without an open request: the invalid message with this id has its
    /// answer.
    pub(crate) fn answer_void(&mut self, asker: Side, id: &RequestId) {
        if let Some(odd) = &mut self.of_mut(asker).odd {
            odd.void.remove(id);
        }
    }

    /// Records an invalid message that may be answered as if it were a request.
    pub(crate) fn note_void(&mut self, asker: Side, id: &RequestId, limits: &Limits) {
        self.repeat(asker, id);
        let asker = self.of_mut(asker);
        if let Some(request) = asker.open.get_mut(id) {
            request.ambiguous = true;
        }
        asker.odd.get_or_insert_default().void.insert(id, limits.remembered);
    }
}
