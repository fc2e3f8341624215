//! Judges recorded traffic: finds the inputs, reads them line by line and hands every finding to
//! a renderer, in order, with memory that does not grow with the input.

mod chunks;
mod excerpts;
mod inputs;
mod lines;
mod output;
mod stream;
mod turns;
mod worker;

use std::{
    fs::{self, File},
    io,
    sync::Arc,
};

use mcp_rules::{Engine, Origin};

use self::{
    inputs::{InputError, Source},
    lines::Lines,
    output::Output,
    stream::{Run, StreamError},
};
use crate::{
    baseline::Baseline,
    plan::CheckPlan,
    progress::Progress,
    report::{Renderer, Summary},
};

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) summary: Summary,
    /// Inputs that could not be read, or not to their end.
    pub(crate) failures: Vec<anyhow::Error>,
}

/// Checks everything the plan names. Inputs that cannot be read do not keep the others from being
/// judged.
///
/// # Errors
///
/// If the report cannot be written.
pub(crate) fn run(
    plan: CheckPlan,
    baseline: Option<&mut Baseline>,
    renderer: &mut (dyn Renderer + Send),
) -> io::Result<Checked> {
    let (sources, errors) = inputs::expand(&plan.inputs);
    let mut failures: Vec<anyhow::Error> = errors.into_iter().map(anyhow::Error::from).collect();
    let engine = Engine::new(plan.schemas, plan.settings);
    let progress = Progress::new(plan.progress, total_size(&sources).unwrap_or(0));
    let mut origin = Origin::default();
    origin.revision = plan.forced_revision;
    origin.from = plan.from;
    origin.from_start = plan.from_start;
    let run = Run {
        engine: &engine,
        origin,
        jobs: plan.jobs,
        wants_excerpts: renderer.wants_excerpts(),
        progress: &progress,
    };
    let mut output = Output::new(renderer, &progress, plan.shown, baseline);
    for source in &sources {
        output.summary.files += 1;
        match check_source(&run, source, &mut output) {
            Ok(()) => {}
            Err(Failure::Stream(StreamError::Write(error))) => return Err(error),
            Err(Failure::Stream(error)) => failures.push(error.into()),
            Err(Failure::Input(error)) => failures.push(error.into()),
        }
    }
    progress.finish();
    let summary = output.summary;
    Ok(Checked { summary, failures })
}

enum Failure {
    Input(InputError),
    Stream(StreamError),
}

fn check_source(run: &Run<'_>, source: &Source, output: &mut Output<'_>) -> Result<(), Failure> {
    match source {
        Source::Stdin => run.check(&Arc::from("-"), io::stdin(), output.file(None, None)),
        Source::File(path) => {
            let file = File::open(path)
                .map_err(|error| Failure::Input(InputError::Open(path.clone(), error)))?;
            let lines = Lines::of(path, &file);
            run.check(&Arc::from(path.to_string_lossy()), file, output.file(Some(path), lines))
        }
    }
    .map_err(Failure::Stream)
}

/// Bytes in all files together, unless something has no size.
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
