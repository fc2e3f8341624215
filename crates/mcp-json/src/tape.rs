//! The buffer that documents are parsed into.

use crate::document::Document;
use crate::entry::Entry;
use crate::error::SyntaxError;
use crate::limits::Limits;
use crate::parser::{self, Notices, Scratch};

/// A reusable buffer for parsed texts. Keep one and parse into it repeatedly: once it has grown to
/// the size of the traffic, parsing does not allocate.
///
/// It keeps its memory. A text of single digits and commas takes eight times its length, other texts
/// far less; [`Tape::shrink_to`] frees memory after such a text.
#[derive(Debug, Default)]
pub struct Tape {
    entries: Vec<Entry>,
    scratch: Scratch,
}

impl Tape {
    /// An empty tape; memory is allocated when it is first used.
    pub fn new() -> Tape {
        Tape::default()
    }

    /// Discards what was parsed before, then parses one text.
    ///
    /// # Errors
    /// The first syntax error, or an exceeded limit.
    pub fn parse<'a>(
        &'a mut self,
        input: &'a [u8],
        limits: Limits,
    ) -> Result<Document<'a>, SyntaxError> {
        #[cfg(feature = "testing")]
        crate::testing::count_parse();
        self.clear();
        let Tape { entries, scratch } = self;
        match parser::parse(input, limits, entries, scratch) {
            Ok(notices) => Ok(Document::new(input, entries, notices, limits.max_depth)),
            Err(error) => {
                entries.clear();
                Err(error)
            }
        }
    }

    /// Discards what was parsed before, but keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Frees memory if the tape holds more than `max_bytes`, so that one large text does not tie it
    /// up forever. Documents on the tape stay; the memory they use is kept even if it is more.
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

    /// Parses one text and appends it to those already there, so that many lines share one buffer.
    ///
    /// # Errors
    /// The first syntax error, or an exceeded limit. The tape is then unchanged.
    pub fn append(&mut self, input: &[u8], limits: Limits) -> Result<Slot, SyntaxError> {
        #[cfg(feature = "testing")]
        crate::testing::count_parse();
        let start = self.entries.len();
        match parser::parse(input, limits, &mut self.entries, &mut self.scratch) {
            Ok(notices) => Ok(Slot {
                start,
                end: self.entries.len(),
                length: input.len(),
                notices,
                max_depth: limits.max_depth,
            }),
            Err(error) => {
                self.entries.truncate(start);
                Err(error)
            }
        }
    }

    /// The document that [`Tape::append`] stored in `slot`; `input` must be what was parsed there.
    ///
    /// # Panics
    /// If the slot is from before the last [`Tape::clear`] or from another tape, or if the input
    /// has another length.
    pub fn document<'a>(&'a self, slot: Slot, input: &'a [u8]) -> Document<'a> {
        assert_eq!(input.len(), slot.length, "the input is the one that was parsed");
        let entries = &self.entries[slot.start..slot.end];
        Document::new(input, entries, slot.notices, slot.max_depth)
    }
}

/// The location of a document on a [`Tape`], without a borrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    start: usize,
    end: usize,
    /// Length of the input.
    length: usize,
    notices: Notices,
    max_depth: usize,
}
