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
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub(crate) struct PastRequests {
    /// Oldest first. Ids are unique.
    requests: VecDeque<(RequestId, Past)>,
    /// One short hash per entry, to rule out most ids quickly.
    marks: VecDeque<u32>,
    /// Upper bound of the integer ids.
    highest: i64,
    forgot: bool,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    requests: VecDeque<(RequestId, Past)>,
    forgot: bool,
}

impl PastRequests {
    pub(crate) fn get(&self, id: &RequestId) -> Option<&Past> {
        let (_, past) = self.requests.get(self.position(id)?)?;
        Some(past)
    }

    pub(crate) fn get_mut(&mut self, id: &RequestId) -> Option<&mut Past> {
        let position = self.position(id)?;
        let (_, past) = self.requests.get_mut(position)?;
        Some(past)
    }

    /// Whether some were evicted.
    pub(crate) fn forgot(&self) -> bool {
        self.forgot
    }

    /// Adds one as the newest. Its id is not present: it was removed when the request came.
    pub(crate) fn push(&mut self, id: RequestId, past: Past) {
        if self.requests.len() == MOST {
            self.requests.pop_front();
            self.marks.pop_front();
            self.forgot = true;
        }
        self.highest = self.highest.max(id.as_i64().unwrap_or(i64::MIN));
        self.marks.push_back(mark(&id));
        self.requests.push_back((id, past));
    }

    pub(crate) fn remove(&mut self, id: &RequestId) {
        if let Some(position) = self.position(id) {
            self.requests.remove(position);
            self.marks.remove(position);
        }
    }

    fn position(&self, id: &RequestId) -> Option<usize> {
        // A counter has not used this one before.
        if self.requests.is_empty() || id.as_i64().is_some_and(|number| number > self.highest) {
            return None;
        }
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

impl From<Saved> for PastRequests {
    fn from(saved: Saved) -> PastRequests {
        let mut past = PastRequests::default();
        for (id, request) in saved.requests {
            past.push(id, request);
        }
        past.forgot |= saved.forgot;
        past
    }
}

impl From<PastRequests> for Saved {
    fn from(past: PastRequests) -> Saved {
        Saved { requests: past.requests, forgot: past.forgot }
    }
}
