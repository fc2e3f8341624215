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
    Conversation, ConversationError, Discovery, Event, Needs, Outcome, Phase, Probe, ProbeResult,
    Report, Reporter, Settings, Stage, Stop, Target,
    discover::{self, Discovered},
    protocol,
    settings::unknown,
    stage::RunContext,
    stateful, tools,
};

/// Time limit for one probe.
const PROBE_LIMIT: Duration = Duration::from_secs(60);
/// Time limit for closing its conversations when the run is out of time.
const ENDING_LIMIT: Duration = Duration::from_secs(5);

/// A test that is about to run.
#[derive(Debug)]
pub struct Run {
    context: Arc<RunContext>,
}

/// Why a server could not be tested at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The server cannot be started or reached.
    #[error("the server cannot be reached: {reason}")]
    Unreachable {
        /// Why.
        reason: String,
        /// Its standard error.
        stderr: String,
    },
    /// It opens no conversation at any revision.
    #[error("the server did not open a conversation: {reason}")]
    NoRevision {
        /// Its answer at the newest revision tried.
        reason: String,
        /// Its standard error.
        stderr: String,
    },
    /// Its lists could not be read completely.
    #[error("the lists of the server at {revision} cannot be read completely: {reason}")]
    Incomplete {
        /// The revision.
        revision: Revision,
        /// What went wrong.
        reason: String,
    },
}

impl Run {
    /// Prepares a test of `target`, judged by `engine`.
    pub fn new(target: Target, engine: Arc<Engine>, settings: Settings) -> Run {
        let context = RunContext {
            target,
            engine,
            settings,
            recordings: Mutex::default(),
            calls: AtomicU64::new(0),
            endless: Mutex::default(),
            processes: Arc::default(),
            stays: AtomicBool::new(false),
        };
        Run { context: Arc::new(context) }
    }

    /// Runs the test.
    ///
    /// # Errors
    ///
    /// If the server cannot be tested at all.
    pub async fn run(self, reporter: &mut dyn Reporter) -> Result<Report, RunError> {
        let deadline = Instant::now() + self.context.settings.limits.time;
        let discovered = discover::discover(&self.context, deadline).await;
        // A faulty challenge alone is no test of a server that let nobody in.
        let wants_credentials = discovered.wants_credentials();
        let is_judged = discovered.failed.iter().any(|(_, talk)| {
            let recording = talk.recording();
            if wants_credentials { recording.has_errors() } else { recording.has_findings() }
        });
        if discovered.found.offers.is_empty() && !is_judged {
            return Err(refusal(discovered));
        }
        reporter.event(&Event::Discovered(&discovered.found));
        let mut active = ActiveRun {
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
            context: self.context,
        };
        active.report_discovery(&discovered.errors, reporter);
        active.report_failed(discovered.failed, reporter);
        active.compare_with_lock(reporter);
        for phase in Phase::ALL {
            active.phase(phase, reporter).await;
        }
        Ok(active.finish(reporter).await)
    }

    /// Only discovers what the server offers.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or its lists cannot be read completely.
    pub async fn discover(self) -> Result<Discovery, RunError> {
        let discovered = self.try_discover().await?;
        for (_, conversation) in &discovered.conversations {
            conversation.close_soon().await;
        }
        if let Some((revision, error)) = discovered.errors.into_iter().next() {
            return Err(RunError::Incomplete { revision, reason: error.to_string() });
        }
        let most = self.context.settings.limits.pages;
        for (revision, offer) in &discovered.found.offers {
            if let Some((method, _)) = offer.pages.iter().find(|(_, pages)| **pages >= most) {
                let reason = format!("`{method}` still has a next page after {most} pages");
                return Err(RunError::Incomplete { revision: *revision, reason });
            }
        }
        Ok(discovered.found)
    }

    async fn try_discover(&self) -> Result<Discovered, RunError> {
        let deadline = Instant::now() + self.context.settings.limits.time;
        let discovered = discover::discover(&self.context, deadline).await;
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
        // Both messages begin with this.
        let reason = reason.trim_start_matches("the server cannot be reached: ").to_owned();
        RunError::Unreachable { reason, stderr }
    }
}

/// The state of a run in progress.
struct ActiveRun {
    context: Arc<RunContext>,
    found: Arc<Discovery>,
    shared: BTreeMap<Revision, Conversation>,
    /// Conversations left clean by a probe, for probes that can share one.
    clean: BTreeMap<Revision, Conversation>,
    results: Vec<ProbeResult>,
    restarts: usize,
    out_of_time: bool,
    /// The names of all probes, chosen or not.
    names: Vec<String>,
    deadline: Instant,
}

impl ActiveRun {
    /// Reports failures during discovery.
    fn report_discovery(
        &mut self,
        errors: &[(Revision, ConversationError)],
        reporter: &mut dyn Reporter,
    ) {
        let probe = protocol::discovery();
        for (revision, conversation) in self.shared.clone() {
            let mut stage = self.stage(&probe, revision);
            for (_, error) in errors.iter().filter(|(at, _)| *at == revision) {
                stage.fail_for(&conversation, error);
            }
            stage.take_findings(&conversation);
            self.note(&probe, revision, stage, Outcome::Passed, reporter);
        }
    }

    /// Reports findings about conversations that were not opened. Not opening one is no fault: the
    /// server may not speak the revision.
    fn report_failed(
        &mut self,
        failed: Vec<(Revision, Conversation)>,
        reporter: &mut dyn Reporter,
    ) {
        let probe = protocol::discovery();
        for (revision, conversation) in failed {
            let mut stage = Stage::new(&self.context, &self.found, revision, &probe.name, None);
            stage.take_findings(&conversation);
            if stage.has_failures() {
                self.note(&probe, revision, stage, Outcome::Passed, reporter);
            }
        }
    }

    /// Reports differences from the lock.
    fn compare_with_lock(&mut self, reporter: &mut dyn Reporter) {
        let probe = protocol::locked();
        let Some(lock) = self.context.settings.lock.clone() else { return };
        if !self.context.settings.chooses(probe.phase, &probe.name) {
            return;
        }
        let drifts = self.found.drifts_from(&lock);
        let mut is_first = true;
        for (revision, conversation) in self.shared.clone() {
            let mut stage = self.stage(&probe, revision);
            // A revision that is gone has no conversation to report in.
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
        let settings = &self.context.settings;
        let probes: Vec<Probe> = match phase {
            Phase::Protocol => protocol::probes(),
            Phase::Tools => tools::probes(&self.found, settings, reporter),
            Phase::Stateful => stateful::probes(&self.found, settings, self.context.target.wire()),
        };
        self.names.extend(probes.iter().map(|probe| probe.name.to_string()));
        let probes: Vec<Probe> = probes
            .into_iter()
            .filter(|probe| settings.chooses(phase, &probe.name))
            .filter(|probe| probe.wires.contains(&self.context.target.wire()))
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
        if probe.everywhere || !self.context.settings.revisions.is_empty() {
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
        if self.context.settings.dry_run {
            return self.note(probe, revision, stage, Outcome::Planned, reporter);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.out_of_time = true;
            let reason = "the time limit was reached".to_owned();
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

    /// Runs the steps of a probe, and closes what they leave open.
    async fn attempt(&mut self, probe: &Probe, stage: &mut Stage, left: Duration) -> Outcome {
        let until = Instant::now() + left.min(PROBE_LIMIT);
        stage.end_at(until);
        let mut outcome = Outcome::Passed;
        match timeout_at(until, probe.steps.run(stage)).await {
            Ok(Ok(())) => {}
            Ok(Err(Stop::Skip(reason))) => outcome = Outcome::Skipped(reason),
            Ok(Err(Stop::Failed(error))) => {
                if let Some(conversation) = stage.current() {
                    stage.fail_for(&conversation, &error);
                }
            }
            Err(_) => {
                stage.note_cut();
                let is_over = self.deadline <= Instant::now();
                self.out_of_time |= is_over;
                let reason =
                    if is_over { "the time limit was reached" } else { "it takes too long" };
                outcome = Outcome::Skipped(reason.to_owned());
            }
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        stage.settle(Instant::now() + left.min(PROBE_LIMIT).max(ENDING_LIMIT)).await;
        outcome
    }

    fn stage(&mut self, probe: &Probe, revision: Revision) -> Stage {
        let shared = self.shared.remove(&revision);
        Stage::new(&self.context, &self.found, revision, &probe.name, shared)
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

    /// Ends the conversations shared by probes.
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
        let recordings = self.context.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        Report {
            seed: self.context.settings.seed,
            found: Discovery::clone(&self.found),
            results: self.results,
            recordings: recordings.clone(),
            restarts: self.restarts,
            out_of_time: self.out_of_time,
            unknown: unknown(&self.context.settings.only, self.names.iter().map(String::as_str)),
        }
    }
}

/// Why the server does not meet the needs of a probe.
fn missing(needs: Needs, stage: &Stage) -> Option<String> {
    let offer = stage.offer();
    match needs {
        Needs::Nothing => None,
        Needs::Capability(pointer) => (!offer.has(pointer))
            .then(|| format!("the server does not declare `{}`", pointer[1..].replace('/', "."))),
        Needs::Tool => {
            let safety = &stage.settings().safety;
            let has_one = offer.tools.iter().any(|tool| safety.permits(tool).is_ok());
            (!has_one).then(|| "no tool may be called".to_owned())
        }
        Needs::Lists => offer.pages.is_empty().then(|| "the server has no lists".to_owned()),
    }
}
