use std::{
    fmt::Write as _,
    io::{self, Write as _},
};

use mcp_core::Revision;
use mcp_schema::{Override, Schemas, SourceLimits};

use super::Outcome;
use crate::{
    args::{CheckArgs, Color},
    check::{self, Checked},
    config::Config,
    failure::{self, Failure},
    plan::{Chatter, Plan, Surroundings},
    render,
    style::Palette,
    text::counted,
};

/// Validates recorded traffic.
pub(crate) fn check(args: &CheckArgs, color: Color) -> anyhow::Result<Outcome> {
    let config = match (&args.config, args.no_config) {
        (Some(path), _) => Config::load(path)?,
        (None, true) => Config::default(),
        (None, false) => Config::find()?,
    };
    let mut plan = Plan::new(args, config, Surroundings::of_process())?;
    let notes = Notes { palette: Palette::of_stderr(color), chatter: plan.chatter };
    plan.check.schemas = notes.load(&plan.overrides, plan.overrides_required)?;
    notes.in_force(&plan);
    let mut renderer = render::to_stdout(&plan, color);
    let Checked { mut summary, failures } = check::run(plan.check, renderer.as_mut())?;
    summary.unreadable = failures.len() as u64;
    // A report on nothing would only hide why.
    if summary.files > 0 || failures.is_empty() {
        renderer.finish(&summary)?;
    }
    notes.verbose(&format!(
        "checked {} with {} in {}",
        counted(summary.bytes, "byte"),
        counted(summary.messages, "message"),
        counted(summary.files, "file")
    ));
    if !failures.is_empty() {
        return notes.unreadable(failures);
    }
    Ok(if summary.fails(plan.fail_on) { Outcome::Findings } else { Outcome::Clean })
}

/// What is said on standard error besides findings.
struct Notes {
    palette: Palette,
    chatter: Chatter,
}

impl Notes {
    /// The embedded schemas, and in their place the overrides that can be used.
    fn load(&self, overrides: &[Override], required: bool) -> anyhow::Result<Schemas> {
        let mut schemas = Schemas::embedded();
        for given in overrides {
            match given.load(&SourceLimits::default()) {
                Ok(loaded) => schemas = schemas.with_override(loaded),
                Err(error) if required => {
                    let failure = Failure::new("a schema that is required cannot be used")
                        .hint("without --schema-required the embedded schema would be used instead")
                        .because(error);
                    return Err(failure.into());
                }
                Err(error) => self.warning(&error.into(), "the embedded schema is used instead"),
            }
        }
        Ok(schemas)
    }

    fn in_force(&self, plan: &Plan) {
        match &plan.config {
            Some(path) => self.verbose(&format!("configuration: {}", path.display())),
            None => self.verbose("configuration: none"),
        }
        for revision in Revision::ALL {
            let origin = plan.check.schemas.origin(revision);
            self.verbose(&format!("schema of {revision}: {origin}"));
        }
        self.verbose(&format!("worker threads: {}", plan.check.jobs));
    }

    /// Says which inputs could not be read, all but the last; the last is the error of the run.
    fn unreadable(&self, mut failures: Vec<anyhow::Error>) -> anyhow::Result<Outcome> {
        let last = failures.pop();
        for error in &failures {
            write_stderr(&failure::describe(error, &self.palette));
        }
        match last {
            Some(error) => Err(error),
            None => Ok(Outcome::Clean),
        }
    }

    fn warning(&self, error: &anyhow::Error, consequence: &str) {
        if self.chatter == Chatter::Quiet {
            return;
        }
        let Palette { warning, bold, .. } = self.palette;
        let mut text = format!("{warning}warning{warning:#}{bold}:{bold:#} {error}\n");
        for cause in error.chain().skip(1) {
            let _ = writeln!(text, "  caused by: {cause}");
        }
        let _ = writeln!(text, "  {consequence}");
        write_stderr(&text);
    }

    fn verbose(&self, note: &str) {
        if self.chatter == Chatter::Verbose {
            let dim = self.palette.dim;
            write_stderr(&format!("{dim}{note}{dim:#}\n"));
        }
    }
}

/// Nobody can be told that standard error is gone.
fn write_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
