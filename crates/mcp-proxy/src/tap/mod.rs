//! The place that all traffic passes by: numbers it, records it and has it judged.

mod journal;
mod observation;
mod queue;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::SystemTime,
};

use mcp_core::{Refusal, Revision, Side};
use mcp_rules::{Engine, Finding, Identity};

pub use self::observation::Observation;
pub(crate) use self::observation::{Event, Part};

use self::{journal::Journal, queue::Queue};
use crate::{Policy, Recorder};

/// What has passed the proxy, or was held back by it, as [`Watcher`]s see it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Passage<'a> {
    /// Its number, from 1: the line of the recording, and the `line` of findings.
    pub number: u64,
    /// The line of the recording, without the line break. Empty for what is only known at the end.
    pub line: &'a [u8],
    /// What was observed; `None` for lost observations, and for what is only known at the end.
    pub observation: Option<&'a Observation>,
    /// How many observations were lost here, because the proxy had fallen behind.
    pub lost: u64,
    /// Whether it was judged. If not, the proxy had fallen behind.
    pub judged: bool,
    /// The message in it, or each entry of a batch.
    pub messages: &'a [Identity],
    /// What was found, which may be about earlier passages too.
    pub findings: &'a [&'a Finding],
    /// Why it was held back; empty if it has passed.
    pub refusals: &'a [Refusal],
}

/// Sees every passage, in order. Must not block.
pub type Watcher = Box<dyn FnMut(&Passage<'_>) + Send>;

/// How a [`Tap`] works.
#[derive(Default)]
#[expect(clippy::exhaustive_structs, reason = "callers set what they need")]
pub struct TapSettings {
    /// Which findings keep a message from passing.
    pub policy: Policy,
    /// The revision to judge by, whatever the peers say.
    pub revision: Option<Revision>,
    /// Where to record the traffic.
    pub recorder: Option<Recorder>,
    /// Who sees it.
    pub watchers: Vec<Watcher>,
    /// How many bytes of traffic may wait to be judged; 0 means 64 MiB. Beyond three quarters it is
    /// recorded unjudged, beyond that it is lost and counted. Traffic itself never waits.
    pub backlog: usize,
}

impl fmt::Debug for TapSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapSettings").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// What a tap has seen.
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
    /// Observations that were neither recorded nor judged.
    pub lost: u64,
    /// Whether recording has failed.
    pub record_failed: bool,
}

impl Counts {
    /// What two taps have seen together.
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
            lost: self.lost + other.lost,
            record_failed: self.record_failed || other.record_failed,
        }
    }
}

const DEFAULT_BACKLOG: usize = 64 << 20;

/// Everything that passes is shown to it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tap {
    inner: Arc<Inner>,
    /// The server whose traffic is shown to it, if there are several.
    upstream: Option<Arc<str>>,
}

#[derive(Debug)]
struct Inner {
    policy: Policy,
    way: Way,
}

/// Who judges: whoever sends waits for the verdict, or nobody does.
#[derive(Debug)]
enum Way {
    Inline(Mutex<Option<Box<Journal>>>),
    Aside { queue: Arc<Queue>, worker: Mutex<Option<JoinHandle<Counts>>> },
}

impl Tap {
    /// Begins a recording, to be judged with `engine`.
    pub fn new(engine: Arc<Engine>, settings: TapSettings) -> Tap {
        let TapSettings { policy, revision, recorder, watchers, backlog } = settings;
        let backlog = if backlog == 0 { DEFAULT_BACKLOG } else { backlog };
        let journal = Journal::new(engine, policy.clone(), revision, recorder, watchers);
        let way = if policy.enforces() {
            Way::Inline(Mutex::new(Some(Box::new(journal))))
        } else {
            let queue = Arc::new(Queue::new(backlog));
            let worker = Arc::clone(&queue);
            let worker = std::thread::spawn(move || journal.run(&worker));
            Way::Aside { queue, worker: Mutex::new(Some(worker)) }
        };
        Tap { inner: Arc::new(Inner { policy, way }), upstream: None }
    }

    /// The same tap, for the traffic of the server with this name: watchers are told.
    #[must_use]
    pub fn for_upstream(&self, name: Arc<str>) -> Tap {
        Tap { inner: Arc::clone(&self.inner), upstream: Some(name) }
    }

    /// Whether messages of `from` have to wait for [`Tap::judge`].
    pub fn enforces_on(&self, from: Side) -> bool {
        self.inner.policy.enforces_on(from)
    }

    /// Whether anything waits to be judged.
    pub fn is_behind(&self) -> bool {
        match &self.inner.way {
            Way::Inline(_) => false,
            Way::Aside { queue, .. } => !queue.is_empty(),
        }
    }

    /// Shows what has passed. Does not wait for it to be judged, unless the tap enforces.
    pub fn observe(&self, observation: Observation) {
        let observation = self.stamped(observation);
        match &self.inner.way {
            Way::Aside { queue, .. } => queue.push(observation),
            Way::Inline(journal) => {
                if let Some(journal) = &mut *lock(journal) {
                    journal.observe(&observation);
                }
            }
        }
    }

    /// Shows what is about to pass. Returns why it must not, or nothing.
    pub fn judge(&self, observation: Observation) -> Vec<Refusal> {
        let observation = self.stamped(observation);
        match &self.inner.way {
            Way::Aside { queue, .. } => {
                queue.push(observation);
                Vec::new()
            }
            Way::Inline(journal) => match &mut *lock(journal) {
                Some(journal) => journal.judge(&observation),
                None => Vec::new(),
            },
        }
    }

    #[expect(clippy::disallowed_methods, reason = "recordings say when something passed")]
    fn stamped(&self, mut observation: Observation) -> Observation {
        observation.at = SystemTime::now();
        observation.upstream.clone_from(&self.upstream);
        observation
    }

    /// Ends the recording: everything is judged, and what is only known at the end is reported.
    /// Later observations are ignored.
    pub fn finish(&self) -> Counts {
        match &self.inner.way {
            Way::Inline(journal) => {
                let journal = lock(journal).take();
                journal.map(|journal| journal.finish()).unwrap_or_default()
            }
            Way::Aside { queue, worker } => {
                queue.close();
                let worker = lock(worker).take();
                // A watcher that panics takes its journal with it, not the traffic.
                worker.and_then(|worker| worker.join().ok()).unwrap_or_default()
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
