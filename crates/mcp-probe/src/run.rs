//! A run: discovery, then every phase, probe by probe.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use futures_util::future::join_all;
use mcp_core::{Era, Revision};
use mcp_rules::Engine;
use tokio::time::{Instant, timeout_at};

use crate::{
    Conversation, Event, Found, Needs, Outcome, Phase, Probe, ProbeResult, Report, Reporter,
    Settings, Stage, Stop, Target, Trouble,
    discover::{self, Discovered},
    protocol,
    settings::unknown,
    stage::Scene,
    stateful, tools,
};

/// How long one probe may take.
const PROBE_LIMIT: Duration = Duration::from_secs(60);
/// How long what it has opened may take to end, when the time is up too.
const ENDING_LIMIT: Duration = Duration::from_secs(5);

/// A test that is about to run.
#[derive(Debug)]
pub struct Run {
    scene: Arc<Scene>,
}

/// Why a server could not be tested at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It cannot be started or reached.
    #[error("the server cannot be reached: {reason}")]
    Unreachable {
        /// Why.
        reason: String,
        /// What it said on standard error.
        stderr: String,
    },
    /// It speaks none of the revisions.
    #[error("the server opens no conversation: {reason}")]
    NoRevision {
        /// What it said to the newest that it was asked for.
        reason: String,
        /// What it said on standard error.
        stderr: String,
    },
    /// It does not tell all that it offers.
    #[error("the server does not tell all that it offers at {revision}: {reason}")]
    Incomplete {
        /// At which revision.
        revision: Revision,
        /// What it did instead.
        reason: String,
    },
}

impl Run {
    /// A test of `target`, judged by `engine`.
    pub fn new(target: Target, engine: Arc<Engine>, settings: Settings) -> Run {
        let scene = Scene {
            target,
            engine,
            settings,
            recordings: Mutex::default(),
            calls: AtomicU64::new(0),
            endless: Mutex::default(),
            processes: Arc::default(),
            stays: AtomicBool::new(false),
        };
        Run { scene: Arc::new(scene) }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// If the server cannot be tested at all.
    pub async fn run(self, reporter: &mut dyn Reporter) -> Result<Report, RunError> {
        let deadline = Instant::now() + self.scene.settings.limits.time;
        let discovered = discover::discover(&self.scene, deadline).await;
        // What is wrong with a challenge does not make a test of a server that was never opened.
        let wants_credentials = discovered.wants_credentials();
        let is_judged = discovered.failed.iter().any(|(_, talk)| {
            let recording = talk.recording();
            if wants_credentials { recording.has_errors() } else { recording.has_findings() }
        });
        if discovered.found.offers.is_empty() && !is_judged {
            return Err(refusal(discovered));
        }
        reporter.event(&Event::Discovered(&discovered.found));
        let mut course = Course {
            found: Arc::new(discovered.found),
            shared: discovered.conversations.into_iter().collect(),
            clean: BTreeMap::new(),
            results: Vec::new(),
            restarts: 0,
            out_of_time: false,
            names: [protocol::discovery(), protocol::locked(), protocol::ending()]
                .map(|probe| probe.name.into_owned())
                .into(),
            deadline,
            scene: self.scene,
        };
        course.report_discovery(&discovered.troubles, reporter);
        course.report_failed(discovered.failed, reporter);
        course.compare_with_lock(reporter);
        for phase in Phase::ALL {
            course.phase(phase, reporter).await;
        }
        Ok(course.finish(reporter).await)
    }

    /// Finds out what the server offers, all of it, and does nothing else.
    ///
    /// # Errors
    ///
    /// If it cannot be reached, or does not tell.
    pub async fn look(self) -> Result<Found, RunError> {
        let discovered = self.discover().await?;
        for (_, conversation) in &discovered.conversations {
            conversation.close_soon().await;
        }
        if let Some((revision, trouble)) = discovered.troubles.into_iter().next() {
            return Err(RunError::Incomplete { revision, reason: trouble.to_string() });
        }
        let most = self.scene.settings.limits.pages;
        for (revision, offer) in &discovered.found.offers {
            if let Some((method, _)) = offer.pages.iter().find(|(_, pages)| **pages >= most) {
                let reason = format!("`{method}` has no end after {most} pages");
                return Err(RunError::Incomplete { revision: *revision, reason });
            }
        }
        Ok(discovered.found)
    }

    async fn discover(&self) -> Result<Discovered, RunError> {
        let deadline = Instant::now() + self.scene.settings.limits.time;
        let discovered = discover::discover(&self.scene, deadline).await;
        if !discovered.found.offers.is_empty() {
            return Ok(discovered);
        }
        Err(refusal(discovered))
    }
}

/// Why a server that opens no conversation cannot be tested.
fn refusal(discovered: Discovered) -> RunError {
    // What most servers speak was tried first, and longest.
    let refused = &discovered.found.refused;
    let first = refused.get(&Revision::LATEST_LEGACY);
    let reason = first.or(refused.values().next_back()).cloned().unwrap_or_default();
    let stderr = discovered.stderr;
    if discovered.reached {
        RunError::NoRevision { reason, stderr }
    } else {
        // Both say it.
        let reason = reason.trim_start_matches("the server cannot be reached: ").to_owned();
        RunError::Unreachable { reason, stderr }
    }
}

/// A run on its way.
struct Course {
    scene: Arc<Scene>,
    found: Arc<Found>,
    shared: BTreeMap<Revision, Conversation>,
    /// What probes have left as it should be, for those that need not be alone.
    clean: BTreeMap<Revision, Conversation>,
    results: Vec<ProbeResult>,
    restarts: usize,
    out_of_time: bool,
    /// The names of all probes, those that were not chosen included.
    names: Vec<String>,
    deadline: Instant,
}

impl Course {
    /// What was wrong while the server said what it offers.
    fn report_discovery(&mut self, troubles: &[(Revision, Trouble)], reporter: &mut dyn Reporter) {
        let probe = protocol::discovery();
        for (revision, conversation) in self.shared.clone() {
            let mut stage = self.stage(&probe, revision);
            for (_, trouble) in troubles.iter().filter(|(at, _)| *at == revision) {
                stage.fail_for(&conversation, trouble);
            }
            stage.take_findings(&conversation);
            self.note(&probe, revision, stage, Outcome::Passed, reporter);
        }
    }

    /// What was wrong with what the server said instead of opening a conversation. That it did not
    /// is no fault: it may not speak the revision.
    fn report_failed(
        &mut self,
        failed: Vec<(Revision, Conversation)>,
        reporter: &mut dyn Reporter,
    ) {
        let probe = protocol::discovery();
        for (revision, conversation) in failed {
            let mut stage = Stage::new(&self.scene, &self.found, revision, &probe.name, None);
            stage.take_findings(&conversation);
            if stage.has_failures() {
                self.note(&probe, revision, stage, Outcome::Passed, reporter);
            }
        }
    }

    /// What is not offered as it was locked.
    fn compare_with_lock(&mut self, reporter: &mut dyn Reporter) {
        let probe = protocol::locked();
        let Some(lock) = self.scene.settings.lock.clone() else { return };
        if !self.scene.settings.chooses(probe.phase, &probe.name) {
            return;
        }
        let drifts = self.found.drifts_from(&lock);
        let mut is_first = true;
        for (revision, conversation) in self.shared.clone() {
            let mut stage = self.stage(&probe, revision);
            // A revision that is gone has no conversation of its own.
            let here = drifts.iter().filter(|drift| {
                drift.revision == revision
                    || (is_first && self.found.refused.contains_key(&drift.revision))
            });
            stage.fail_for_drifts(&conversation, here);
            is_first = false;
            self.note(&probe, revision, stage, Outcome::Passed, reporter);
        }
    }

    async fn phase(&mut self, phase: Phase, reporter: &mut dyn Reporter) {
        let settings = &self.scene.settings;
        let probes: Vec<Probe> = match phase {
            Phase::Protocol => protocol::probes(),
            Phase::Tools => tools::probes(&self.found, settings, reporter),
            Phase::Stateful => stateful::probes(&self.found, settings, self.scene.target.wire()),
        };
        self.names.extend(probes.iter().map(|probe| probe.name.to_string()));
        let probes: Vec<Probe> = probes
            .into_iter()
            .filter(|probe| settings.chooses(phase, &probe.name))
            .filter(|probe| probe.wires.contains(&self.scene.target.wire()))
            .collect();
        let runs: Vec<(&Probe, Revision)> = probes
            .iter()
            .flat_map(|probe| self.revisions(probe).into_iter().map(move |at| (probe, at)))
            .collect();
        if runs.is_empty() {
            return;
        }
        reporter.event(&Event::PhaseStarted { phase, probes: runs.len() });
        for (probe, revision) in runs {
            self.probe(probe, revision, reporter).await;
        }
    }

    /// The revisions at which a probe runs.
    fn revisions(&self, probe: &Probe) -> Vec<Revision> {
        let spoken: Vec<Revision> =
            self.found.offers.keys().copied().filter(|at| probe.revisions.contains(*at)).collect();
        if probe.everywhere || !self.scene.settings.revisions.is_empty() {
            return spoken;
        }
        let newest = |era| spoken.iter().copied().filter(|at| at.era() == era).max();
        [newest(Era::Legacy), newest(Era::Modern)].into_iter().flatten().collect()
    }

    async fn probe(&mut self, probe: &Probe, revision: Revision, reporter: &mut dyn Reporter) {
        let clean = self.clean.remove(&revision);
        let mut stage = self.stage(probe, revision).with_clean(clean);
        if let Some(reason) = missing(probe.needs, &stage) {
            return self.note(probe, revision, stage, Outcome::Skipped(reason), reporter);
        }
        if self.scene.settings.dry_run {
            return self.note(probe, revision, stage, Outcome::Planned, reporter);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.out_of_time = true;
            let reason = "the time is up".to_owned();
            return self.note(probe, revision, stage, Outcome::Skipped(reason), reporter);
        }
        reporter.event(&Event::ProbeStarted { probe, revision });
        let mut outcome = self.attempt(probe, &mut stage, left).await;
        if stage.is_in_doubt() {
            let (shared, _) = stage.into_parts();
            self.shared.extend(shared.map(|shared| (revision, shared)));
            stage = self.stage(probe, revision);
            let left = self.deadline.saturating_duration_since(Instant::now());
            outcome = self.attempt(probe, &mut stage, left).await;
        }
        if let Some(reason) = stage.lost.clone() {
            self.restarts += 1;
            reporter.event(&Event::Restarted { reason: &reason });
        }
        self.note(probe, revision, stage, outcome, reporter);
    }

    /// Runs the steps of a probe, and settles what they leave.
    async fn attempt(&mut self, probe: &Probe, stage: &mut Stage, left: Duration) -> Outcome {
        let until = Instant::now() + left.min(PROBE_LIMIT);
        stage.end_at(until);
        let mut outcome = Outcome::Passed;
        match timeout_at(until, probe.steps.run(stage)).await {
            Ok(Ok(())) => {}
            Ok(Err(Stop::Skip(reason))) => outcome = Outcome::Skipped(reason),
            Ok(Err(Stop::Trouble(trouble))) => {
                if let Some(conversation) = stage.current() {
                    stage.fail_for(&conversation, &trouble);
                }
            }
            Err(_) => {
                stage.note_cut();
                let is_over = self.deadline <= Instant::now();
                self.out_of_time |= is_over;
                let reason = if is_over { "the time is up" } else { "it takes too long" };
                outcome = Outcome::Skipped(reason.to_owned());
            }
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        stage.settle(Instant::now() + left.min(PROBE_LIMIT).max(ENDING_LIMIT)).await;
        outcome
    }

    fn stage(&mut self, probe: &Probe, revision: Revision) -> Stage {
        let shared = self.shared.remove(&revision);
        Stage::new(&self.scene, &self.found, revision, &probe.name, shared)
    }

    fn note(
        &mut self,
        probe: &Probe,
        revision: Revision,
        mut stage: Stage,
        outcome: Outcome,
        reporter: &mut dyn Reporter,
    ) {
        self.clean.extend(stage.take_clean().map(|clean| (revision, clean)));
        let (shared, failures) = stage.into_parts();
        if let Some(shared) = shared {
            self.shared.insert(revision, shared);
        }
        let outcome = if failures.is_empty() { outcome } else { Outcome::Failed };
        let (name, phase) = (probe.name.to_string(), probe.phase);
        let finished =
            Event::ProbeFinished { probe, revision, outcome: &outcome, failures: &failures };
        reporter.event(&finished);
        self.results.push(ProbeResult { name, phase, revision, outcome, failures });
    }

    /// Ends the conversations that probes have shared.
    async fn finish(mut self, reporter: &mut dyn Reporter) -> Report {
        let probe = protocol::ending();
        let until = self.deadline.max(Instant::now()) + ENDING_LIMIT;
        let left: Vec<Conversation> =
            self.shared.values().chain(self.clean.values()).cloned().collect();
        join_all(left.iter().map(|left| left.close_until(until))).await;
        for revision in self.found.offers.keys().copied().collect::<Vec<_>>() {
            let mut stage = self.stage(&probe, revision);
            for conversation in left.iter().filter(|left| left.revision() == revision) {
                stage.take_findings(conversation);
            }
            let (_, failures) = stage.into_parts();
            if !failures.is_empty() {
                let outcome = Outcome::Failed;
                let (name, phase) = (probe.name.to_string(), probe.phase);
                reporter.event(&Event::ProbeFinished {
                    probe: &probe,
                    revision,
                    outcome: &outcome,
                    failures: &failures,
                });
                self.results.push(ProbeResult { name, phase, revision, outcome, failures });
            }
        }
        let recordings = self.scene.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        Report {
            seed: self.scene.settings.seed,
            found: Found::clone(&self.found),
            results: self.results,
            recordings: recordings.clone(),
            restarts: self.restarts,
            out_of_time: self.out_of_time,
            unknown: unknown(&self.scene.settings.only, self.names.iter().map(String::as_str)),
        }
    }
}

/// What the server lacks for a probe.
fn missing(needs: Needs, stage: &Stage) -> Option<String> {
    let offer = stage.offer();
    match needs {
        Needs::Nothing => None,
        Needs::Capability(pointer) => (!offer.has(pointer))
            .then(|| format!("the server does not declare `{}`", pointer[1..].replace('/', "."))),
        Needs::Tool => {
            let safety = &stage.settings().safety;
            let has_one = offer.tools.iter().any(|tool| safety.permits(tool).is_ok());
            (!has_one).then(|| "there is no tool that may be called".to_owned())
        }
        Needs::Lists => {
            offer.pages.is_empty().then(|| "the server does not list anything".to_owned())
        }
    }
}
