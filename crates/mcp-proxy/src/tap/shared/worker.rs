use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use mcp_core::{Revision, SessionStore, Side};
use mcp_json::{Limits, Tape};
use mcp_rules::Engine;
use tokio::sync::oneshot;

use super::{
    entry::Entry,
    follower::{Fate, Follower, Group, Unavailable},
    local::unknowing,
    openings::{Opening, Openings},
};
use crate::tap::{
    Journal, Judgement, Observation, SessionHistory, StoreUnavailable,
    journal::Mode,
    observation::ObservationWriter,
    queue::{Item, Next, Queue, QueueReader},
};

/// Judges lines of sessions together with other replicas.
pub(in crate::tap) struct Worker {
    journal: Arc<Mutex<Option<Box<Journal>>>>,
    engine: Arc<Engine>,
    revision: Option<Revision>,
    enforces: bool,
    scribe: ObservationWriter,
    tape: Tape,
    limits: Limits,
    follower: Follower,
    openings: Openings,
    /// Lines of unknown sessions whose beginning another replica may be about to write.
    deferred: Vec<Pending>,
}

/// A line being processed.
#[derive(Debug)]
struct Pending {
    observation: Observation,
    line: Bytes,
    reply: Option<oneshot::Sender<Judgement>>,
    /// Whether it may open a session.
    opens: bool,
}

/// Maximum number of lines, and their bytes, to write at once.
const MAX_BATCH: usize = 64;
const MAX_BATCH_BYTES: usize = 1 << 20;
/// How long to wait for another replica to write the beginning of a session.
const PATIENCE: Duration = Duration::from_millis(250);
/// Maximum number of deferred lines, and their bytes.
const MAX_DEFERRED: usize = 1000;
const MAX_DEFERRED_BYTES: usize = 4 << 20;
/// Age from which a line may have been overtaken by later lines of other replicas.
const LATE: Duration = Duration::from_secs(1);

impl Worker {
    pub(in crate::tap) fn new(
        journal: Arc<Mutex<Option<Box<Journal>>>>,
        engine: Arc<Engine>,
        (enforces, revision): (bool, Option<Revision>),
        store: Box<dyn SessionStore>,
    ) -> Worker {
        let limits = engine.settings().limits.json();
        Worker {
            journal,
            revision,
            enforces,
            scribe: ObservationWriter::new(limits),
            tape: Tape::new(),
            limits,
            follower: Follower::new(Arc::clone(&engine), revision, store),
            engine,
            openings: Openings::default(),
            deferred: Vec::new(),
        }
    }

    /// Processes a queue until it is closed.
    pub(in crate::tap) fn run(mut self, queue: &Queue) {
        let mut items = QueueReader::new(queue);
        let mut is_flushed = true;
        loop {
            let limit = match (is_flushed, self.deferred.is_empty()) {
                (false, _) => Some(Duration::ZERO),
                (true, false) => Some(PATIENCE / 10),
                (true, true) => None,
            };
            match items.next_within(limit) {
                Next::Item { item, behind } => {
                    is_flushed = false;
                    self.take_batch(item, behind, &mut items);
                }
                // The journal gets new rules directly.
                Next::Rules(_) => {}
                Next::Idle => {
                    if !self.deferred.is_empty() {
                        self.process(Vec::new(), false);
                    }
                    self.with_journal(Journal::flush);
                    is_flushed = true;
                }
                Next::Closed { lost } => {
                    self.process(Vec::new(), true);
                    self.with_journal(|journal| journal.note_lost(lost));
                    return;
                }
            }
        }
    }

    /// Takes queued items up to the batch limits.
    fn take_batch(&mut self, first: Item, behind: bool, items: &mut QueueReader<'_>) {
        let mut batch = Vec::new();
        let mut bytes = 0;
        let mut next = Some((first, behind));
        while let Some((item, behind)) = next {
            let Item { observation, lost, lost_in, reply, .. } = item;
            if lost > 0 {
                self.process(std::mem::take(&mut batch), false);
                for session in &lost_in {
                    self.follower.note_incomplete(session);
                }
                self.with_journal(|journal| journal.note_lost(lost));
            }
            let line = Bytes::from(self.scribe.line(&observation));
            bytes += line.len();
            if behind && reply.is_none() {
                self.process(std::mem::take(&mut batch), false);
                self.pass_unjudged(&line, &observation);
            } else {
                let opens = observation.is_initialize(&mut self.tape, self.limits);
                batch.push(Pending { observation, line, reply, opens });
                // The response may come next, and must find it.
                if opens {
                    self.process(std::mem::take(&mut batch), false);
                }
            }
            if batch.len() >= MAX_BATCH || bytes >= MAX_BATCH_BYTES {
                break;
            }
            next = match items.next(true) {
                Next::Item { item, behind } => Some((item, behind)),
                Next::Idle | Next::Rules(_) | Next::Closed { lost: 0 } => None,
                Next::Closed { lost } => {
                    self.with_journal(|journal| journal.note_lost(lost));
                    None
                }
            };
        }
        self.process(batch, false);
    }

    fn pass_unjudged(&mut self, line: &[u8], observation: &Observation) {
        if let Some(session) = observation.shared_session() {
            self.follower.note_incomplete(session);
        }
        self.with_journal(|journal| journal.pass_unjudged(line, observation));
    }

    /// Writes and judges lines. In the last call, nothing is deferred.
    fn process(&mut self, batch: Vec<Pending>, is_last: bool) {
        let mut batch = {
            let mut all = std::mem::take(&mut self.deferred);
            all.extend(batch);
            all
        };
        if batch.is_empty() {
            return;
        }
        let waiting: usize = batch.iter().map(|pending| pending.line.len()).sum();
        let is_full = batch.len() > MAX_DEFERRED || waiting > MAX_DEFERRED_BYTES;
        let mut groups = self.group(&batch, is_last || is_full);
        let away = match self.follower.publish(&mut groups) {
            _ if groups.is_empty() => None,
            Ok(()) => None,
            Err(away) => Some(away),
        };
        let unknown: HashSet<Arc<str>> = groups
            .iter()
            .filter(|group| group.fate == Fate::Unknown)
            .map(|group| Arc::clone(&group.session))
            .collect();
        if !unknown.is_empty() {
            let is_unknown = |pending: &Pending| {
                pending.observation.shared_session().is_some_and(|it| unknown.contains(it))
            };
            let (deferred, ready) = batch.into_iter().partition(is_unknown);
            (self.deferred, batch) = (deferred, ready);
        }
        let mut next: HashMap<Arc<str>, u64> = HashMap::new();
        for pending in batch {
            let Some(session) = pending.observation.shared_session().cloned() else {
                self.judge_alone(pending);
                continue;
            };
            let fate = groups.iter().find(|group| group.session == session).map(|it| it.fate);
            match (fate, away) {
                (Some(Fate::Published(first) | Fate::Unwritten(first, _)), _) => {
                    let number = next.entry(Arc::clone(&session)).or_insert(first);
                    let at = *number;
                    *number += 1;
                    self.judge_shared(&session, at, pending);
                }
                (Some(Fate::Unstored), _) => self.judge_unstored(pending),
                (_, away) => self.judge_apart(&session, pending, away),
            }
        }
        for group in &groups {
            self.follower.store_state(group);
        }
        self.follower.make_room();
    }

    /// The lines of each session, in order.
    fn group(&mut self, batch: &[Pending], may_join: bool) -> Vec<Group> {
        let mut places: HashMap<Arc<str>, usize> = HashMap::new();
        let mut groups: Vec<Group> = Vec::new();
        for Pending { observation, line, .. } in batch {
            let Some(session) = observation.shared_session() else { continue };
            let place = *places.entry(Arc::clone(session)).or_insert_with(|| {
                groups.push(Group {
                    session: Arc::clone(session),
                    opening: None,
                    lines: Vec::new(),
                    // Under enforcement nothing passes before it is written.
                    may_join: may_join || self.enforces,
                    is_served: false,
                    is_late: false,
                    fate: Fate::Open,
                });
                groups.len() - 1
            });
            let group = &mut groups[place];
            let age = now().duration_since(observation.at()).unwrap_or_default();
            group.may_join |= age > PATIENCE;
            group.is_late |= age > LATE;
            group.is_served |= observation.is_success();
            if observation.is_response()
                && group.lines.is_empty()
                && let Some(opening) = observation.exchange().and_then(|it| self.openings.take(it))
            {
                self.follower.begin(session, opening.local);
                group.opening = Some(Entry::Line(&opening.line).write());
            }
            group.lines.push(Entry::Line(line).write());
        }
        groups
    }

    /// Judges a line with the history of all replicas.
    fn judge_shared(&mut self, session: &Arc<str>, number: u64, pending: Pending) {
        let Pending { observation, line, reply, .. } = pending;
        let mode = self.mode_for(&observation, reply.is_some());
        let local = self.follower.local(session);
        let verdict = with(&self.journal, |journal| {
            journal.take_in(
                SessionHistory::Shared,
                &line,
                Some(&observation),
                mode,
                |it, recorded| {
                    local.judge((number, recorded), line.len(), |observer, number| {
                        it.rule(observer, number, &line, mode)
                    })
                },
            )
        });
        answer(reply, Ok(verdict.unwrap_or_default()));
    }

    /// Judges a line of an unknown session, without history.
    fn judge_unstored(&mut self, pending: Pending) {
        let Pending { observation, line, reply, .. } = pending;
        let mode = self.mode_for(&observation, reply.is_some());
        let (engine, revision) = (&self.engine, self.revision);
        let verdict = with(&self.journal, |journal| {
            journal.take_in(SessionHistory::Own, &line, Some(&observation), mode, |it, number| {
                it.rule(unknowing(engine, revision), number, &line, mode).1
            })
        });
        answer(reply, Ok(verdict.unwrap_or_default()));
    }

    /// Judges a line of a session whose log cannot be written.
    fn judge_apart(&mut self, session: &Arc<str>, pending: Pending, away: Option<Unavailable>) {
        let Pending { observation, line, reply, .. } = pending;
        // A line that is held back and was not written does not count.
        let is_held = reply.is_some() && observation.from() == Side::Client;
        if !(is_held && away == Some(Unavailable::Paused)) {
            self.follower.note_incomplete(session);
        }
        if reply.is_some() {
            self.with_journal(|journal| {
                journal.record_unjudged(SessionHistory::Missing, &line, &observation);
            });
            return answer(reply, Err(StoreUnavailable));
        }
        let (engine, revision) = (&self.engine, self.revision);
        let mode = Mode::Observe;
        with(&self.journal, |journal| {
            journal.take_in(
                SessionHistory::Missing,
                &line,
                Some(&observation),
                mode,
                |it, number| it.rule(unknowing(engine, revision), number, &line, mode).1,
            )
        });
    }

    /// Judges a line without a session, or not yet with one.
    fn judge_alone(&mut self, pending: Pending) {
        let Pending { observation, line, reply, opens } = pending;
        let mode = self.mode_for(&observation, reply.is_some());
        if let Some(exchange) = observation.exchange().filter(|_| opens) {
            let mut local = self.follower.unknowing();
            let mut place = 0;
            let verdict = with(&self.journal, |journal| {
                journal.take_in(
                    SessionHistory::Own,
                    &line,
                    Some(&observation),
                    mode,
                    |it, recorded| {
                        place = recorded;
                        local.judge((1, recorded), line.len(), |observer, number| {
                            it.rule(observer, number, &line, mode)
                        })
                    },
                )
            });
            self.openings.insert(exchange, Opening { line, recorded: place, local });
            return answer(reply, Ok(verdict.unwrap_or_default()));
        }
        let opening = observation.exchange().and_then(|exchange| self.openings.take(exchange));
        let verdict = with(&self.journal, |journal| {
            // It opened no session, so it belongs with the lines without one.
            if let Some(opening) = opening {
                journal.follow(opening.recorded, &opening.line);
            }
            journal.take(&line, Some(&observation), mode)
        });
        answer(reply, Ok(verdict.unwrap_or_default()));
    }

    fn mode_for(&self, observation: &Observation, is_held: bool) -> Mode {
        let held = || with(&self.journal, |journal| journal.mode(observation));
        is_held.then(held).flatten().unwrap_or(Mode::Observe)
    }

    fn with_journal(&self, run: impl FnOnce(&mut Journal)) {
        with(&self.journal, run);
    }
}

fn with<R>(
    journal: &Mutex<Option<Box<Journal>>>,
    run: impl FnOnce(&mut Journal) -> R,
) -> Option<R> {
    journal.lock().unwrap_or_else(PoisonError::into_inner).as_deref_mut().map(run)
}

/// Sends a verdict; it does not matter if the receiver is gone.
fn answer(reply: Option<oneshot::Sender<Judgement>>, judgement: Judgement) {
    if let Some(reply) = reply {
        let _ = reply.send(judgement);
    }
}

#[expect(clippy::disallowed_methods, reason = "tells how long a line has waited")]
fn now() -> SystemTime {
    SystemTime::now()
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("follower", &self.follower).finish_non_exhaustive()
    }
}
