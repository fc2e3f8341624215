//! The phase `tools`: probes of every tool, prompt, resource and template that a server offers,
//! with values generated from their definitions.
//!
//! The messages depend on the seed and the lists only. A valid call may fail for reasons that no
//! schema states, so probes mostly compare: a call that succeeds, and one that differs in a single
//! point and fails.

mod calls;
mod echo;
mod hostile;
mod invalid;
mod listed;
mod optional;
mod plan;
mod prompts;
mod resources;
mod subject;
mod templates;
mod undeclared;
mod valid;

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use serde_json::Value;

use self::{
    listed::{Listed, listed},
    plan::Plan,
    subject::Subject,
};
use crate::{
    Discovery, Event, Needs, Phase, Probe, Refused, Reporter, Settings, Stage, Steps, StepsFuture,
    Stop, WireKind,
};

/// The probes for what a server offers.
pub(crate) fn probes(
    found: &Discovery,
    settings: &Settings,
    reporter: &mut dyn Reporter,
) -> Vec<Probe> {
    let tools = listed(found, |offer| &offer.tools, "name");
    let permitted = tools.iter().filter(|tool| tool.permitted_by(&settings.safety).is_ok()).count();
    let share = share(found, settings, permitted);
    let (mut probes, mut subjects, silence) = (Vec::new(), Vec::new(), Arc::default());
    for tool in tools {
        if let Err(refused) = tool.permitted_by(&settings.safety) {
            let Refused { reason, flag } = refused;
            if settings.chooses(Phase::Tools, &format!("tools/{}", tool.name)) {
                reporter.event(&Event::Skipped { what: &tool.name, reason, flag });
            }
            let reason = match flag {
                "" => reason.to_owned(),
                flag => format!("{reason}; {flag} includes it"),
            };
            probes.push(left_alone(&tool, reason));
            continue;
        }
        let subject = Arc::new(Subject::new(tool, settings, share, &silence));
        probes.extend(subject_probes(&subject));
        subjects.push(subject);
    }
    probes.extend(undeclared::probe(subjects));
    probes.extend(prompts::probes(found, settings));
    probes.extend(resources::probe(found));
    probes.extend(templates::probes(found, settings));
    probes
}

/// The number of calls per tool and revision, so that the limit suffices for all tools.
fn share(found: &Discovery, settings: &Settings, tools: usize) -> usize {
    let revisions = if settings.revisions.is_empty() { 2 } else { settings.revisions.len() };
    let runs = (tools * revisions.min(found.offers.len())).max(1);
    let calls = usize::try_from(settings.limits.calls).unwrap_or(usize::MAX);
    (calls / runs * 3 / 4).clamp(8, 60)
}

/// The probes of a tool that may be called, as far as its schema permits them.
fn subject_probes(subject: &Arc<Subject>) -> Vec<Probe> {
    let Some(plan) = subject.newest_plan() else { return Vec::new() };
    let tool = subject.name();
    let mut probes = Vec::new();
    let mut add = |kind: &str, about: &'static str, calls: Vec<&Value>, steps: ToolSteps| {
        let name = format!("tools/{tool}/{kind}");
        let preview = calls.into_iter().map(|arguments| shown_call(tool, arguments)).collect();
        let used = Arc::clone(subject);
        probes.push(made(subject.listed(), &name, about, preview, move |stage| {
            steps(stage, Arc::clone(&used))
        }));
    };
    let valid = plan.valid.iter().map(|valid| &valid.value).collect();
    add("valid", "calls that match its schema are accepted", valid, valid::steps);
    if !plan.without.is_empty() {
        let calls = plan.without.iter().map(|(_, value)| value).collect();
        add("optional", "optional arguments can be left out", calls, optional::steps);
    }
    if plan.needs_nothing {
        let about = "it can be called without `arguments`";
        add("no-arguments", about, vec![&Value::Null], optional::no_arguments);
    }
    if !plan.broken.is_empty() {
        let calls = plan.broken.iter().map(|broken| &broken.value).collect();
        add("invalid", "calls that break its schema are refused", calls, invalid::steps);
    }
    if !plan.hostile.is_empty() {
        let calls = plan.hostile.iter().map(|hostile| &hostile.value).collect();
        add("hostile", "unusual but valid values are handled", calls, hostile::steps);
    }
    if plan.echoes {
        let calls = plan.base.iter().collect();
        add("echo", "it returns its argument unchanged", calls, echo::steps);
    }
    probes
}

/// The steps of a probe for a tool.
type ToolSteps = for<'s> fn(&'s mut Stage, Arc<Subject>) -> StepsFuture<'s>;

/// A probe that reports why a tool is not called.
fn left_alone(tool: &Listed, reason: String) -> Probe {
    let name = format!("tools/{}", tool.name);
    made(tool, &name, "the tool is not called", Vec::new(), move |_| {
        let reason = reason.clone();
        Box::pin(async move { Err(Stop::Skip(reason)) })
    })
}

/// Makes a probe of this phase, for the revisions at which its subject is listed.
fn made(
    listed: &Listed,
    name: &str,
    about: &'static str,
    preview: Vec<String>,
    steps: impl for<'s> Fn(&'s mut Stage) -> StepsFuture<'s> + Send + Sync + 'static,
) -> Probe {
    Probe {
        name: Cow::Owned(mcp_core::excerpt(name, LONGEST_NAME).into_owned()),
        phase: Phase::Tools,
        about: Cow::Borrowed(about),
        revisions: listed.revisions(),
        wires: WireKind::ALL,
        needs: Needs::Nothing,
        everywhere: false,
        steps: Steps::Generated(Arc::new(steps)),
        preview,
        preview_at: BTreeMap::new(),
    }
}

/// Maximum length of a probe name.
const LONGEST_NAME: usize = 160;
/// Maximum length of a message shown in a dry run.
const SHOWN: usize = 2_000;

/// Formats a call for a dry run. Null stands for no arguments.
fn shown_call(tool: &str, arguments: &Value) -> String {
    shown("tools/call", &calls::params(tool, Some(arguments).filter(|value| !value.is_null())))
}

/// Formats a request for a dry run.
fn shown(method: &str, params: &Value) -> String {
    mcp_core::excerpt(&format!("{method} {params}"), SHOWN).into_owned()
}
