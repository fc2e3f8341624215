use std::{error::Error, fmt};

use bytes::Bytes;

/// Shares sessions among several processes: each session has an append-only log, whose older part
/// may be replaced by a snapshot of the state.
///
/// A process that follows a session remembers the [`LogEnd`] it last saw. An append names the
/// expected end of the log; if others have appended in the meantime, nothing is appended and the
/// missed entries are returned. So all processes see the same entries in the same order.
///
/// Calls block, for a limited time. Logs of sessions that are idle for long expire.
pub trait SessionStore: fmt::Debug + Send {
    /// Appends to the logs of several sessions. For each session, all entries are appended or none.
    ///
    /// # Errors
    ///
    /// If the store cannot be reached or does not answer in time. Some of the entries may have been
    /// appended.
    fn append(&mut self, appends: &[Append<'_>]) -> Result<Vec<AppendOutcome>, StoreError>;

    /// Replaces the whole log of a session by a snapshot, if the log ends where `replacement`
    /// expects. Returns whether it was replaced.
    ///
    /// # Errors
    ///
    /// If the store cannot be reached or does not answer in time.
    fn replace(&mut self, replacement: &LogReplacement<'_>) -> Result<bool, StoreError>;

    /// The maximum number of bytes stored for one session. A snapshot must leave room for entries.
    fn session_bytes(&self) -> usize;
}

/// Where a log ends. The default is the end of a log that does not exist yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "both parts are needed to name an end")]
pub struct LogEnd {
    /// Distinguishes this log from an earlier one of the same session that has expired; 0 if there is
    /// no log.
    pub log: u64,
    /// How many entries were ever appended to it, including those that a snapshot replaced.
    pub count: u64,
}

/// Entries for the log of a session.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "callers make it")]
pub struct Append<'a> {
    /// The session.
    pub session: &'a str,
    /// Where its log is expected to end.
    pub end: LogEnd,
    /// What to append. Empty to ask only what was missed.
    pub entries: &'a [Bytes],
}

/// A snapshot that replaces a log.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "callers make it")]
pub struct LogReplacement<'a> {
    /// The session.
    pub session: &'a str,
    /// Where its log is expected to end.
    pub end: LogEnd,
    /// How many entries the snapshot includes that were never appended because they are too long.
    pub unwritten: u64,
    /// The snapshot: the state after all of these entries.
    pub state: &'a [u8],
}

/// The outcome of an [`Append`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "callers must handle every outcome")]
pub enum AppendOutcome {
    /// The entries were appended.
    Appended {
        /// Where the log ends now.
        end: LogEnd,
        /// How many bytes are stored for the session.
        stored: u64,
    },
    /// Nothing was appended: the log is longer than expected.
    Behind(MissedEntries),
    /// Nothing was appended: the log has expired, or the store was emptied.
    Expired,
    /// Nothing was appended, as there is no room: [replace](SessionStore::replace) the log first.
    Full,
}

/// The part of a log that a process has missed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores make it")]
pub struct MissedEntries {
    /// The snapshot before the entries, if they do not directly follow what the process knows; it
    /// replaces everything the process knew. `Some(None)` if the entries are the whole log.
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
    /// Wraps the cause.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
        StoreError(cause.into())
    }
}
