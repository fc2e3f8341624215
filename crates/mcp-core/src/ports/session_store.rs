use std::{error::Error, fmt};

use bytes::Bytes;

/// What several processes know of sessions together: for each session a log that all append to, and
/// at times a state that stands for everything before it.
///
/// Whoever follows a session keeps the [`LogEnd`] that it knows of. To append is to say where the
/// log is believed to end; if it has gone on meanwhile, nothing is appended and what was missed is
/// returned. So all who follow a session see the same entries in the same order.
///
/// Calls block, for a limited time. What is stored expires if a session is silent for long.
pub trait SessionStore: fmt::Debug + Send {
    /// Appends to the logs of several sessions, to each all of its entries or none.
    ///
    /// # Errors
    ///
    /// If the store cannot be reached, or does not answer in time. Some of the entries may have been
    /// appended.
    fn append(&mut self, appends: &[Append<'_>]) -> Result<Vec<Appended>, StoreError>;

    /// Puts a state in the place of the whole log of a session, if that ends where it is said to.
    /// Returns whether it did.
    ///
    /// # Errors
    ///
    /// If the store cannot be reached, or does not answer in time.
    fn replace(&mut self, replacement: &LogReplacement<'_>) -> Result<bool, StoreError>;

    /// How many bytes may be stored for one session. A state has to leave room for entries.
    fn session_bytes(&self) -> usize;
}

/// Where a log ends. The default is that of a session of which nothing is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "both parts are needed to name an end")]
pub struct LogEnd {
    /// Tells a log from another one of the same session, after the first has expired; 0 if there is
    /// none.
    pub log: u64,
    /// How many entries were ever appended to it.
    pub count: u64,
}

/// Entries for the log of a session.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "callers make it")]
pub struct Append<'a> {
    /// The session.
    pub session: &'a str,
    /// Where its log is believed to end.
    pub end: LogEnd,
    /// What to append; may be empty, to ask what was missed.
    pub entries: &'a [Bytes],
}

/// A state for the place of a log.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "callers make it")]
pub struct LogReplacement<'a> {
    /// The session.
    pub session: &'a str,
    /// Where its log is believed to end.
    pub end: LogEnd,
    /// How many entries the state stands for that were not appended, since they are too long.
    pub unwritten: u64,
    /// What is known after all of them.
    pub state: &'a [u8],
}

/// What has become of an [`Append`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever appends has to deal with all of them")]
pub enum Appended {
    /// The entries were appended.
    Done {
        /// Where the log ends now.
        end: LogEnd,
        /// How many bytes are stored for the session.
        stored: u64,
    },
    /// The log has gone on, and nothing was appended.
    Behind(Missed),
    /// The log is gone, and nothing was appended: it has expired, or the store was emptied.
    Gone,
    /// There is no room for the entries: the log has to be [replaced](SessionStore::replace).
    Full,
}

/// The part of a log that someone has missed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores make it")]
pub struct Missed {
    /// The state before the entries, if they do not follow what is known: nothing that was known
    /// before counts then. `Some(None)` if they are the whole log.
    pub state: Option<Option<Bytes>>,
    /// The entries, in order.
    pub entries: Vec<Bytes>,
    /// Where the log ends, after the last of them.
    pub end: LogEnd,
}

/// Why a store could not be used.
#[derive(Debug, thiserror::Error)]
#[error("the session store cannot be used")]
pub struct StoreError(#[source] Box<dyn Error + Send + Sync>);

impl StoreError {
    /// A failure with this cause.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
        StoreError(cause.into())
    }
}
