use std::collections::VecDeque;

use bytes::Bytes;

use crate::http::server::events::{Event, EventId};

/// The latest events of a session, for clients that resume a stream.
#[derive(Debug)]
pub(super) struct Replay {
    events: VecDeque<(EventId, Bytes)>,
    bytes: usize,
    max_events: usize,
    max_bytes: usize,
    /// Sequence number of the newest event that was dropped.
    forgotten: Option<u64>,
}

impl Replay {
    pub(super) fn new(max_events: usize, max_bytes: usize) -> Replay {
        Replay { events: VecDeque::new(), bytes: 0, max_events, max_bytes, forgotten: None }
    }

    pub(super) fn keep(&mut self, id: EventId, event: Bytes) {
        self.bytes += event.len();
        self.events.push_back((id, event));
        while self.events.len() > self.max_events.max(1)
            || self.bytes > self.max_bytes && self.events.len() > 1
        {
            let Some((id, event)) = self.events.pop_front() else { break };
            self.bytes -= event.len();
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
        let mut replay = Replay::new(max_events, max_bytes);
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
}
