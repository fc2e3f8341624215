use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_core::Revision;
use serde_json::Value;

use super::{Listed, Plan};
use crate::{Conversation, Seed, Settings, Stage, Stop, discover::all_pages};

/// A tool that may be called, with what is known about it so far.
#[derive(Debug)]
pub(super) struct Subject {
    listed: Listed,
    seed: Seed,
    samples: Vec<Value>,
    share: usize,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    plans: BTreeMap<Revision, Arc<Plan>>,
    /// The revisions at which a call of it was answered.
    answered: BTreeSet<Revision>,
    /// Those at which a call took too long.
    slow: BTreeSet<Revision>,
}

impl Subject {
    pub(super) fn new(listed: Listed, settings: &Settings, share: usize) -> Subject {
        let samples = settings.arguments.get(&listed.name).cloned().unwrap_or_default();
        Subject { listed, seed: settings.seed, samples, share, known: Mutex::default() }
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

    /// The plan for a stage, and a conversation in which the tool was listed, so that the rules
    /// know its schemas.
    ///
    /// # Errors
    ///
    /// If there is nothing to call it with, or it is too slow.
    pub(super) async fn on(&self, stage: &mut Stage) -> Result<(Arc<Plan>, Conversation), Stop> {
        let skip = |reason: &str| Err(Stop::Skip(reason.to_owned()));
        let Some(plan) = self.plan(stage.revision()) else { return skip("it is not listed") };
        if plan.values.is_none() {
            return skip("its input schema cannot be used");
        }
        if plan.base.is_none() {
            return skip("no arguments could be made for its input schema");
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

    /// Notes that a call took too long, so that there are no more.
    pub(super) fn note_slow(&self, revision: Revision) {
        self.known().slow.insert(revision);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
