//! The buffer that documents are parsed into.

use crate::document::Document;
use crate::entry::Entry;
use crate::error::SyntaxError;
use crate::limits::Limits;
use crate::parser::{self, Notices, Scratch};

/// A reusable buffer for parsed texts. Keep one and parse into it again and again: once it has
/// grown to the size of the traffic, parsing allocates nothing.
///
/// It keeps its memory. A text of single digits and commas takes eight times its length here, other
/// texts far less; [`Tape::shrink_to`] gives back what such a text has taken.
#[derive(Debug, Default)]
pub struct Tape {
    entries: Vec<Entry>,
    scratch: Scratch,
}

impl Tape {
    /// An empty tape; memory is taken when it is first used.
    pub fn new() -> Tape {
        Tape::default()
    }

    /// Forgets what was parsed before, then parses one text.
    ///
    /// # Errors
    /// The first thing in the text that is not JSON, or a limit it exceeds.
    pub fn parse<'a>(
        &'a mut self,
        input: &'a [u8],
        limits: Limits,
    ) -> Result<Document<'a>, SyntaxError> {
        self.clear();
        let slot = self.append(input, limits)?;
        Ok(self.document(slot, input))
    }

    /// Forgets what was parsed before, and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Gives memory back if the tape holds more than `max_bytes`, so that one large text is not
    /// paid for by everything that comes after it. Documents on the tape stay; what they take is
    /// kept even if it is more.
    pub fn shrink_to(&mut self, max_bytes: usize) {
        if self.memory() <= max_bytes {
            return;
        }
        self.scratch = Scratch::default();
        self.entries.shrink_to(max_bytes / size_of::<Entry>());
    }

    /// Bytes of memory that the tape holds, used or not.
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.scratch.memory()
    }

    /// Parses one text behind those already there, so that many lines share one buffer.
    ///
    /// # Errors
    /// The first thing in the text that is not JSON, or a limit it exceeds. The tape then is as
    /// it was before.
    pub fn append(&mut self, input: &[u8], limits: Limits) -> Result<Slot, SyntaxError> {
        #[cfg(feature = "testing")]
        crate::testing::count_parse();
        let start = self.entries.len();
        match parser::parse(input, limits, &mut self.entries, &mut self.scratch) {
            Ok(notices) => {
                Ok(Slot { start, end: self.entries.len(), length: input.len(), notices })
            }
            Err(error) => {
                self.entries.truncate(start);
                Err(error)
            }
        }
    }

    /// The document that [`Tape::append`] has put into `slot`, with the input it was given there.
    ///
    /// # Panics
    /// If the slot is from before the last [`Tape::clear`] or from another tape, or if the input
    /// is another one, as far as the lengths tell.
    pub fn document<'a>(&'a self, slot: Slot, input: &'a [u8]) -> Document<'a> {
        assert_eq!(input.len(), slot.length, "the input is the one that was parsed");
        Document::new(input, &self.entries[slot.start..slot.end], slot.notices)
    }
}

/// Where a document is on a [`Tape`], free of any borrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    start: usize,
    end: usize,
    /// Of the input.
    length: usize,
    notices: Notices,
}
