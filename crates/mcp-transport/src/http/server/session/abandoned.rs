//! Requests whose client has disconnected before the answer.
//!
//! Disconnecting does not cancel a request, so that the client can resume. To bound their memory,
//! the oldest such requests are cancelled beyond a limit.

use std::collections::HashMap;

use mcp_core::{Inbound, Ticket};

use super::{
    Session,
    state::{PendingPost, Phase},
};
use crate::http::server::event_queue::EventSender;

/// The unanswered POSTs of a session.
#[derive(Debug, Default)]
pub(super) struct PendingPosts {
    by_number: HashMap<u64, PendingPost>,
    /// The length of their messages.
    bytes: usize,
}

impl PendingPosts {
    pub(super) fn insert(&mut self, number: u64, post: PendingPost) {
        self.bytes += post.bytes;
        if let Some(replaced) = self.by_number.insert(number, post) {
            self.bytes -= replaced.bytes;
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<PendingPost> {
        let post = self.by_number.remove(&number)?;
        self.bytes -= post.bytes;
        Some(post)
    }

    pub(super) fn phase(&self, number: u64) -> Option<&Phase> {
        self.by_number.get(&number).map(|post| &post.phase)
    }

    pub(super) fn phase_mut(&mut self, number: u64) -> Option<&mut Phase> {
        self.by_number.get_mut(&number).map(|post| &mut post.phase)
    }

    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Whether a client waits for the start of a response.
    pub(super) fn has_waiting(&self) -> bool {
        self.by_number
            .values()
            .any(|post| matches!(&post.phase, Phase::Pending(waiting) if !waiting.is_closed()))
    }

    /// Removes the oldest requests without a client until the rest are within `limit` bytes.
    fn remove_abandoned(&mut self, limit: usize) -> Vec<u64> {
        if self.bytes <= limit {
            return Vec::new();
        }
        let abandoned = |post: &PendingPost| match &post.phase {
            Phase::Pending(waiting) => waiting.is_closed(),
            Phase::Streaming(reader) => reader.as_ref().is_none_or(EventSender::is_closed),
        };
        let abandoned = self.by_number.iter().filter(|(_, post)| abandoned(post));
        let mut abandoned: Vec<_> = abandoned.map(|(number, post)| (*number, post.bytes)).collect();
        abandoned.sort_unstable();
        let mut total: usize = abandoned.iter().map(|(_, bytes)| bytes).sum();
        let mut removed = Vec::new();
        for (number, bytes) in abandoned {
            if total <= limit {
                break;
            }
            total -= bytes;
            self.remove(number);
            removed.push(number);
        }
        removed
    }
}

impl Session {
    /// Called when a client has disconnected.
    pub(in crate::http::server) fn client_left(&self) {
        let mut state = self.lock();
        let removed = state.exchanges.remove_abandoned(self.settings.max_abandoned);
        if !removed.is_empty() {
            state.cancelled.extend(removed.into_iter().map(Ticket));
            self.cancelling.notify_one();
        }
    }

    /// The next request to cancel because its client has disconnected.
    pub(super) fn next_cancelled(&self) -> Option<Inbound> {
        let ticket = self.lock().cancelled.pop_front()?;
        Some(Inbound::ExchangeEnded { ticket, error: None })
    }
}
