//! Judges recorded traffic: finds the inputs, reads them line by line and passes every finding to a
//! renderer, in order, with memory that does not grow with the input.

mod chunks;
mod excerpts;
mod inputs;
mod lines;
mod output;
mod pipeline;
mod queue;
mod sequencer;
mod turns;
mod worker;

use std::{fs, io};

use mcp_rules::{Engine, RecordingInfo};

pub(crate) use self::{inputs::Skipped, queue::CAPTURE};
use self::{
    inputs::{Expanded, Source},
    output::Output,
    pipeline::Pipeline,
    queue::Queue,
};
use crate::{
    args::FailOn,
    baseline::Baseline,
    plan::CheckPlan,
    progress::Progress,
    report::{Renderer, Summary},
};

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) summary: Summary,
    /// Inputs that could not be read, or not to the end.
    pub(crate) failures: Vec<anyhow::Error>,
    /// Files in directories that were skipped.
    pub(crate) skipped: Vec<Skipped>,
}

/// Checks everything the plan names. Unreadable inputs do not prevent the others from being
/// checked.
///
/// # Errors
///
/// If the report cannot be written.
pub(crate) fn run(
    plan: CheckPlan,
    fail_on: FailOn,
    baseline: Option<&mut Baseline>,
    renderer: &mut (dyn Renderer + Send),
) -> io::Result<Checked> {
    let Expanded { sources, errors, mut skipped } = inputs::expand(&plan.inputs);
    let mut failures: Vec<anyhow::Error> = errors.into_iter().map(anyhow::Error::from).collect();
    let engine = Engine::new(plan.schemas, plan.settings);
    let progress = Progress::new(plan.progress, total_size(&sources).unwrap_or(0));
    let mut info = RecordingInfo::default();
    info.revision = plan.forced_revision;
    info.from = plan.from;
    info.from_start = plan.from_start;
    let wants_excerpts = renderer.wants_excerpts();
    let output = Output::new(renderer, &progress, plan.shown, fail_on, baseline);
    let files = sources.len() as u64;
    let queue = Queue::new(&engine, info, sources);
    let pipeline = Pipeline::new(&engine, queue, output, wants_excerpts, &progress);
    let (output, (unreadable, left_alone)) = pipeline.run(plan.jobs)?;
    skipped.extend(left_alone);
    failures.extend(unreadable.into_iter().map(anyhow::Error::from));
    progress.finish();
    let mut summary = output.summary;
    summary.files += files;
    Ok(Checked { summary, failures, skipped })
}

/// Total size of all files, unless an input has no size.
fn total_size(sources: &[Source]) -> Option<u64> {
    sources
        .iter()
        .map(|source| match source {
            Source::File(path) => fs::metadata(path).ok().filter(fs::Metadata::is_file),
            Source::Stdin => None,
        })
        .map(|found| found.map(|found| found.len()))
        .sum()
}
