//! The phase `stateful`: walks through everything that is offered.
//!
//! A walk is a conversation that is valid at each step: lists and their pages, calls, prompts,
//! resources, completions, subscriptions, streams, levels, tasks, pings, cancellations, in an order
//! that follows from the seed. The rules watch, and the server must answer and stay alive. A walk that fails is shrunk
//! to the shortest conversation in which the same rule is broken, and that is what is reported.

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
    Failure, Found, Limits, Needs, Phase, Probe, Settings, Stage, Steps, Stop, wire::WireKind,
};

/// How many walks there are.
const WALKS: usize = 6;
/// How many steps a walk has.
const STEPS: usize = 24;
/// How many rules of one walk are looked into.
const RULES: usize = 3;
/// How often a walk is repeated to make it shorter, and for how long.
const ATTEMPTS: usize = 60;
const SHRINKING: Duration = Duration::from_secs(20);
/// How much time is kept for what comes after.
const LEAST: Duration = Duration::from_secs(2);
/// How long an answer may take while a walk is made shorter. Whether the result fails is found out
/// at leisure.
const HURRIED: Duration = Duration::from_millis(500);
/// What looks the same whether a server is wrong or two messages have crossed.
const UNCERTAIN: &str = "response-after-cancel";

const EVERYWHERE: &[WireKind] = &[WireKind::Stdio, WireKind::Http, WireKind::WebSocket];

/// The probes for what a server offers.
pub(crate) fn probes(found: &Found, settings: &Settings, wire: WireKind) -> Vec<Probe> {
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
            steps: Steps::Made(Arc::new(move |stage| {
                let memory = Arc::clone(&memory);
                Box::pin(async move { walk(stage, &memory).await })
            })),
            preview: Vec::new(),
            preview_at,
        }
    });
    walks.collect()
}

/// What walks know of each other.
#[derive(Debug, Default)]
struct Memory {
    /// Tools that take their time are not called again in another walk.
    slow: Slow,
    /// The rules of which a shortest walk is known.
    shrunk: Mutex<BTreeSet<(Revision, &'static str)>>,
}

/// Walks, and if that fails, finds the shortest way to fail in.
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
        // A server that is gone or hangs shows that in several ways.
        let is_known = rules.contains(&rule)
            || (is_lifeless(rule) && rules.iter().any(|known| is_lifeless(known)));
        if !is_known {
            rules.push(rule);
        }
    }
    let hurried = Limits { answer: patient.answer.min(HURRIED), ..patient };
    for rule in rules.into_iter().take(RULES) {
        let of_rule = |failures: Vec<Failure>| {
            // A message that comes again and again says it once.
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
            // To see how it comes about, one short walk is enough.
            stage.adopt(of_rule(failures.clone()));
            continue;
        }
        let shrinking = end.min(Instant::now() + SHRINKING);
        let budget = Budget::new(ATTEMPTS, shrinking);
        let mut trial = Again { stage, limits: hurried, slow, rule, until: shrinking };
        let shortest = shrink(steps.clone(), &menu, budget, &mut trial).await;
        // What shows without a step was found when the server was asked what it offers.
        if shortest.is_empty() {
            continue;
        }
        let again = attempt(stage, &shortest, patient, slow, end).await.unwrap_or_default();
        let shown = if breaks(&again, rule) { again } else { failures.clone() };
        stage.adopt(of_rule(shown));
    }
    Ok(())
}

/// Performs walks again, to see whether the same rule is broken.
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

/// Whether a rule says that the server does not answer.
fn is_lifeless(rule: &str) -> bool {
    let rules = [
        behaviour::SERVER_DIED.name,
        behaviour::SERVER_WEDGED.name,
        behaviour::REQUEST_UNANSWERED.name,
        "request-unanswered",
    ];
    rules.contains(&rule)
}

/// Performs the steps in a conversation of their own, and returns what was wrong.
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
        // What was found so far counts.
        Err(_) => aside.note_cut(),
        Ok(Err(Stop::Trouble(trouble))) => {
            if let Some(conversation) = aside.current() {
                aside.fail_for(&conversation, &trouble);
                // It need not be asked again whether it is alive.
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
