use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use mcp_core::{Append, AppendOutcome, LogEnd, LogReplacement, Revision, SessionStore, StoreError};
use mcp_rules::{Engine, LineReader};

use super::{
    entry::{Entry, NOTHING},
    local::Local,
};

/// Follows the sessions that this replica sees.
#[derive(Debug)]
pub(super) struct Follower {
    engine: Arc<Engine>,
    revision: Option<Revision>,
    store: Box<dyn SessionStore>,
    reader: LineReader,
    locals: HashMap<Arc<str>, Local>,
    /// Sessions with traffic that is missing from their logs.
    incomplete: HashSet<Arc<str>>,
    /// Whether there were too many of them to remember.
    distrusts: bool,
    batches: u64,
    /// Bytes that may have been allocated since memory was last checked.
    grown: usize,
    /// When to try the store again, if it is unavailable.
    away: Option<Instant>,
}

/// The store is unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unavailable {
    /// A request failed, and may have been executed in part.
    Failed,
    /// It failed a moment ago, and was not asked again.
    Paused,
}

/// Lines to append to the log of one session.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) session: Arc<str>,
    /// The line that opened the session, before its id was known.
    pub(super) opening: Option<Bytes>,
    /// Our lines, as entries.
    pub(super) lines: Vec<Bytes>,
    /// Whether it may start a log whose beginning is unknown.
    pub(super) may_join: bool,
    /// Whether the server has confirmed the session: clients alone cannot make us store one.
    pub(super) is_served: bool,
    /// Whether its lines waited so long that other replicas may have written later ones.
    pub(super) is_late: bool,
    pub(super) fate: Fate,
}

/// The result for a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Undecided.
    Open,
    /// Its first line has this number in the log.
    Published(u64),
    /// Like `Published`, but there was no room for the entries: a state has to be stored instead
    /// once the lines are judged.
    Unwritten(u64, u64),
    /// Nothing is known of the session yet, but another replica may be about to write its
    /// beginning.
    Unknown,
    /// Nothing is known of the session, which may not exist.
    Unstored,
    /// The log could not be written to.
    Apart,
}

/// Maximum number of conflicting writes by others.
const MAX_TRIES: usize = 8;
/// Pause after a failure of the store.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of incomplete sessions to remember.
const MAX_INCOMPLETE: usize = 10_000;
/// Logs up to this size are not replaced by a state.
const SHORT_LOG: u64 = 64 << 10;
/// Maximum length of a log, as a multiple of the state.
const LONG_LOG: u64 = 3;
/// Approximate memory of a group of lines besides their text.
const FOR_A_GROUP: usize = 4096;

impl Follower {
    pub(super) fn new(
        engine: Arc<Engine>,
        revision: Option<Revision>,
        store: Box<dyn SessionStore>,
    ) -> Follower {
        Follower {
            reader: LineReader::new(&engine.settings().limits),
            engine,
            revision,
            store,
            locals: HashMap::new(),
            incomplete: HashSet::new(),
            distrusts: false,
            batches: 0,
            grown: 0,
            away: None,
        }
    }

    /// A session without history, for judging its first lines.
    pub(super) fn unknowing(&self) -> Local {
        Local::new(&self.engine, self.revision)
    }

    /// The local state of a session after [`Follower::publish`].
    pub(super) fn local(&mut self, session: &Arc<str>) -> &mut Local {
        let (engine, revision) = (&self.engine, self.revision);
        self.locals.entry(Arc::clone(session)).or_insert_with(|| {
            let mut local = Local::new(engine, revision);
            local.name = name_of(session).into();
            local
        })
    }

    /// Continues with the lines observed before the session had an id.
    pub(super) fn begin(&mut self, session: &Arc<str>, mut local: Local) {
        self.incomplete.remove(session);
        local.is_loaded = true;
        local.name = name_of(session).into();
        self.locals.insert(Arc::clone(session), local);
    }

    /// Notes that traffic is missing from the log.
    pub(super) fn note_incomplete(&mut self, session: &Arc<str>) {
        if self.incomplete.len() >= MAX_INCOMPLETE {
            self.distrusts = true;
            self.locals.clear();
            return;
        }
        self.incomplete.insert(Arc::clone(session));
    }

    /// Writes lines to their logs and catches up with what others wrote before them.
    ///
    /// # Errors
    ///
    /// If the store is unavailable. Some groups may then still be undecided.
    pub(super) fn publish(&mut self, groups: &mut [Group]) -> Result<(), Unavailable> {
        self.batches += 1;
        if self.away.is_some_and(|until| now() < until) {
            return Err(Unavailable::Paused);
        }
        for _ in 0..MAX_TRIES {
            let open: Vec<usize> =
                (0..groups.len()).filter(|place| groups[*place].fate == Fate::Open).collect();
            if open.is_empty() {
                break;
            }
            let entries: Vec<Vec<Bytes>> =
                open.iter().map(|place| self.entries(&groups[*place])).collect();
            let appends: Vec<Append<'_>> = open
                .iter()
                .zip(&entries)
                .map(|(place, entries)| {
                    let session = &groups[*place].session;
                    let end = self.locals.get(session).map_or(LogEnd::default(), |it| it.end);
                    Append { session, end, entries }
                })
                .collect();
            let appended = match self.store.append(&appends) {
                Ok(appended) => appended,
                Err(error) => {
                    self.note_away(&error);
                    return Err(Unavailable::Failed);
                }
            };
            self.note_back();
            for ((place, entries), appended) in open.into_iter().zip(&entries).zip(appended) {
                self.settle(&mut groups[place], entries, appended);
            }
        }
        for group in groups {
            if group.fate == Fate::Open {
                group.fate = Fate::Apart;
            }
        }
        Ok(())
    }

    /// The entries to append for a group. None for a session that is not loaded yet, to read it
    /// first.
    fn entries(&mut self, group: &Group) -> Vec<Bytes> {
        let batches = self.batches;
        let is_incomplete = self.incomplete.contains(&group.session);
        let local = self.local(&group.session);
        local.used = batches;
        if !local.is_loaded {
            return Vec::new();
        }
        let gap = is_incomplete.then(|| Entry::Gap.write());
        gap.into_iter().chain(group.opening.clone()).chain(group.lines.iter().cloned()).collect()
    }

    fn settle(&mut self, group: &mut Group, entries: &[Bytes], appended: AppendOutcome) {
        let known = self.local(&group.session).end;
        match appended {
            AppendOutcome::Appended { .. } if entries.is_empty() => {
                // The replica that knows its beginning may be about to write it.
                if !group.may_join {
                    group.fate = Fate::Unknown;
                } else if group.is_served {
                    self.local(&group.session).is_loaded = true;
                } else {
                    self.locals.remove(&group.session);
                    group.fate = Fate::Unstored;
                }
            }
            AppendOutcome::Appended { end, stored } => {
                self.note_written(group, entries, end);
                self.local(&group.session).stored = stored;
            }
            // Our own, if the answer to an earlier attempt was lost.
            AppendOutcome::Behind(missed)
                if !entries.is_empty()
                    && missed.state.as_ref().is_none_or(Option::is_none)
                    && missed.entries.starts_with(entries) =>
            {
                let count = match missed.state {
                    None => known.count + entries.len() as u64,
                    Some(_) => entries.len() as u64,
                };
                self.note_written(group, entries, LogEnd { log: missed.end.log, count });
            }
            AppendOutcome::Behind(missed) => {
                self.grown += missed.entries.iter().map(Bytes::len).sum::<usize>();
                let (engine, reader) = (Arc::clone(&self.engine), &mut self.reader);
                let Some(local) = self.locals.get_mut(&group.session) else { return };
                let was_loaded = std::mem::replace(&mut local.is_loaded, true);
                local.catch_up(&missed, &engine, reader);
                if if was_loaded { group.is_late } else { self.distrusts } {
                    self.incomplete.insert(Arc::clone(&group.session));
                }
            }
            AppendOutcome::Expired => {
                // Other replicas may have continued it since, which is lost.
                let mut local = self.unknowing();
                local.is_loaded = true;
                local.name = name_of(&group.session).into();
                self.locals.insert(Arc::clone(&group.session), local);
                self.incomplete.insert(Arc::clone(&group.session));
            }
            AppendOutcome::Full if known.log == 0 => group.fate = Fate::Apart,
            AppendOutcome::Full => {
                self.take_prelude(group, entries, known);
                let count = entries.len() as u64;
                let first = known.count + count - group.lines.len() as u64 + 1;
                group.fate = Fate::Unwritten(first, count);
            }
        }
    }

    fn note_written(&mut self, group: &mut Group, entries: &[Bytes], end: LogEnd) {
        let before = LogEnd { log: end.log, count: end.count - entries.len() as u64 };
        self.take_prelude(group, entries, before);
        self.incomplete.remove(&group.session);
        self.grown += FOR_A_GROUP + entries.iter().map(Bytes::len).sum::<usize>();
        self.local(&group.session).end = end;
        group.fate = Fate::Published(end.count - group.lines.len() as u64 + 1);
    }

    /// Follows the entries before our own lines.
    fn take_prelude(&mut self, group: &Group, entries: &[Bytes], before: LogEnd) {
        let (engine, reader) = (Arc::clone(&self.engine), &mut self.reader);
        let Some(local) = self.locals.get_mut(&group.session) else { return };
        let prelude = &entries[..entries.len() - group.lines.len()];
        for (number, entry) in (before.count + 1..).zip(prelude) {
            match Entry::read(entry) {
                Entry::Gap => local.forget(&engine),
                // It was judged on arrival, with the number that it has if no other line precedes
                // it.
                Entry::Line(line) if number > 1 => local.follow(number, line, &engine, reader),
                Entry::Line(_) => {}
            }
        }
    }

    /// Stores the state of a session after its lines were judged, if that is due or required.
    pub(super) fn store_state(&mut self, group: &Group) {
        let engine = Arc::clone(&self.engine);
        let limit = self.store.session_bytes() / 2;
        let unwritten = match group.fate {
            Fate::Published(_) => 0,
            Fate::Unwritten(_, count) => count,
            Fate::Open | Fate::Unknown | Fate::Unstored | Fate::Apart => return,
        };
        let has_to = unwritten > 0;
        let Some(local) = self.locals.get_mut(&group.session) else { return };
        let is_long = local.stored > SHORT_LOG.max(LONG_LOG * local.saved);
        if !has_to && (!is_long || local.is_foreign) {
            return;
        }
        let mut state = local.save(&engine).filter(|state| state.len() <= limit);
        if local.is_foreign {
            state = None;
        }
        let state = state.unwrap_or_else(|| {
            local.forget(&engine);
            NOTHING.to_vec()
        });
        let session = &*group.session;
        let replacement = LogReplacement { session, end: local.end, unwritten, state: &state };
        match self.store.replace(&replacement) {
            Ok(true) => {
                self.incomplete.remove(&group.session);
                local.end.count += unwritten;
                (local.stored, local.saved) = (state.len() as u64, state.len() as u64);
            }
            Ok(false) if has_to => self.note_incomplete(&group.session),
            // Another replica has continued it, and will store the state.
            Ok(false) => {}
            Err(error) => {
                self.note_away(&error);
                if has_to {
                    self.note_incomplete(&group.session);
                }
            }
        }
    }

    /// Enforces the memory limit: dropped sessions can be read again.
    pub(super) fn make_room(&mut self) {
        let limits = self.engine.settings().limits;
        if self.grown <= limits.session_bytes / 8 && self.locals.len() <= limits.sessions {
            return;
        }
        self.grown = 0;
        let size: usize = self.locals.values().map(|local| local.size).sum();
        if size <= limits.session_bytes && self.locals.len() <= limits.sessions {
            return;
        }
        let mut by_use: Vec<(u64, usize, Arc<str>)> = self
            .locals
            .iter()
            .map(|(session, local)| (local.used, local.size, Arc::clone(session)))
            .collect();
        by_use.sort_unstable();
        let mut left = size;
        for (_, size, session) in by_use {
            if left <= limits.session_bytes / 2 && self.locals.len() <= limits.sessions / 2 {
                break;
            }
            left -= size;
            self.locals.remove(&session);
        }
    }

    fn note_away(&mut self, error: &StoreError) {
        if self.away.replace(now() + PAUSE).is_none() {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            let cause = cause.unwrap_or_default();
            tracing::error!(
                cause,
                "the session store is unavailable; sessions are judged without it, or get 503 if their \
                 messages are held back"
            );
        }
    }

    fn note_back(&mut self) {
        if self.away.take().is_some() {
            tracing::info!("the session store is available again");
        }
    }
}

/// The server's name in recordings, if there are several: it comes before the id of the session.
fn name_of(session: &str) -> &str {
    session.split_once('\n').map_or("", |(name, _)| name)
}

#[expect(clippy::disallowed_methods, reason = "no finding depends on when a store is asked again")]
fn now() -> Instant {
    Instant::now()
}
