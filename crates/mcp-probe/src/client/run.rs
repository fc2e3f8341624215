//! A run: the client is met at each revision, then each scenario is played.

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
    Acquaintance, ClientSettings, ClientUnderTest, Met,
    acquaint::{self, Unmet},
    judge::{Verdicts, judge},
    scenario::{Needs, Scenario},
    scenarios,
    visit::{Habit, Setup},
};
use crate::{
    Event, Failure, Found, Needs as ProbeNeeds, Outcome, Phase, Probe, ProbeResult, Report,
    Reporter, Seed, Steps, WireKind,
};

/// A test of a client that is about to run.
#[derive(Debug)]
pub struct ClientRun {
    setup: Setup,
}

/// Why a client could not be tested at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientRunError {
    /// It cannot be started.
    #[error("the client cannot be started")]
    Start(#[source] io::Error),
    /// It neither started the server nor connected to it.
    #[error("the client never came to the server")]
    NoContact {
        /// How it has ended, if it has.
        exit: Option<String>,
        /// What it said on standard error.
        stderr: String,
    },
    /// It speaks none of the revisions.
    #[error("the client opens no conversation: {reason}")]
    NoRevision {
        /// What it did instead.
        reason: String,
        /// What it said on standard error.
        stderr: String,
    },
}

impl ClientRun {
    /// A test of `client`, judged by `engine`.
    pub fn new(
        client: ClientUnderTest,
        engine: Arc<Engine>,
        settings: ClientSettings,
    ) -> ClientRun {
        let recordings = Arc::new(Mutex::default());
        ClientRun { setup: Setup { client, engine, settings, recordings } }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// If the client cannot be tested at all.
    pub async fn run(self, reporter: &mut dyn Reporter) -> Result<Report, ClientRunError> {
        let deadline = Instant::now() + self.setup.settings.limits.time;
        let met = timeout_at(deadline, acquaint::acquaint(&self.setup)).await;
        let met = met.map_err(|_| ClientRunError::NoRevision {
            reason: "the time was up before it was met at every revision".to_owned(),
            stderr: String::new(),
        })?;
        let introduction = met.map_err(|unmet| match unmet {
            Unmet::Start(error) => ClientRunError::Start(error),
            Unmet::NoContact(visit) => ClientRunError::NoContact {
                exit: visit.exit.map(super::process::Exit::text),
                stderr: visit.stderr,
            },
            Unmet::NoRevision { reason, stderr } => ClientRunError::NoRevision { reason, stderr },
        })?;
        reporter.event(&Event::Met(&introduction.acquaintance));
        let mut course = Course {
            setup: self.setup,
            acquaintance: introduction.acquaintance,
            results: Vec::new(),
            out_of_time: false,
            deadline,
        };
        let runs = course.runs();
        reporter.event(&Event::PhaseStarted {
            phase: Phase::Protocol,
            probes: runs.len() + introduction.visits.len(),
        });
        for (revision, visit) in introduction.visits {
            if course.setup.settings.chooses(scenarios::PLAIN.name) {
                let met = course.acquaintance.met[&revision].clone();
                let failures = judge(&course.setup.engine, &scenarios::PLAIN, &visit, &met);
                course.note(&scenarios::PLAIN, revision, Outcome::Passed, failures, reporter);
            }
        }
        for (scenario, revision) in runs {
            course.scenario(scenario, revision, reporter).await;
        }
        Ok(course.finish())
    }
}

impl ClientSettings {
    fn chooses(&self, name: &str) -> bool {
        crate::settings::chooses(&self.only, &self.skip, name)
    }
}

/// A run on its way.
struct Course {
    setup: Setup,
    acquaintance: Acquaintance,
    results: Vec<ProbeResult>,
    out_of_time: bool,
    deadline: Instant,
}

impl Course {
    /// The scenarios that were chosen, with the revisions that they are played at.
    fn runs(&self) -> Vec<(&'static Scenario, Revision)> {
        let chosen = scenarios::all().filter(|scenario| {
            self.setup.settings.chooses(scenario.name)
                && scenario.wires.contains(&self.acquaintance.wire)
        });
        chosen
            .flat_map(|scenario| self.revisions(scenario).into_iter().map(move |at| (scenario, at)))
            .collect()
    }

    fn revisions(&self, scenario: &Scenario) -> Vec<Revision> {
        let spoken = self.acquaintance.met.keys().copied();
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
        let met = self.acquaintance.met[&revision].clone();
        if let Some(reason) = missing(scenario.needs, &met, self.acquaintance.wire) {
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
            return self.skip(scenario, revision, "the time is up", reporter);
        }
        reporter.event(&Event::ProbeStarted { probe: &probe(scenario), revision });
        let Ok(played) = tokio::time::timeout(left, self.play(scenario, &met)).await else {
            self.out_of_time = true;
            return self.skip(scenario, revision, "the time is up", reporter);
        };
        match played {
            Ok(failures) => self.note(scenario, revision, Outcome::Passed, failures, reporter),
            Err(reason) => self.skip(scenario, revision, reason, reporter),
        }
    }

    /// Plays a scenario, and again if the client is to be blamed for what may be chance.
    async fn play(
        &self,
        scenario: &'static Scenario,
        met: &Met,
    ) -> Result<Vec<Failure>, Cow<'static, str>> {
        let habit = if met.exits { Habit::Exits } else { Habit::Stays };
        let is_quiet = met.requests.is_empty();
        let start =
            |error: io::Error| Cow::Owned(format!("the client could not be started: {error}"));
        let visit = self.setup.visit(scenario, met.revision, habit, is_quiet).await;
        let visit = visit.map_err(start)?;
        if !visit.is_contact() {
            return Err("the client did not come this time".into());
        }
        if !visit.is_twisted() && scenario.is_scripted {
            return Err("the client did nothing that it could be tried with".into());
        }
        let failures = judge(&self.setup.engine, scenario, &visit, met);
        if !failures.iter().any(|failure| Verdicts::is_comparison(failure, scenario)) {
            return Ok(failures);
        }
        let plain = self.setup.visit(&scenarios::PLAIN, met.revision, habit, is_quiet).await;
        let plain = Met::of(&plain.map_err(start)?, met.revision, met.own_server);
        let again = self.setup.visit(scenario, met.revision, habit, is_quiet).await;
        let again = judge(&self.setup.engine, scenario, &again.map_err(start)?, met);
        let is_confirmed = |failure: &Failure| {
            !Verdicts::is_comparison(failure, scenario)
                || (plain.is_like(met)
                    && again.iter().any(|again| again.finding.rule == failure.finding.rule))
        };
        let count = failures.len();
        let confirmed: Vec<Failure> = failures.into_iter().filter(is_confirmed).collect();
        if confirmed.is_empty() && count > 0 {
            return Err("the client does not do the same twice".into());
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
            // Nothing here is left to chance.
            seed: Seed::default(),
            found: Found::default(),
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

/// What a client does not do that a scenario needs.
fn missing(needs: Needs, met: &Met, wire: WireKind) -> Option<String> {
    let unless = |is_met: bool, reason: &str| (!is_met).then(|| reason.to_owned());
    match needs {
        Needs::Nothing => None,
        Needs::Chance => unless(
            !met.requests.is_empty() || wire == WireKind::Stdio,
            "the client asks for nothing after the handshake",
        ),
        Needs::Request => {
            unless(!met.requests.is_empty(), "the client asks for nothing after the handshake")
        }
        Needs::Method(method) => {
            unless(met.requests.contains(method), &format!("the client never asks for `{method}`"))
        }
        Needs::Progress => unless(met.has_progress, "no request of the client asks for progress"),
        Needs::Get => unless(met.gets, "the client opens no stream with GET"),
        Needs::Session => unless(
            met.has_session && !met.requests.is_empty(),
            "the client asks for nothing in its session",
        ),
        Needs::OwnServer => {
            unless(met.own_server, "the client does not start the server as a process")
        }
        Needs::ToolAnd(capability) => unless(
            met.requests.contains("tools/call") && met.declares(capability),
            &format!("the client does not call a tool and declare `{}`", &capability[1..]),
        ),
        Needs::With(capability) => unless(
            met.declares(capability) && (!met.requests.is_empty() || wire == WireKind::Stdio),
            &format!("the client does not declare `{}`", &capability[1..]),
        ),
        Needs::Without(capability) => unless(
            !met.declares(capability) && (!met.requests.is_empty() || wire == WireKind::Stdio),
            &format!("the client declares `{}`, or asks for nothing", &capability[1..]),
        ),
    }
}

/// A scenario as those who report on probes see it.
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
