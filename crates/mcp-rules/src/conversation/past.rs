use std::collections::VecDeque;

use mcp_core::RequestId;
use serde::{Deserialize, Serialize};

use super::{Moment, Name, digest::digest};

/// Maximum answered requests kept per side.
const MOST: usize = 128;

/// State kept of a request for a while after it was answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Past {
    /// The line it was on.
    pub(crate) line: Option<u64>,
    pub(crate) name: Name,
    pub(crate) answered: Moment,
    /// Whether it was delivered more than once, and may be answered as often.
    pub(crate) repeated: bool,
}

/// The most recently answered requests.
///
/// Every answer adds one, but lookups are rare: so they are kept in a queue and searched linearly.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Option<Saved>", into = "Option<Saved>")]
pub(crate) struct PastRequests {
    /// The greatest integer id of any request so far, answered or open. Kept beside the queue, so that a
    /// new id touches no other memory. Unknown after a session was restored.
    highest: i64,
    queue: Option<Box<Queue>>,
}

#[derive(Debug, Clone, Default)]
struct Queue {
    /// Oldest first. Ids are unique.
    requests: VecDeque<(RequestId, Past)>,
    /// One short hash per entry, to rule out most ids quickly.
    marks: VecDeque<u32>,
    forgot: bool,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    requests: VecDeque<(RequestId, Past)>,
    forgot: bool,
}

impl Default for PastRequests {
    fn default() -> Self {
        PastRequests { highest: i64::MIN, queue: None }
    }
}

impl PastRequests {
    pub(crate) fn get(&self, id: &RequestId) -> Option<&Past> {
        let queue = self.queue_with(id)?;
        let (_, past) = queue.requests.get(queue.position(id)?)?;
        Some(past)
    }

    pub(crate) fn get_mut(&mut self, id: &RequestId) -> Option<&mut Past> {
        let position = self.queue_with(id)?.position(id)?;
        let (_, past) = self.queue.as_mut()?.requests.get_mut(position)?;
        Some(past)
    }

    /// Whether one was evicted.
    pub(crate) fn forgot(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.forgot)
    }

    /// Whether an id is greater than those of all requests so far, and therefore new.
    pub(crate) fn is_beyond(&self, id: &RequestId) -> bool {
        id.as_i64().is_some_and(|number| number > self.highest)
    }

    /// Records the id of a new request.
    pub(crate) fn note(&mut self, id: &RequestId) {
        self.highest = self.highest.max(id.as_i64().unwrap_or(i64::MIN));
    }

    /// Adds a request whose id is not present, and was noted.
    pub(crate) fn push(&mut self, id: RequestId, past: Past) {
        let queue = self.queue.get_or_insert_default();
        if queue.requests.len() == MOST {
            queue.requests.pop_front();
            queue.marks.pop_front();
            queue.forgot = true;
        }
        queue.marks.push_back(mark(&id));
        queue.requests.push_back((id, past));
    }

    pub(crate) fn remove(&mut self, id: &RequestId) {
        let position = self.queue_with(id).and_then(|queue| queue.position(id));
        if let Some(position) = position
            && let Some(queue) = &mut self.queue
        {
            queue.requests.remove(position);
            queue.marks.remove(position);
        }
    }

    /// The queue, if it may have this id.
    fn queue_with(&self, id: &RequestId) -> Option<&Queue> {
        if self.is_beyond(id) {
            return None;
        }
        self.queue.as_deref()
    }
}

impl Queue {
    fn position(&self, id: &RequestId) -> Option<usize> {
        let wanted = mark(id);
        let marked = self.marks.iter().enumerate().filter(|(_, mark)| **mark == wanted);
        marked.map(|(position, _)| position).find(|position| self.requests[*position].0 == *id)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of it is enough"
)]
fn mark(id: &RequestId) -> u32 {
    match (id.as_i64(), id.as_str()) {
        (Some(number), _) => number as u32,
        (None, Some(text)) => digest(text.as_bytes()) as u32,
        (None, None) => 0,
    }
}

impl From<Option<Saved>> for PastRequests {
    fn from(saved: Option<Saved>) -> PastRequests {
        // Open requests are not known here.
        let mut past = PastRequests { highest: i64::MAX, queue: None };
        if let Some(Saved { requests, forgot }) = saved {
            for (id, request) in requests {
                past.push(id, request);
            }
            past.queue.get_or_insert_default().forgot |= forgot;
        }
        past
    }
}

impl From<PastRequests> for Option<Saved> {
    fn from(past: PastRequests) -> Option<Saved> {
        let queue = *past.queue?;
        Some(Saved { requests: queue.requests, forgot: queue.forgot })
    }
}
