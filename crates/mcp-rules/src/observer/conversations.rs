//! The conversations of one file, by name.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
};

use foldhash::fast::RandomState;

use super::footprint::footprint;
use crate::{
    Engine, Framer, Limits, RecordingInfo, Session,
    conversation::{Bounded, digest::digest},
};

/// The maximum memory that following a line adds, besides its text, in bytes.
const FOR_A_LINE: usize = 1024;

/// A session and the unfinished lines of its two streams.
#[derive(Debug)]
pub(crate) struct Conversation {
    name: Box<[u8]>,
    pub(crate) session: Session,
    /// By `Side as usize`.
    pub(crate) framers: [Framer; 2],
    /// Upper estimate of its memory in bytes, exact after it was measured.
    size: usize,
    is_measured: bool,
    /// The number of lines that had been read at its last one.
    last_used: u64,
}

impl Conversation {
    /// How much memory its unfinished lines take.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.framers.iter().map(Framer::waiting_bytes).sum()
    }

    fn measure(&mut self) {
        if !self.is_measured {
            let framers: usize = self.framers.iter().map(Framer::memory).sum();
            self.size = size_of::<Conversation>() + footprint(&self.session) + framers;
            self.is_measured = true;
        }
    }
}

/// The conversations of a file by name. If they take too much memory, ended ones are forgotten first,
/// then those idle for longest; if there are too many, the oldest.
#[derive(Debug)]
pub(crate) struct Conversations {
    /// The index of each conversation in the list.
    by_name: HashMap<Box<[u8]>, usize, RandomState>,
    /// Boxed: there may be thousands, and the list grows.
    list: Vec<Option<Box<Conversation>>>,
    /// Indices of the list that are not in use.
    free: Vec<usize>,
    /// Indices into the list, oldest first.
    arrival: VecDeque<usize>,
    /// The conversation used last; the next line often belongs to it too.
    last: usize,
    /// Digests of the names of conversations that were forgotten.
    forgotten: Bounded<u64, ()>,
    lines: u64,
    /// The estimated memory of all together, in bytes.
    size: usize,
    /// The estimated size beyond which they are measured, and some released.
    too_large: usize,
    limits: Limits,
    /// The memory of the unfinished lines of all in the list, in bytes.
    waiting_bytes: usize,
}

impl Conversations {
    pub(crate) fn new(limits: &Limits) -> Conversations {
        Conversations {
            by_name: HashMap::default(),
            list: Vec::new(),
            free: Vec::new(),
            arrival: VecDeque::new(),
            last: 0,
            forgotten: Bounded::default(),
            lines: 0,
            size: 0,
            too_large: limits.session_bytes,
            limits: *limits,
            waiting_bytes: 0,
        }
    }

    pub(crate) fn named(
        &mut self,
        name: &[u8],
        engine: &Engine,
        info: RecordingInfo,
    ) -> &mut Conversation {
        let place = self.place(name, engine, info);
        self.list[place].as_mut().expect("nobody has taken it out")
    }

    /// The conversation looked up last. There must be one.
    pub(crate) fn last(&mut self) -> &mut Conversation {
        self.list[self.last].as_mut().expect("nobody has taken it out")
    }

    /// Removes a conversation while its messages are judged.
    pub(crate) fn take(
        &mut self,
        name: &[u8],
        engine: &Engine,
        info: RecordingInfo,
    ) -> (usize, Box<Conversation>) {
        let place = self.place(name, engine, info);
        let conversation = self.list[place].take().expect("nobody else has taken it out");
        self.waiting_bytes -= conversation.waiting_bytes();
        (place, conversation)
    }

    pub(crate) fn put_back(&mut self, place: usize, conversation: Box<Conversation>) {
        self.waiting_bytes += conversation.waiting_bytes();
        self.list[place] = Some(conversation);
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        for conversation in self.drain() {
            self.forgotten.insert(digest(&conversation.name), (), self.limits.sessions.max(1));
        }
    }

    /// The memory of unfinished lines in bytes, except those of a conversation that was taken out.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&[u8], &mut Session)> {
        let conversations = self.list.iter_mut().flatten();
        conversations.map(|conversation| (&*conversation.name, &mut conversation.session))
    }

    /// Notes that a line with this many bytes was followed in the conversation used last.
    pub(crate) fn note_line(&mut self, bytes: usize) {
        self.lines += 1;
        if let Some(Some(last)) = self.list.get_mut(self.last) {
            let added = bytes + FOR_A_LINE;
            last.size += added;
            last.is_measured = false;
            last.last_used = self.lines;
            self.size += added;
        }
    }

    /// Whether they may take too much memory, so that some must be [released](Self::release).
    pub(crate) fn are_too_large(&self) -> bool {
        self.size > self.too_large
    }

    /// Measures what all of them take and removes some if that is too much. The conversation used
    /// last stays.
    pub(crate) fn release(&mut self) -> Vec<Conversation> {
        self.list.iter_mut().flatten().for_each(|conversation| conversation.measure());
        self.size = self.list.iter().flatten().map(|conversation| conversation.size).sum();
        // Frees half of the memory, and lets a single large conversation double first, so that the
        // total work stays proportional to what is read.
        let released = if self.size > self.limits.session_bytes / 2 {
            self.release_half()
        } else {
            Vec::new()
        };
        self.too_large = self.limits.session_bytes.max(2 * self.size);
        released
    }

    fn release_half(&mut self) -> Vec<Conversation> {
        let mut candidates: Vec<(bool, u64, usize)> = self
            .list
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != self.last)
            .filter_map(|(place, conversation)| Some((place, conversation.as_deref()?)))
            .map(|(place, it)| (!it.session.is_over(), it.last_used, place))
            .collect();
        candidates.sort_unstable();
        let mut released = Vec::new();
        for (_, _, place) in candidates {
            if self.size <= self.limits.session_bytes / 2 {
                break;
            }
            released.extend(self.forget(place).map(|conversation| *conversation));
            self.free.push(place);
        }
        let list = &self.list;
        self.arrival.retain(|place| list[*place].is_some());
        released
    }

    /// All of them, in order of arrival.
    pub(crate) fn drain(&mut self) -> Vec<Conversation> {
        self.by_name.clear();
        self.waiting_bytes = 0;
        self.free.clear();
        self.size = 0;
        let mut list = std::mem::take(&mut self.list);
        let arrival = std::mem::take(&mut self.arrival);
        arrival.into_iter().filter_map(|place| list[place].take().map(|found| *found)).collect()
    }

    /// The index of the conversation with this name, created if there is none.
    fn place(&mut self, name: &[u8], engine: &Engine, info: RecordingInfo) -> usize {
        let name = &*kept(name);
        if let Some(Some(last)) = self.list.get(self.last)
            && *last.name == *name
        {
            return self.last;
        }
        self.last = match self.by_name.get(name) {
            Some(place) => *place,
            None => self.begin(name, engine, info),
        };
        self.last
    }

    fn begin(&mut self, name: &[u8], engine: &Engine, info: RecordingInfo) -> usize {
        let mut session = engine.session(info.revision);
        if info.from_start && !self.may_be_forgotten(name) {
            session.begin();
        }
        let size = size_of::<Conversation>() + 2 * name.len();
        let conversation = Box::new(Conversation {
            name: name.into(),
            session,
            framers: [Framer::new(), Framer::new()],
            size,
            is_measured: false,
            last_used: self.lines,
        });
        let place = self.free_place();
        self.size += size;
        self.list[place] = Some(conversation);
        self.by_name.insert(name.into(), place);
        self.arrival.push_back(place);
        place
    }

    /// A free index; that of the oldest if there are too many.
    fn free_place(&mut self) -> usize {
        if self.arrival.len() >= self.limits.sessions.max(1)
            && let Some(place) = self.arrival.pop_front()
        {
            self.forget(place);
            return place;
        }
        self.free.pop().unwrap_or_else(|| {
            self.list.push(None);
            self.list.len() - 1
        })
    }

    fn forget(&mut self, place: usize) -> Option<Box<Conversation>> {
        let conversation = self.list[place].take()?;
        self.by_name.remove(&conversation.name);
        self.size = self.size.saturating_sub(conversation.size);
        self.waiting_bytes -= conversation.waiting_bytes();
        self.forgotten.insert(digest(&conversation.name), (), self.limits.sessions.max(1));
        Some(conversation)
    }

    /// Whether a conversation with this name may have been forgotten, so that it is not at its
    /// start.
    fn may_be_forgotten(&self, name: &[u8]) -> bool {
        self.forgotten.forgot() || self.forgotten.contains(&digest(name))
    }
}

/// The form in which a name is remembered, as there may be thousands of long names.
fn kept(name: &[u8]) -> Cow<'_, [u8]> {
    const LONGEST: usize = 1024;
    if name.len() <= LONGEST {
        return name.into();
    }
    format!("of {} bytes, {:016x}", name.len(), digest(name)).into_bytes().into()
}
