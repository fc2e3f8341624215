//! The phase `stateful`: random walks through everything that is offered.
//!
//! A walk is a conversation that is valid at each step: lists and their pages, calls, prompts,
//! resources, completions, subscriptions, streams, log levels, tasks, pings and cancellations, in
//! an order that depends on the seed. The rules judge it, and the server must answer and stay
//! alive. A failing walk is shrunk to the shortest conversation that breaks the same rule, which is
//! then reported.

mod menu;
mod perform;
mod shrink;
mod step;
mod task;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use mcp_core::{Era, Revision, Revisions};
use mcp_rules::behaviour;
use tokio::time::{Instant, timeout_at};

use self::{
    menu::Menu,
    perform::{Slow, perform},
    shrink::{Budget, Trial, shrink},
    step::Step,
};
use crate::{
    Discovery, Failure, Limits, Needs, Phase, Probe, Settings, Stage, Steps, Stop, wire::WireKind,
};

/// Number of walks.
const WALKS: usize = 6;
/// Number of steps in a walk.
const STEPS: usize = 24;
/// Maximum number of broken rules to shrink per walk.
const RULES: usize = 3;
/// Maximum attempts to shrink a walk, and the time for it.
const ATTEMPTS: usize = 60;
const SHRINKING: Duration = Duration::from_secs(20);
/// Time to reserve for what follows.
const LEAST: Duration = Duration::from_secs(2);
/// Time limit for answers while shrinking. The final result is checked with the normal limit.
const HURRIED: Duration = Duration::from_millis(500);
/// A rule that also fires when two messages cross, without a fault of the server.
const UNCERTAIN: &str = "response-after-cancel";

const EVERYWHERE: &[WireKind] = &[WireKind::Stdio, WireKind::Http, WireKind::WebSocket];

/// The probes for what a server offers.
pub(crate) fn probes(found: &Discovery, settings: &Settings, wire: WireKind) -> Vec<Probe> {
    let memory = Arc::new(Memory::default());
    let walks = (1..=WALKS).map(|number| {
        let memory = Arc::clone(&memory);
        let name = format!("walk/{number}");
        let preview_at = found.offers.iter().map(|(revision, offer)| {
            let menu = Menu::new(offer, *revision, wire, settings);
            let hangs_up = wire == WireKind::Http && revision.era() == Era::Modern;
            let steps = menu.walk(&mut settings.seed.stream(&name), STEPS);
            (*revision, steps.iter().map(|step| step.preview(hangs_up)).collect())
        });
        let preview_at = preview_at.collect();
        Probe {
            name: name.into(),
            phase: Phase::Stateful,
            about: "a conversation through everything that is offered".into(),
            revisions: Revisions::ALL,
            wires: EVERYWHERE,
            needs: Needs::Nothing,
            everywhere: false,
            steps: Steps::Generated(Arc::new(move |stage| {
                let memory = Arc::clone(&memory);
                Box::pin(async move { walk(stage, &memory).await })
            })),
            preview: Vec::new(),
            preview_at,
        }
    });
    walks.collect()
}

/// State shared by the walks.
#[derive(Debug, Default)]
struct Memory {
    /// Slow tools, which are not called again in other walks.
    slow: Slow,
    /// The rules for which a shortest walk is known.
    shrunk: Mutex<BTreeSet<(Revision, &'static str)>>,
}

/// Runs a walk and, if it fails, shrinks it.
async fn walk(stage: &mut Stage, memory: &Memory) -> Result<(), Stop> {
    let offer = stage.offer();
    let menu = Menu::new(&offer, stage.revision(), stage.wire(), stage.settings());
    let steps = menu.walk(&mut stage.random(), STEPS);
    let slow = &memory.slow;
    let patient = stage.settings().limits;
    let end = stage.until().checked_sub(LEAST).unwrap_or_else(Instant::now);
    let failures = attempt(stage, &steps, patient, slow, end).await?;
    let mut rules: Vec<&'static str> = Vec::new();
    for rule in failures.iter().map(|failure| failure.finding.rule.name) {
        // A server that died or hangs breaks several rules at once.
        let is_known = rules.contains(&rule)
            || (is_lifeless(rule) && rules.iter().any(|known| is_lifeless(known)));
        if !is_known {
            rules.push(rule);
        }
    }
    let hurried = Limits { answer: patient.answer.min(HURRIED), ..patient };
    for rule in rules.into_iter().take(RULES) {
        let of_rule = |failures: Vec<Failure>| {
            // Report repeated messages only once.
            let mut said = BTreeSet::new();
            failures.into_iter().filter(move |failure| {
                let finding = &failure.finding;
                finding.rule.name == rule && said.insert(finding.message.clone())
            })
        };
        let is_first = {
            let mut shrunk = memory.shrunk.lock().unwrap_or_else(PoisonError::into_inner);
            shrunk.insert((stage.revision(), rule))
        };
        if !is_first {
            // One short walk is enough to show how it happens.
            stage.adopt(of_rule(failures.clone()));
            continue;
        }
        let shrinking = end.min(Instant::now() + SHRINKING);
        let budget = Budget::new(ATTEMPTS, shrinking);
        let mut trial = Again { stage, limits: hurried, slow, rule, until: shrinking };
        let shortest = shrink(steps.clone(), &menu, budget, &mut trial).await;
        // A fault without any step was found during discovery.
        if shortest.is_empty() {
            continue;
        }
        let again = attempt(stage, &shortest, patient, slow, end).await.unwrap_or_default();
        let shown = if breaks(&again, rule) { again } else { failures.clone() };
        stage.adopt(of_rule(shown));
    }
    Ok(())
}

/// Repeats walks to check whether the same rule is broken.
struct Again<'s> {
    stage: &'s Stage,
    limits: Limits,
    slow: &'s Slow,
    rule: &'static str,
    until: Instant,
}

impl Trial for Again<'_> {
    fn fails<'a>(&'a mut self, steps: &'a [Step]) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let failures = attempt(self.stage, steps, self.limits, self.slow, self.until).await;
            failures.is_ok_and(|failures| breaks(&failures, self.rule))
        })
    }
}

fn breaks(failures: &[Failure], rule: &str) -> bool {
    failures.iter().any(|failure| failure.finding.rule.name == rule)
}

/// Whether a rule means that the server does not answer.
fn is_lifeless(rule: &str) -> bool {
    let rules = [
        behaviour::SERVER_DIED.name,
        behaviour::SERVER_WEDGED.name,
        behaviour::REQUEST_UNANSWERED.name,
        "request-unanswered",
    ];
    rules.contains(&rule)
}

/// Performs the steps in a new conversation, and returns the failures.
async fn attempt(
    stage: &Stage,
    steps: &[Step],
    limits: Limits,
    slow: &Slow,
    until: Instant,
) -> Result<Vec<Failure>, Stop> {
    let mut aside = stage.aside(limits);
    match timeout_at(until, perform(&mut aside, steps, slow)).await {
        Ok(Ok(())) => {}
        // Findings so far still count.
        Err(_) => aside.note_cut(),
        Ok(Err(Stop::Failed(error))) => {
            if let Some(conversation) = aside.current() {
                aside.fail_for(&conversation, &error);
                // The liveness check is not needed again.
                conversation.expect_end();
            }
        }
        Ok(Err(skip)) => return Err(skip),
    }
    aside.settle(until).await;
    let (_, mut failures) = aside.into_parts();
    failures.retain(|failure| failure.finding.rule.name != UNCERTAIN);
    Ok(failures)
}
