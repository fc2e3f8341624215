use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use mcp_core::{
    Append, AppendOutcome, LogEnd, LogReplacement, MissedEntries, SessionStore, StoreError,
};

use super::StoreSettings;

/// A store for replicas in one process. Clones share the sessions.
#[derive(Clone)]
pub struct MemoryStore {
    logs: Arc<Mutex<Logs>>,
    session_bytes: usize,
}

/// Maximum number of sessions. Beyond it, the oldest is forgotten.
const MAX_SESSIONS: usize = 10_000;

#[derive(Debug, Default)]
struct Logs {
    by_session: HashMap<Box<str>, Log>,
    /// Sessions, oldest first.
    arrival: VecDeque<Box<str>>,
    /// Number of logs created so far.
    count: u64,
}

#[derive(Debug, Default)]
struct Log {
    id: u64,
    base: u64,
    state: Option<Bytes>,
    entries: Vec<Bytes>,
    bytes: usize,
}

impl Log {
    fn end(&self) -> LogEnd {
        LogEnd { log: self.id, count: self.base + self.entries.len() as u64 }
    }

    fn missed_since(&self, known: LogEnd) -> MissedEntries {
        let end = self.end();
        let since = known.count.checked_sub(self.base).filter(|_| known.log == self.id);
        let since = since.and_then(|since| self.entries.get(usize::try_from(since).ok()?..));
        match since {
            Some(entries) => MissedEntries { state: None, entries: entries.to_vec(), end },
            None => MissedEntries {
                state: Some(self.state.clone()),
                entries: self.entries.clone(),
                end,
            },
        }
    }
}

impl MemoryStore {
    /// An empty store.
    pub fn new(settings: &StoreSettings) -> MemoryStore {
        MemoryStore { logs: Arc::default(), session_bytes: settings.session_bytes }
    }

    fn lock(&self) -> MutexGuard<'_, Logs> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionStore for MemoryStore {
    fn append(&mut self, appends: &[Append<'_>]) -> Result<Vec<AppendOutcome>, StoreError> {
        let mut logs = self.lock();
        Ok(appends.iter().map(|append| logs.append(append, self.session_bytes)).collect())
    }

    fn replace(&mut self, replacement: &LogReplacement<'_>) -> Result<bool, StoreError> {
        let LogReplacement { session, end, unwritten, state } = *replacement;
        let mut logs = self.lock();
        let Some(log) = logs.by_session.get_mut(session).filter(|log| log.end() == end) else {
            return Ok(false);
        };
        log.base = end.count + unwritten;
        log.state = Some(Bytes::copy_from_slice(state));
        log.bytes = state.len();
        log.entries.clear();
        Ok(true)
    }

    fn session_bytes(&self) -> usize {
        self.session_bytes
    }
}

impl Logs {
    fn append(&mut self, append: &Append<'_>, limit: usize) -> AppendOutcome {
        let Append { session, end, entries } = *append;
        let adding: usize = entries.iter().map(Bytes::len).sum();
        let Some(log) = self.by_session.get_mut(session) else {
            if end.log != 0 {
                return AppendOutcome::Expired;
            }
            if adding > limit {
                return AppendOutcome::Full;
            }
            return self.begin(session, entries, adding);
        };
        if log.end() != end {
            return AppendOutcome::Behind(log.missed_since(end));
        }
        if log.bytes + adding > limit {
            return AppendOutcome::Full;
        }
        log.entries.extend_from_slice(entries);
        log.bytes += adding;
        AppendOutcome::Appended { end: log.end(), stored: log.bytes as u64 }
    }

    fn begin(&mut self, session: &str, entries: &[Bytes], bytes: usize) -> AppendOutcome {
        if entries.is_empty() {
            return AppendOutcome::Appended { end: LogEnd::default(), stored: 0 };
        }
        if self.arrival.len() >= MAX_SESSIONS
            && let Some(oldest) = self.arrival.pop_front()
        {
            self.by_session.remove(&oldest);
        }
        self.count += 1;
        let log = Log { id: self.count, entries: entries.to_vec(), bytes, ..Log::default() };
        let end = log.end();
        self.by_session.insert(session.into(), log);
        self.arrival.push_back(session.into());
        AppendOutcome::Appended { end, stored: bytes as u64 }
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}
