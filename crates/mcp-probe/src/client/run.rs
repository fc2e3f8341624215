//! A client test: discovers the client at each revision, then plays each scenario.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use mcp_core::{Era, Revision};
use mcp_rules::Engine;
use tokio::time::{Instant, timeout_at};

use super::{
    ClientOverview, ClientSettings, ClientUnderTest, NormalBehaviour,
    discover::{self, DiscoveryError},
    judge::{Verdicts, judge},
    scenario::{Needs, Scenario},
    scenario_run::{ExitHabit, Setup},
    scenarios,
};
use crate::{
    Discovery, Event, Failure, Needs as ProbeNeeds, Outcome, Phase, Probe, ProbeResult, Report,
    Reporter, Seed, Steps, WireKind,
};

/// A prepared test of a client.
#[derive(Debug)]
pub struct ClientRun {
    setup: Setup,
}

/// Why a client could not be tested at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientRunError {
    /// The client cannot be started.
    #[error("the client cannot be started")]
    Start(#[source] io::Error),
    /// It neither started the server nor connected to it.
    #[error("the client never connected to the server")]
    NoContact {
        /// How it exited, if it has.
        exit: Option<String>,
        /// Its standard error.
        stderr: String,
    },
    /// It opens no conversation at any revision.
    #[error("the client did not open a conversation: {reason}")]
    NoRevision {
        /// What it did instead.
        reason: String,
        /// Its standard error.
        stderr: String,
    },
}

impl ClientRun {
    /// Prepares a test of `client`, judged by `engine`.
    pub fn new(
        client: ClientUnderTest,
        engine: Arc<Engine>,
        settings: ClientSettings,
    ) -> ClientRun {
        let recordings = Arc::new(Mutex::default());
        ClientRun { setup: Setup { client, engine, settings, recordings } }
    }

    /// Runs the test.
    ///
    /// # Errors
    ///
    /// If the client cannot be tested at all.
    pub async fn run(self, reporter: &mut dyn Reporter) -> Result<Report, ClientRunError> {
        let deadline = Instant::now() + self.setup.settings.limits.time;
        let normal = timeout_at(deadline, discover::discover(&self.setup)).await;
        let normal = normal.map_err(|_| ClientRunError::NoRevision {
            reason: "the time limit was reached before every revision was tried".to_owned(),
            stderr: String::new(),
        })?;
        let first = normal.map_err(|error| match error {
            DiscoveryError::Start(error) => ClientRunError::Start(error),
            DiscoveryError::NoContact(run) => ClientRunError::NoContact {
                exit: run.exit.map(super::process::Exit::text),
                stderr: run.stderr,
            },
            DiscoveryError::NoRevision { reason, stderr } => {
                ClientRunError::NoRevision { reason, stderr }
            }
        })?;
        reporter.event(&Event::ClientDiscovered(&first.overview));
        let mut active = ActiveRun {
            setup: self.setup,
            overview: first.overview,
            results: Vec::new(),
            out_of_time: false,
            deadline,
        };
        let runs = active.runs();
        reporter.event(&Event::PhaseStarted {
            phase: Phase::Protocol,
            probes: runs.len() + first.runs.len(),
        });
        for (revision, run) in first.runs {
            if active.setup.settings.chooses(scenarios::PLAIN.name) {
                let normal = active.overview.normal[&revision].clone();
                let failures = judge(&active.setup.engine, &scenarios::PLAIN, &run, &normal);
                active.note(&scenarios::PLAIN, revision, Outcome::Passed, failures, reporter);
            }
        }
        for (scenario, revision) in runs {
            active.scenario(scenario, revision, reporter).await;
        }
        Ok(active.finish())
    }
}

impl ClientSettings {
    fn chooses(&self, name: &str) -> bool {
        crate::settings::chooses(&self.only, &self.skip, name)
    }
}

/// The state of a run in progress.
struct ActiveRun {
    setup: Setup,
    overview: ClientOverview,
    results: Vec<ProbeResult>,
    out_of_time: bool,
    deadline: Instant,
}

impl ActiveRun {
    /// The chosen scenarios, with the revisions to play them at.
    fn runs(&self) -> Vec<(&'static Scenario, Revision)> {
        let chosen = scenarios::all().filter(|scenario| {
            self.setup.settings.chooses(scenario.name)
                && scenario.wires.contains(&self.overview.wire)
        });
        chosen
            .flat_map(|scenario| self.revisions(scenario).into_iter().map(move |at| (scenario, at)))
            .collect()
    }

    fn revisions(&self, scenario: &Scenario) -> Vec<Revision> {
        let spoken = self.overview.normal.keys().copied();
        let spoken: Vec<Revision> =
            spoken.filter(|revision| scenario.revisions.contains(*revision)).collect();
        if scenario.everywhere || !self.setup.settings.revisions.is_empty() {
            return spoken;
        }
        let newest = |era| spoken.iter().copied().filter(|at| at.era() == era).max();
        [newest(Era::Legacy), newest(Era::Modern)].into_iter().flatten().collect()
    }

    async fn scenario(
        &mut self,
        scenario: &'static Scenario,
        revision: Revision,
        reporter: &mut dyn Reporter,
    ) {
        let normal = self.overview.normal[&revision].clone();
        if let Some(reason) = missing(scenario.needs, &normal, self.overview.wire) {
            return self.skip(scenario, revision, reason, reporter);
        }
        let explains = |result: &ProbeResult| {
            result.name == scenario.after
                && result.revision == revision
                && result.outcome == Outcome::Failed
        };
        if self.results.iter().any(explains) {
            let reason = format!("{} failed, which explains this", scenario.after);
            return self.skip(scenario, revision, reason, reporter);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.out_of_time = true;
            return self.skip(scenario, revision, "the time limit was reached", reporter);
        }
        reporter.event(&Event::ProbeStarted { probe: &probe(scenario), revision });
        let Ok(played) = tokio::time::timeout(left, self.play(scenario, &normal)).await else {
            self.out_of_time = true;
            return self.skip(scenario, revision, "the time limit was reached", reporter);
        };
        match played {
            Ok(failures) => self.note(scenario, revision, Outcome::Passed, failures, reporter),
            Err(reason) => self.skip(scenario, revision, reason, reporter),
        }
    }

    /// Plays a scenario, and repeats it if the failure might be due to chance.
    async fn play(
        &self,
        scenario: &'static Scenario,
        normal: &NormalBehaviour,
    ) -> Result<Vec<Failure>, Cow<'static, str>> {
        let habit = if normal.exits { ExitHabit::Exits } else { ExitHabit::Stays };
        let is_quiet = normal.requests.is_empty();
        let start =
            |error: io::Error| Cow::Owned(format!("the client could not be started: {error}"));
        let run = self.setup.run_scenario(scenario, normal.revision, habit, is_quiet).await;
        let run = run.map_err(start)?;
        if !run.is_contact() {
            return Err("the client did not connect this time".into());
        }
        if !run.is_twisted() && scenario.is_scripted {
            return Err("the client did nothing that the scenario could use".into());
        }
        let failures = judge(&self.setup.engine, scenario, &run, normal);
        if !failures.iter().any(|failure| Verdicts::is_comparison(failure, scenario)) {
            return Ok(failures);
        }
        let plain =
            self.setup.run_scenario(&scenarios::PLAIN, normal.revision, habit, is_quiet).await;
        let plain = NormalBehaviour::of(&plain.map_err(start)?, normal.revision, normal.own_server);
        let again = self.setup.run_scenario(scenario, normal.revision, habit, is_quiet).await;
        let again = judge(&self.setup.engine, scenario, &again.map_err(start)?, normal);
        let is_confirmed = |failure: &Failure| {
            !Verdicts::is_comparison(failure, scenario)
                || (plain.is_like(normal)
                    && again.iter().any(|again| again.finding.rule == failure.finding.rule))
        };
        let count = failures.len();
        let confirmed: Vec<Failure> = failures.into_iter().filter(is_confirmed).collect();
        if confirmed.is_empty() && count > 0 {
            return Err("the client does not behave the same way twice".into());
        }
        Ok(confirmed)
    }

    fn skip(
        &mut self,
        scenario: &'static Scenario,
        revision: Revision,
        reason: impl Into<String>,
        reporter: &mut dyn Reporter,
    ) {
        self.note(scenario, revision, Outcome::Skipped(reason.into()), Vec::new(), reporter);
    }

    fn note(
        &mut self,
        scenario: &'static Scenario,
        revision: Revision,
        outcome: Outcome,
        failures: Vec<Failure>,
        reporter: &mut dyn Reporter,
    ) {
        let outcome = if failures.is_empty() { outcome } else { Outcome::Failed };
        reporter.event(&Event::ProbeFinished {
            probe: &probe(scenario),
            revision,
            outcome: &outcome,
            failures: &failures,
        });
        let (name, phase) = (scenario.name.to_owned(), Phase::Protocol);
        self.results.push(ProbeResult { name, phase, revision, outcome, failures });
    }

    fn finish(self) -> Report {
        let recordings = self.setup.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        Report {
            // Client tests make no random choices.
            seed: Seed::default(),
            found: Discovery::default(),
            results: self.results,
            recordings: recordings.clone(),
            restarts: 0,
            out_of_time: self.out_of_time,
            unknown: crate::settings::unknown(
                &self.setup.settings.only,
                scenarios::all().chain([&scenarios::PLAIN]).map(|scenario| scenario.name),
            ),
        }
    }
}

/// Why the client does not meet the needs of a scenario.
fn missing(needs: Needs, normal: &NormalBehaviour, wire: WireKind) -> Option<String> {
    let unless = |is_met: bool, reason: &str| (!is_met).then(|| reason.to_owned());
    match needs {
        Needs::Nothing => None,
        Needs::Chance => unless(
            !normal.requests.is_empty() || wire == WireKind::Stdio,
            "the client sends no requests after the handshake",
        ),
        Needs::Request => {
            unless(!normal.requests.is_empty(), "the client sends no requests after the handshake")
        }
        Needs::Method(method) => unless(
            normal.requests.contains(method),
            &format!("the client never requests `{method}`"),
        ),
        Needs::Progress => {
            unless(normal.has_progress, "no request of the client has a progress token")
        }
        Needs::Get => unless(normal.gets, "the client opens no GET stream"),
        Needs::Session => unless(
            normal.has_session && !normal.requests.is_empty(),
            "the client sends no requests in its session",
        ),
        Needs::OwnServer => {
            unless(normal.own_server, "the client does not start the server as a process")
        }
        Needs::ToolAnd(capability) => unless(
            normal.requests.contains("tools/call") && normal.declares(capability),
            &format!("the client does not call a tool and declare `{}`", &capability[1..]),
        ),
        Needs::With(capability) => unless(
            normal.declares(capability) && (!normal.requests.is_empty() || wire == WireKind::Stdio),
            &format!("the client does not declare `{}`", &capability[1..]),
        ),
        Needs::Without(capability) => unless(
            !normal.declares(capability)
                && (!normal.requests.is_empty() || wire == WireKind::Stdio),
            &format!("the client declares `{}`, or sends no requests", &capability[1..]),
        ),
    }
}

/// Describes a scenario as a probe, for reporters.
fn probe(scenario: &'static Scenario) -> Probe {
    Probe {
        name: Cow::Borrowed(scenario.name),
        phase: Phase::Protocol,
        about: Cow::Borrowed(scenario.about),
        revisions: scenario.revisions,
        wires: scenario.wires,
        needs: ProbeNeeds::Nothing,
        everywhere: scenario.everywhere,
        steps: Steps::Fixed(|_| Box::pin(async { Ok(()) })),
        preview: Vec::new(),
        preview_at: BTreeMap::new(),
    }
}
