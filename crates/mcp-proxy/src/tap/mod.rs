//! The tap sees all traffic of a proxy: it numbers, records and judges it, and notifies watchers.

mod journal;
mod observation;
mod open_requests;
mod preparer;
mod queue;
mod sent_headers;
mod shared;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::SystemTime,
};

use mcp_core::{Refusal, Revision, SessionStore, Side};
use mcp_rules::{Engine, Finding, Identity, Limits};
use tokio::sync::oneshot;

pub use self::{observation::Observation, open_requests::OpenRequests};
pub(crate) use self::{
    observation::{Event, Part, is_initialize},
    preparer::Preparer,
    sent_headers::SentHeaders,
};

use self::{journal::Journal, queue::Queue, shared::Worker};
use crate::{Policy, Recorder, Verdict};

/// An event reported to [`Watcher`]s: a line that passed the proxy or was held back, with its
/// findings.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TapEvent<'a> {
    /// Its number, from 1: the line of the recording, and the `line` of findings.
    pub number: u64,
    /// The line of the recording, without the line break. Empty for what is only known at the end.
    pub line: &'a [u8],
    /// The observation; `None` for lost ones, and for findings that are only known at the end.
    pub observation: Option<&'a Observation>,
    /// Number of observations lost here, because the proxy had fallen behind.
    pub lost: u64,
    /// Whether it was judged. If not, the proxy had fallen behind, or the session store was
    /// unavailable.
    pub judged: bool,
    /// The session history that it was judged against.
    pub history: SessionHistory,
    /// The message in it, or each entry of a batch.
    pub messages: &'a [Identity],
    /// The findings, which may also be about earlier lines.
    pub findings: &'a [&'a Finding],
    /// Why it, or parts of it, were held back; empty if it passed.
    pub refusals: &'a [Refusal],
    /// Whether part of it was forwarded nevertheless: the rest of a batch or of a list of tools.
    pub passes_in_part: bool,
}

/// The session history that a line is judged against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionHistory {
    /// Everything that this process has observed.
    Own,
    /// Everything that all replicas have observed of the session.
    Shared,
    /// None, since the session store is unavailable.
    Missing,
}

/// There is no verdict, because the session store is unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreUnavailable;

/// The verdict on an observation, if there can be one.
pub(crate) type Judgement = Result<Verdict, StoreUnavailable>;

/// Receives every event, in order. Must not block.
pub type Watcher = Box<dyn FnMut(&TapEvent<'_>) + Send>;

/// Settings of a [`Tap`].
#[derive(Default)]
#[expect(clippy::exhaustive_structs, reason = "callers set what they need")]
pub struct TapSettings {
    /// Decides which findings hold back a message.
    pub policy: Policy,
    /// The revision to check against, regardless of what the peers negotiate.
    pub revision: Option<Revision>,
    /// Where to record the traffic.
    pub recorder: Option<Recorder>,
    /// Called for every event.
    pub watchers: Vec<Watcher>,
    /// Maximum bytes of traffic queued for judging; 0 means 64 MiB. Beyond three quarters of it,
    /// traffic is recorded unjudged; beyond all of it, traffic is not recorded, only counted.
    /// Traffic itself never waits.
    pub backlog: usize,
    /// The store for session state shared by replicas, over HTTP.
    pub store: Option<Box<dyn SessionStore>>,
}

impl fmt::Debug for TapSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapSettings").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Totals of a tap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Lines of the recording.
    pub lines: u64,
    /// Messages in them, as far as they were judged.
    pub messages: u64,
    /// Findings that are errors, by the side at fault: `Side as usize`.
    pub errors: [u64; 2],
    /// Findings that are warnings, likewise.
    pub warnings: [u64; 2],
    /// Lines that were held back.
    pub rejected: u64,
    /// Lines that were recorded but not judged.
    pub unjudged: u64,
    /// Lines judged without session history, or not at all, because the session store was
    /// unavailable.
    pub apart: u64,
    /// Observations that were neither recorded nor judged.
    pub lost: u64,
    /// Whether recording has failed.
    pub record_failed: bool,
}

impl Counts {
    /// The sum of both totals.
    #[must_use]
    pub fn and(self, other: Counts) -> Counts {
        let both = |left: [u64; 2], right: [u64; 2]| [left[0] + right[0], left[1] + right[1]];
        Counts {
            lines: self.lines + other.lines,
            messages: self.messages + other.messages,
            errors: both(self.errors, other.errors),
            warnings: both(self.warnings, other.warnings),
            rejected: self.rejected + other.rejected,
            unjudged: self.unjudged + other.unjudged,
            apart: self.apart + other.apart,
            lost: self.lost + other.lost,
            record_failed: self.record_failed || other.record_failed,
        }
    }
}

const DEFAULT_BACKLOG: usize = 64 << 20;

/// Observes the traffic of a proxy, and judges it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tap {
    inner: Arc<Inner>,
    /// The name of the server whose traffic it sees, if there are several.
    upstream: Option<Arc<str>>,
    /// The name of the conversation it sees, if there are several.
    session: Option<Arc<str>>,
}

#[derive(Debug)]
struct Inner {
    policy: Policy,
    limits: Limits,
    way: Way,
}

/// The rules to judge by, and the policy on findings.
#[derive(Debug)]
struct Rules {
    engine: Arc<Engine>,
    policy: Policy,
}

/// Where judging happens: inline, while the sender waits, or on a worker thread.
#[derive(Debug)]
enum Way {
    Inline(Mutex<Option<Box<Journal>>>),
    Aside { queue: Arc<Queue>, worker: Mutex<Option<JoinHandle<Counts>>> },
    Shared(SharedWay),
}

/// With a session store: a worker judges what belongs to sessions, and under enforcement everything
/// else is judged inline.
#[derive(Debug)]
struct SharedWay {
    journal: Arc<Mutex<Option<Box<Journal>>>>,
    queue: Arc<Queue>,
    worker: Mutex<Option<JoinHandle<()>>>,
    enforces: bool,
}

impl SharedWay {
    fn new(
        engine: Arc<Engine>,
        (enforces, revision): (bool, Option<Revision>),
        journal: Journal,
        (store, backlog): (Box<dyn SessionStore>, usize),
    ) -> SharedWay {
        let journal = Arc::new(Mutex::new(Some(Box::new(journal))));
        let queue = Arc::new(Queue::new(backlog));
        let how = (enforces, revision);
        let worker = Worker::new(Arc::clone(&journal), engine, how, store);
        let items = Arc::clone(&queue);
        let worker = std::thread::spawn(move || worker.run(&items));
        SharedWay { journal, queue, worker: Mutex::new(Some(worker)), enforces }
    }

    fn observe(&self, observation: Observation) {
        if !self.enforces || observation.is_shared() {
            self.queue.push(observation);
        } else if let Some(journal) = &mut *lock(&self.journal) {
            journal.observe(&observation);
        }
    }

    fn judge_own(&self, observation: &Observation) -> Verdict {
        lock(&self.journal).as_mut().map(|journal| journal.judge(observation)).unwrap_or_default()
    }

    async fn judge(&self, observation: Observation) -> Judgement {
        if !self.enforces {
            self.queue.push(observation);
            return Ok(Verdict::default());
        }
        if !observation.is_shared() {
            return Ok(self.judge_own(&observation));
        }
        let (reply, verdict) = oneshot::channel();
        self.queue.push_held(observation, reply);
        // If the worker is gone, there is no verdict.
        verdict.await.unwrap_or(Err(StoreUnavailable))
    }

    fn finish(&self) -> Counts {
        self.queue.close();
        if let Some(worker) = lock(&self.worker).take() {
            // A panicking watcher ends the worker, not the traffic.
            let _ = worker.join();
        }
        let journal = lock(&self.journal).take();
        journal.map(|journal| journal.finish()).unwrap_or_default()
    }
}

impl Tap {
    /// A tap that judges with `engine`.
    pub fn new(engine: Arc<Engine>, settings: TapSettings) -> Tap {
        let TapSettings { policy, revision, recorder, watchers, backlog, store } = settings;
        let backlog = if backlog == 0 { DEFAULT_BACKLOG } else { backlog };
        let limits = engine.settings().limits;
        let judging = Arc::clone(&engine);
        let rules = Rules { engine: judging, policy: policy.clone() };
        let journal = Journal::new(rules, revision, recorder, watchers);
        let way = if let Some(store) = store {
            let how = (policy.enforces(), revision);
            Way::Shared(SharedWay::new(engine, how, journal, (store, backlog)))
        } else if policy.enforces() {
            Way::Inline(Mutex::new(Some(Box::new(journal))))
        } else {
            let queue = Arc::new(Queue::new(backlog));
            let worker = Arc::clone(&queue);
            let worker = std::thread::spawn(move || journal.run(&worker));
            Way::Aside { queue, worker: Mutex::new(Some(worker)) }
        };
        Tap { inner: Arc::new(Inner { policy, limits, way }), upstream: None, session: None }
    }

    /// The same tap, for the traffic of the server with this name, which watchers see.
    #[must_use]
    pub fn for_upstream(&self, name: Arc<str>) -> Tap {
        Tap { inner: Arc::clone(&self.inner), upstream: Some(name), session: self.session.clone() }
    }

    /// The same tap, for one of several conversations: the recording uses this name for
    /// observations without one.
    #[must_use]
    pub fn for_session(&self, name: Arc<str>) -> Tap {
        Tap { session: Some(name), ..self.clone() }
    }

    /// Whether messages of `from` have to wait for [`Tap::judge`].
    pub fn enforces_on(&self, from: Side) -> bool {
        self.inner.policy.enforces_on(from)
    }

    /// Continues with other rules, also in open conversations. The sides under enforcement and the
    /// limits of the first engine do not change.
    pub fn reload(&self, engine: Arc<Engine>, policy: Policy) {
        let policy = Side::BOTH
            .into_iter()
            .fold(policy, |policy, side| policy.enforcing(side, self.enforces_on(side)));
        match &self.inner.way {
            Way::Aside { queue, .. } => queue.change_rules(Rules { engine, policy }),
            Way::Inline(journal) => change_rules(&mut lock(journal), Rules { engine, policy }),
            Way::Shared(shared) => {
                change_rules(&mut lock(&shared.journal), Rules { engine, policy });
            }
        }
    }

    /// Whether anything waits to be judged.
    pub fn is_behind(&self) -> bool {
        match &self.inner.way {
            Way::Inline(_) => false,
            Way::Aside { queue, .. } => !queue.is_empty(),
            Way::Shared(SharedWay { queue, .. }) => !queue.is_at_rest(),
        }
    }

    /// Whether it shares session state with other replicas.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.inner.way, Way::Shared(_))
    }

    /// Takes an observation that has passed. Does not wait for it to be judged, unless the tap
    /// enforces.
    pub fn observe(&self, observation: Observation) {
        let observation = self.stamped(observation);
        match &self.inner.way {
            Way::Aside { queue, .. } => queue.push(observation),
            Way::Shared(shared) => shared.observe(observation),
            Way::Inline(journal) => {
                if let Some(journal) = &mut *lock(journal) {
                    journal.observe(&observation);
                }
            }
        }
    }

    /// Counts an observation that could not be kept, so that there is nothing to judge.
    pub(crate) fn lose(&self, observation: &Observation) {
        let note = |journal: &mut Option<Box<Journal>>| {
            if let Some(journal) = journal {
                journal.note_lost(1);
                journal.flush();
            }
        };
        match &self.inner.way {
            Way::Aside { queue, .. } => queue.lose(observation),
            Way::Inline(journal) => note(&mut lock(journal)),
            Way::Shared(shared) if !shared.enforces || observation.is_shared() => {
                shared.queue.lose(observation);
            }
            Way::Shared(shared) => note(&mut lock(&shared.journal)),
        }
    }

    /// Records, without judging it, an observation that passed while the session store was
    /// unavailable.
    pub(crate) fn record(&self, observation: Observation) {
        let observation = self.stamped(observation);
        match &self.inner.way {
            Way::Aside { queue, .. } => queue.push(observation),
            Way::Inline(journal) => record(&mut lock(journal), &observation),
            Way::Shared(shared) => record(&mut lock(&shared.journal), &observation),
        }
    }

    /// Judges an observation over HTTP before it passes; the verdict may have to wait for other
    /// replicas.
    pub(crate) async fn judge_shared(&self, observation: Observation) -> Judgement {
        match &self.inner.way {
            Way::Shared(shared) => shared.judge(self.stamped(observation)).await,
            Way::Inline(_) | Way::Aside { .. } => Ok(self.judge(observation)),
        }
    }

    /// Judges an observation before it passes.
    pub fn judge(&self, observation: Observation) -> Verdict {
        let observation = self.stamped(observation);
        match &self.inner.way {
            Way::Aside { queue, .. } => {
                queue.push(observation);
                Verdict::default()
            }
            Way::Shared(shared) if shared.enforces => shared.judge_own(&observation),
            Way::Shared(shared) => {
                shared.observe(observation);
                Verdict::default()
            }
            Way::Inline(journal) => match &mut *lock(journal) {
                Some(journal) => journal.judge(&observation),
                None => Verdict::default(),
            },
        }
    }

    /// What [`Tap::judge_run`] needs; each direction of a stream has its own.
    pub(crate) fn preparer(&self) -> Preparer {
        Preparer::new(&self.inner.limits)
    }

    /// Judges messages that arrived together and are about to pass in this order, until one may not.
    /// Returns how many may pass, and the verdict on the one that may not. Both directions of a stream
    /// share one journal: if they locked it for each line, they would wake each other for each line.
    pub(crate) fn judge_run(
        &self,
        preparer: &mut Preparer,
        run: impl Iterator<Item = Observation>,
    ) -> (usize, Option<Verdict>) {
        let Way::Inline(journal) = &self.inner.way else {
            return until_refused(run, |observation| self.judge(observation));
        };
        let at = now();
        let run: Vec<Observation> = run.map(|each| self.stamped_at(each, at)).collect();
        preparer.prepare(&run, |prepared| match &mut *lock(journal) {
            Some(journal) => {
                let judged = until_refused(prepared, |next| journal.judge_next(next));
                journal.flush();
                judged
            }
            None => (run.len(), None),
        })
    }

    fn stamped(&self, observation: Observation) -> Observation {
        self.stamped_at(observation, now())
    }

    fn stamped_at(&self, mut observation: Observation, at: SystemTime) -> Observation {
        observation.at = at;
        observation.upstream.clone_from(&self.upstream);
        if observation.session.is_none() {
            observation.session.clone_from(&self.session);
        }
        observation
    }

    /// Ends the recording: judges everything that is queued, and reports findings that are only
    /// known at the end. Later observations are ignored.
    pub fn finish(&self) -> Counts {
        match &self.inner.way {
            Way::Shared(shared) => shared.finish(),
            Way::Inline(journal) => {
                let journal = lock(journal).take();
                journal.map(|journal| journal.finish()).unwrap_or_default()
            }
            Way::Aside { queue, worker } => {
                queue.close();
                let worker = lock(worker).take();
                // A panicking watcher ends the journal, not the traffic.
                worker.and_then(|worker| worker.join().ok()).unwrap_or_default()
            }
        }
    }
}

/// How many of a run pass before one does not, and the verdict on the latter.
fn until_refused<T>(
    run: impl Iterator<Item = T>,
    mut judge: impl FnMut(T) -> Verdict,
) -> (usize, Option<Verdict>) {
    let mut passed = 0;
    for next in run {
        let verdict = judge(next);
        if !verdict.passes() {
            return (passed, Some(verdict));
        }
        passed += 1;
    }
    (passed, None)
}

fn change_rules(journal: &mut Option<Box<Journal>>, rules: Rules) {
    if let Some(journal) = journal {
        journal.change_rules(rules);
    }
}

fn record(journal: &mut Option<Box<Journal>>, observation: &Observation) {
    if let Some(journal) = journal {
        journal.record_only(observation);
    }
}

#[expect(clippy::disallowed_methods, reason = "recordings say when something passed")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
