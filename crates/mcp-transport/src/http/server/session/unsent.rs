use std::collections::VecDeque;

use bytes::Bytes;
use mcp_core::{MemoryBudget, MemoryShare};

/// Notifications waiting for a client to open a stream; the oldest are dropped first.
#[derive(Debug)]
pub(super) struct Unsent {
    messages: VecDeque<Bytes>,
    max_messages: usize,
    max_bytes: usize,
    /// Their share in the memory budget of all sessions.
    held: MemoryShare,
}

impl Unsent {
    pub(super) fn new(max_messages: usize, max_bytes: usize, budget: &MemoryBudget) -> Unsent {
        Unsent { messages: VecDeque::new(), max_messages, max_bytes, held: budget.share() }
    }

    pub(super) fn push(&mut self, message: Bytes) {
        while self.messages.len() >= self.max_messages
            || self.held.bytes() + message.len() > self.max_bytes
            || !self.held.grow(message.len())
        {
            let Some(oldest) = self.messages.pop_front() else { return warn(&message) };
            self.held.shrink(oldest.len());
            warn(&oldest);
        }
        self.messages.push_back(message);
    }

    pub(super) fn take(&mut self) -> VecDeque<Bytes> {
        self.held.clear();
        std::mem::take(&mut self.messages)
    }
}

fn warn(dropped: &Bytes) {
    tracing::warn!(
        bytes = dropped.len(),
        "a notification was dropped: the client has no stream open and too many are waiting"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_dropped_first() {
        let mut unsent = Unsent::new(2, 100, &MemoryBudget::new(100));
        for message in ["1", "2", "3"] {
            unsent.push(Bytes::from_static(message.as_bytes()));
        }
        assert_eq!(unsent.take(), ["2", "3"]);
        assert!(unsent.take().is_empty());
    }

    #[test]
    fn what_alone_is_too_long_is_dropped_as_well() {
        let mut unsent = Unsent::new(2, 3, &MemoryBudget::new(100));
        unsent.push(Bytes::from_static(b"long"));
        unsent.push(Bytes::from_static(b"ok"));
        assert_eq!(unsent.take(), ["ok"]);
    }
}
