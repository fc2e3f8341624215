//! The conversations of one file, by name.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use crate::{Engine, Framer, Origin, Session};

/// A session and the unfinished lines of its two streams.
#[derive(Debug)]
pub(crate) struct Conversation {
    name: Box<[u8]>,
    pub(crate) session: Session,
    /// By `Side as usize`.
    pub(crate) framers: [Framer; 2],
}

/// The conversations of a file by name; the oldest is evicted when there are too many.
#[derive(Debug)]
pub(crate) struct Conversations {
    /// The index of each conversation in the list.
    by_name: HashMap<Box<[u8]>, usize, RandomState>,
    /// Boxed: there may be thousands, and the list grows.
    list: Vec<Option<Box<Conversation>>>,
    /// Indices into the list, oldest first.
    arrival: VecDeque<usize>,
    /// The conversation used last; the next line often belongs to it too.
    last: usize,
    capacity: usize,
}

impl Conversations {
    pub(crate) fn new(capacity: usize) -> Conversations {
        Conversations {
            by_name: HashMap::default(),
            list: Vec::new(),
            arrival: VecDeque::new(),
            last: 0,
            capacity: capacity.max(1),
        }
    }

    pub(crate) fn named(
        &mut self,
        name: &[u8],
        engine: &Engine,
        origin: Origin,
    ) -> &mut Conversation {
        let place = self.place(name, engine, origin);
        self.list[place].as_mut().expect("nobody has taken it out")
    }

    /// Removes a conversation while its messages are judged.
    pub(crate) fn take(
        &mut self,
        name: &[u8],
        engine: &Engine,
        origin: Origin,
    ) -> (usize, Box<Conversation>) {
        let place = self.place(name, engine, origin);
        (place, self.list[place].take().expect("nobody else has taken it out"))
    }

    pub(crate) fn put_back(&mut self, place: usize, conversation: Box<Conversation>) {
        self.list[place] = Some(conversation);
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        *self = Conversations::new(self.capacity);
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&[u8], &mut Session)> {
        let conversations = self.list.iter_mut().flatten();
        conversations.map(|conversation| (&*conversation.name, &mut conversation.session))
    }

    /// All of them, in order of arrival.
    pub(crate) fn drain(&mut self) -> Vec<Conversation> {
        self.by_name.clear();
        let mut list = std::mem::take(&mut self.list);
        let arrival = std::mem::take(&mut self.arrival);
        arrival.into_iter().filter_map(|place| list[place].take().map(|found| *found)).collect()
    }

    /// The index of the conversation with this name, which is begun if there is none.
    fn place(&mut self, name: &[u8], engine: &Engine, origin: Origin) -> usize {
        if let Some(Some(last)) = self.list.get(self.last)
            && *last.name == *name
        {
            return self.last;
        }
        self.last = match self.by_name.get(name) {
            Some(place) => *place,
            None => self.begin(name, engine, origin),
        };
        self.last
    }

    fn begin(&mut self, name: &[u8], engine: &Engine, origin: Origin) -> usize {
        let mut session = engine.session(origin.revision);
        if origin.from_start {
            session.begin();
        }
        let framers = [Framer::new(), Framer::new()];
        let conversation = Box::new(Conversation { name: name.into(), session, framers });
        let place = self.free_place();
        self.list[place] = Some(conversation);
        self.by_name.insert(name.into(), place);
        self.arrival.push_back(place);
        place
    }

    /// A free index; that of the oldest if there are too many.
    fn free_place(&mut self) -> usize {
        if self.arrival.len() >= self.capacity
            && let Some(place) = self.arrival.pop_front()
        {
            if let Some(oldest) = self.list[place].take() {
                self.by_name.remove(&oldest.name);
            }
            return place;
        }
        self.list.push(None);
        self.list.len() - 1
    }
}
