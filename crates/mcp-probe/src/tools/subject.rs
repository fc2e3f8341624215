use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use mcp_core::Revision;
use mcp_rules::behaviour;
use serde_json::Value;

use super::{Listed, Plan};
use crate::{Conversation, Seed, Settings, Stage, Stop, discover::all_pages};

/// A tool that may be called, with what earlier probes have shown.
#[derive(Debug)]
pub(super) struct Subject {
    listed: Listed,
    seed: Seed,
    samples: Vec<Value>,
    share: usize,
    silence: Arc<Silence>,
    known: Mutex<Known>,
}

/// Unanswered calls of all tools.
#[derive(Debug, Default)]
pub(super) struct Silence {
    tools: AtomicUsize,
    wedged: AtomicUsize,
}

/// Maximum number of calls after which the server stopped answering.
const WEDGED: usize = 4;

#[derive(Debug, Default)]
struct Known {
    plans: BTreeMap<Revision, Arc<Plan>>,
    /// The revisions at which a call of it was answered.
    answered: BTreeSet<Revision>,
    /// The revisions at which a call took too long.
    slow: BTreeSet<Revision>,
    /// The revisions at which all calls of a probe together took too long.
    long: BTreeSet<Revision>,
}

impl Subject {
    pub(super) fn new(
        listed: Listed,
        settings: &Settings,
        share: usize,
        silence: &Arc<Silence>,
    ) -> Subject {
        let samples = settings.arguments.get(&listed.name).cloned().unwrap_or_default();
        let (seed, silence) = (settings.seed, Arc::clone(silence));
        Subject { listed, seed, samples, share, silence, known: Mutex::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.listed.name
    }

    pub(super) fn listed(&self) -> &Listed {
        &self.listed
    }

    /// The plan at a revision; `None` if it is not listed there.
    pub(super) fn plan(&self, revision: Revision) -> Option<Arc<Plan>> {
        let tool = self.listed.at(revision)?;
        let plan = || {
            let random = self.seed.stream(&format!("tools/{}", self.name()));
            Arc::new(Plan::of(tool, revision, &self.samples, random, self.share))
        };
        Some(Arc::clone(self.known().plans.entry(revision).or_insert_with(plan)))
    }

    pub(super) fn newest_plan(&self) -> Option<Arc<Plan>> {
        self.plan(self.listed.newest()?.0)
    }

    /// The plan for the revision of a stage, and a conversation in which the tool was listed, so
    /// that the rules know its schemas.
    ///
    /// # Errors
    ///
    /// If there are no arguments to call it with, or it is too slow.
    pub(super) async fn on(&self, stage: &mut Stage) -> Result<(Arc<Plan>, Conversation), Stop> {
        let skip = |reason: &str| Err(Stop::Skip(reason.to_owned()));
        let Some(plan) = self.plan(stage.revision()) else { return skip("it is not listed") };
        if let Some(lost) = &plan.lost_reference {
            let talk = stage.shared().await?;
            let (name, line) = (self.name(), talk.recording().len() as u64);
            let message = format!("the input schema of `{name}` cannot be used: {lost}");
            let help = "include the definition in the schema, under `$defs`";
            stage.fail(&behaviour::TOOL_SCHEMA_UNRESOLVABLE, &talk, line, message, help);
        }
        if plan.is_task {
            return skip("it can only be run as a task");
        }
        if plan.values.is_none() {
            return skip("its input schema cannot be used");
        }
        if plan.base.is_none() {
            return skip("no arguments could be generated for its input schema");
        }
        if self.silence.wedged.load(Ordering::Relaxed) >= WEDGED {
            return skip("too many calls made the server stop answering");
        }
        if self.is_slow(stage.revision()) {
            return skip("its calls take too long");
        }
        let talk = stage.shared().await?;
        if talk.is_first_visit("tools/list") {
            all_pages(&talk, "tools/list", "tools").await?;
        }
        Ok((plan, talk))
    }

    /// Whether a call of it was ever answered at a revision.
    pub(super) fn has_answered(&self, revision: Revision) -> bool {
        self.known().answered.contains(&revision)
    }

    pub(super) fn note_answer(&self, revision: Revision) {
        self.known().answered.insert(revision);
    }

    /// Whether a call of it took too long at a revision.
    pub(super) fn is_slow(&self, revision: Revision) -> bool {
        self.known().slow.contains(&revision)
    }

    /// The number of tools that never answered, counted once per revision.
    pub(super) fn silent_tools(&self) -> usize {
        self.silence.tools.load(Ordering::Relaxed)
    }

    /// Whether its calls took long at another revision.
    pub(super) fn takes_long_elsewhere(&self, revision: Revision) -> bool {
        self.known().long.iter().any(|other| *other != revision)
    }

    /// Notes that its calls take long.
    pub(super) fn note_long(&self, revision: Revision) {
        self.known().long.insert(revision);
    }

    /// Notes that a call took too long, so that there are no more.
    pub(super) fn note_slow(&self, revision: Revision, has_answered: bool) {
        self.known().slow.insert(revision);
        self.silence.tools.fetch_add(usize::from(!has_answered), Ordering::Relaxed);
    }

    /// Notes that the server stopped answering after a call.
    pub(super) fn note_wedged(&self) {
        self.silence.wedged.fetch_add(1, Ordering::Relaxed);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
