use std::{io, time::Instant};

use super::{Outcome, notes::Notes};
use crate::{
    args::{CheckArgs, Color},
    baseline::Baseline,
    check::{self, Checked},
    config::Config,
    plan::{BaselinePlan, Environment, Plan},
    render,
    style::Palette,
    text::{counted, shown_path},
};

/// Validates recorded traffic.
pub(crate) fn check(args: &CheckArgs, color: Color) -> anyhow::Result<Outcome> {
    let config = Config::chosen(&args.judging)?;
    #[expect(clippy::disallowed_methods, reason = "only to report how long it took")]
    let begun = Instant::now();
    let mut plan = Plan::new(args, config, Environment::of_process())?;
    let notes = Notes::new(Palette::of_stderr(color), plan.verbosity);
    plan.check.schemas = notes.load(&plan.overrides, plan.overrides_required)?;
    notes.without_effect(&plan.without_effect);
    notes.verbose_settings(&plan);
    let mut baseline = match &plan.baseline {
        BaselinePlan::None => None,
        BaselinePlan::Use(path) => Some(Baseline::load(path)?),
        BaselinePlan::Write(path) => Some(Baseline::recording(path)?),
    };
    let mut renderer = render::to_stdout(&plan, color);
    let Checked { mut summary, failures, skipped } =
        check::run(plan.check, plan.fail_on, baseline.as_mut(), renderer.as_mut())?;
    summary.unreadable = failures.len() as u64;
    // A report about no input would only hide the cause.
    if summary.files > 0 || failures.is_empty() {
        match renderer.finish(&summary) {
            // The exit code still tells the outcome.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            written => written?,
        }
    }
    notes.skipped(&skipped);
    notes.checked(&summary, begun.elapsed());
    let baseline = baseline.as_ref();
    if let Some(baseline) = baseline.filter(|baseline| !baseline.is_to_be_written()) {
        notes.known(&summary, plan.format);
        notes.stale(&baseline.stale(), baseline.path());
    }
    if !failures.is_empty() {
        return notes.unreadable(failures);
    }
    if let Some(baseline) = baseline.filter(|baseline| baseline.is_to_be_written()) {
        let count = counted(baseline.write()?, "finding");
        notes.note(&format!("wrote {count} to the baseline {}", shown_path(baseline.path())));
        return Ok(Outcome::Clean);
    }
    Ok(if summary.fails(plan.fail_on) { Outcome::Findings } else { Outcome::Clean })
}
