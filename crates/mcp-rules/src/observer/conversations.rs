//! The conversations of one file, by name.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use crate::{Engine, Framer, Origin, Session};

/// A session and what is left over of its two streams.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) session: Session,
    /// By `Side as usize`.
    pub(crate) framers: [Framer; 2],
}

/// The conversations of a file by name; the oldest is forgotten when there are too many.
#[derive(Debug)]
pub(crate) struct Conversations {
    by_name: HashMap<Box<[u8]>, Conversation, RandomState>,
    arrival: VecDeque<Box<[u8]>>,
    capacity: usize,
}

impl Conversations {
    pub(crate) fn new(capacity: usize) -> Conversations {
        Conversations {
            by_name: HashMap::default(),
            arrival: VecDeque::new(),
            capacity: capacity.max(1),
        }
    }

    pub(crate) fn named(
        &mut self,
        name: &[u8],
        engine: &Engine,
        origin: Origin,
    ) -> &mut Conversation {
        if !self.by_name.contains_key(name) {
            self.make_room();
            self.arrival.push_back(name.into());
            let mut session = engine.session(origin.revision);
            if origin.from_start {
                session.begin();
            }
            let conversation = Conversation { session, framers: [Framer::new(), Framer::new()] };
            self.by_name.insert(name.into(), conversation);
        }
        self.by_name.get_mut(name).expect("inserted above if it was missing")
    }

    /// Takes a conversation out while its messages are judged.
    pub(crate) fn take(&mut self, name: &[u8], engine: &Engine, origin: Origin) -> Conversation {
        self.named(name, engine, origin);
        self.by_name.remove(name).expect("just made sure of")
    }

    pub(crate) fn put_back(&mut self, name: &[u8], conversation: Conversation) {
        self.by_name.insert(name.into(), conversation);
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&[u8], &mut Session)> {
        let entries = self.by_name.iter_mut();
        entries.map(|(name, conversation)| (&**name, &mut conversation.session))
    }

    fn make_room(&mut self) {
        while self.by_name.len() >= self.capacity {
            let Some(oldest) = self.arrival.pop_front() else {
                break;
            };
            self.by_name.remove(&oldest);
        }
    }

    /// All of them, in order of arrival.
    pub(crate) fn drain(&mut self) -> Vec<Conversation> {
        let arrival = std::mem::take(&mut self.arrival);
        arrival.iter().filter_map(|name| self.by_name.remove(name)).collect()
    }
}
