use std::collections::VecDeque;

use bytes::Bytes;
use mcp_core::{MemoryBudget, MemoryShare};

use crate::http::server::events::{Event, EventId};

/// The latest events of a session, for clients that resume a stream.
#[derive(Debug)]
pub(super) struct Replay {
    events: VecDeque<(EventId, Bytes)>,
    max_events: usize,
    max_bytes: usize,
    /// The share of the events in the memory budget of all sessions.
    held: MemoryShare,
    /// Sequence number of the newest event that was dropped.
    forgotten: Option<u64>,
}

impl Replay {
    pub(super) fn new(max_events: usize, max_bytes: usize, budget: &MemoryBudget) -> Replay {
        let held = budget.share();
        Replay { events: VecDeque::new(), max_events, max_bytes, held, forgotten: None }
    }

    pub(super) fn keep(&mut self, id: EventId, event: Bytes) {
        while self.events.len() >= self.max_events.max(1)
            || self.held.bytes() + event.len() > self.max_bytes && !self.events.is_empty()
        {
            self.drop_oldest();
        }
        while !self.held.grow(event.len()) {
            if self.events.is_empty() {
                self.forgotten = Some(id.sequence);
                return;
            }
            self.drop_oldest();
        }
        self.events.push_back((id, event));
    }

    /// Drops everything: nobody can resume any more.
    pub(super) fn clear(&mut self) {
        self.events = VecDeque::new();
        self.held.clear();
    }

    fn drop_oldest(&mut self) {
        if let Some((id, event)) = self.events.pop_front() {
            self.held.shrink(event.len());
            self.forgotten = Some(id.sequence);
        }
    }

    /// The events after this one on its stream.
    pub(super) fn after(&self, id: EventId) -> VecDeque<Event> {
        let from = self.events.partition_point(|(kept, _)| kept.sequence <= id.sequence);
        self.events.range(from..).filter(|(kept, _)| kept.stream == id.stream).map(event).collect()
    }

    /// Whether some events after this one may be missing.
    pub(super) fn has_gap_after(&self, id: EventId) -> bool {
        self.forgotten.is_some_and(|forgotten| forgotten > id.sequence)
    }
}

fn event((_, text): &(EventId, Bytes)) -> Event {
    text.clone().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::server::events::{StreamId, StreamKind};

    fn id(number: u64, sequence: u64) -> EventId {
        EventId { stream: StreamId { kind: StreamKind::Answer, number }, sequence }
    }

    fn texts(events: &VecDeque<Event>) -> Vec<Bytes> {
        events.iter().map(|event| event.text.clone()).collect()
    }

    fn filled(max_events: usize, max_bytes: usize) -> Replay {
        let mut replay = Replay::new(max_events, max_bytes, &MemoryBudget::new(1000));
        for sequence in 0..10 {
            replay.keep(id(sequence % 2, sequence), Bytes::from(format!("{sequence}")));
        }
        replay
    }

    #[test]
    fn only_later_events_of_the_same_stream_return() {
        assert_eq!(texts(&filled(100, 100).after(id(1, 5))), ["7", "9"]);
        assert!(filled(100, 100).after(id(1, 9)).is_empty());
        assert!(!filled(100, 100).has_gap_after(id(1, 0)));
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many_events_or_bytes() {
        for replay in [filled(4, 100), filled(100, 4)] {
            assert_eq!(texts(&replay.after(id(0, 0))), ["6", "8"]);
            assert!(replay.has_gap_after(id(0, 4)));
            assert!(!replay.has_gap_after(id(1, 5)));
        }
    }

    #[test]
    fn the_newest_stays_whatever_its_length() {
        let mut replay = filled(100, 5);
        replay.keep(id(0, 10), Bytes::from_static(b"far too long"));
        assert_eq!(texts(&replay.after(id(0, 0))), ["far too long"]);
    }

    #[test]
    fn all_sessions_share_the_room() {
        let budget = MemoryBudget::new(10);
        let mut sessions = [(); 2].map(|()| Replay::new(100, 100, &budget));
        for replay in &mut sessions {
            replay.keep(id(0, 0), Bytes::from_static(b"12345"));
        }
        assert_eq!(budget.used(), 10);
        let [one, other] = &mut sessions;
        // The oldest of the same session goes; what still does not fit is not kept.
        one.keep(id(0, 1), Bytes::from_static(b"678"));
        assert_eq!(texts(&one.after(id(0, 0))), ["678"]);
        assert!(!one.has_gap_after(id(0, 0)) && budget.used() == 8);
        one.keep(id(0, 2), Bytes::from_static(b"too long"));
        assert!(one.after(id(0, 0)).is_empty() && one.has_gap_after(id(0, 1)));
        assert_eq!(texts(&other.after(id(0, 0))).len(), 0);
        assert_eq!(budget.used(), 5);
        other.clear();
        assert_eq!(budget.used(), 0);
        one.keep(id(0, 3), Bytes::from_static(b"alone, as long as it likes"));
        drop(sessions);
        assert_eq!(budget.used(), 0);
    }
}
