use std::collections::VecDeque;

use bytes::Bytes;

/// Notifications waiting for a client to open a stream; the oldest are dropped first.
#[derive(Debug)]
pub(super) struct Unsent {
    messages: VecDeque<Bytes>,
    bytes: usize,
    max_messages: usize,
    max_bytes: usize,
}

impl Unsent {
    pub(super) fn new(max_messages: usize, max_bytes: usize) -> Unsent {
        Unsent { messages: VecDeque::new(), bytes: 0, max_messages, max_bytes }
    }

    pub(super) fn push(&mut self, message: Bytes) {
        self.bytes += message.len();
        self.messages.push_back(message);
        while self.messages.len() > self.max_messages || self.bytes > self.max_bytes {
            let Some(dropped) = self.messages.pop_front() else { break };
            self.bytes -= dropped.len();
            tracing::warn!(
                bytes = dropped.len(),
                "a notification was dropped: the client has no stream open and too many are waiting"
            );
        }
    }

    pub(super) fn take(&mut self) -> VecDeque<Bytes> {
        self.bytes = 0;
        std::mem::take(&mut self.messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_dropped_first() {
        let mut unsent = Unsent::new(2, 100);
        for message in ["1", "2", "3"] {
            unsent.push(Bytes::from_static(message.as_bytes()));
        }
        assert_eq!(unsent.take(), ["2", "3"]);
        assert!(unsent.take().is_empty());
    }

    #[test]
    fn what_alone_is_too_long_is_dropped_as_well() {
        let mut unsent = Unsent::new(2, 3);
        unsent.push(Bytes::from_static(b"long"));
        unsent.push(Bytes::from_static(b"ok"));
        assert_eq!(unsent.take(), ["ok"]);
    }
}
