use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

use super::local::Local;

/// An `initialize` request whose session is not known yet.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) line: Bytes,
    /// Its number in our recording.
    pub(super) recorded: u64,
    /// A session state with only this request.
    pub(super) local: Local,
}

/// The requests that may open a session, by exchange, until they are answered.
#[derive(Debug, Default)]
pub(super) struct Openings {
    by_exchange: HashMap<u64, Opening>,
    arrival: VecDeque<u64>,
    bytes: usize,
}

/// Maximum number of openings, and their bytes. Beyond that the oldest is forgotten, and its
/// session is judged as joined in the middle.
const MAX_OPENINGS: usize = 1000;
const MAX_BYTES: usize = 16 << 20;

impl Openings {
    pub(super) fn insert(&mut self, exchange: u64, opening: Opening) {
        self.bytes += opening.line.len();
        self.by_exchange.insert(exchange, opening);
        self.arrival.push_back(exchange);
        while self.by_exchange.len() > MAX_OPENINGS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.arrival.pop_front() else { break };
            self.take(oldest);
        }
        // Most have been removed before they are the oldest.
        if self.arrival.len() > 2 * MAX_OPENINGS {
            let known = &self.by_exchange;
            self.arrival.retain(|exchange| known.contains_key(exchange));
        }
    }

    pub(super) fn take(&mut self, exchange: u64) -> Option<Opening> {
        let opening = self.by_exchange.remove(&exchange)?;
        self.bytes -= opening.line.len();
        Some(opening)
    }
}
