//! What `plumb check` prints on standard error.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    path::Path,
    time::Duration,
};

use mcp_core::Revision;
use mcp_schema::{LoadedOverride, Override, Schemas, SourceLimits};

use crate::{
    args::Format,
    baseline::Stale,
    check::Skipped,
    commands::Outcome,
    failure::{self, Failure},
    plan::{BaselinePlan, Plan, Verbosity},
    render,
    report::Summary,
    style::Palette,
    text::{counted, grouped, shown_path, visible, visible_lines},
};

/// Stale entries shown without `--verbose`.
const STALE_SHOWN: usize = 20;
/// Skipped files shown.
const SKIPPED_SHOWN: usize = 20;
/// A document for another protocol would fill the screen.
const IGNORED_SHOWN: usize = 10;

/// Prints notes, depending on the verbosity.
pub(super) struct Notes {
    palette: Palette,
    verbosity: Verbosity,
    /// Whether warnings are logged rather than printed.
    to_log: bool,
}

impl Notes {
    pub(super) fn new(palette: Palette, verbosity: Verbosity) -> Notes {
        Notes { palette, verbosity, to_log: false }
    }

    /// Logs warnings instead of printing them.
    pub(super) fn logging(self) -> Notes {
        Notes { to_log: true, ..self }
    }

    /// The embedded schemas, replaced by the overrides that can be used.
    pub(super) fn load(&self, overrides: &[Override], required: bool) -> anyhow::Result<Schemas> {
        let (schemas, errors) = Schemas::load(overrides, &SourceLimits::default());
        for error in errors {
            if required {
                let failure = Failure::new("a schema that is required cannot be used")
                    .hint("without --schema-required the embedded schema would be used instead")
                    .because(error);
                return Err(failure.into());
            }
            self.warning(&error.into(), "the embedded schema is used instead");
        }
        for replacement in schemas.overrides() {
            self.ignored(replacement);
        }
        Ok(schemas)
    }

    /// What an override tries to change but cannot.
    fn ignored(&self, replacement: &LoadedOverride) {
        let ignored: Vec<String> = replacement.ignored().map(ToString::to_string).collect();
        let source = replacement.source();
        for part in ignored.iter().take(IGNORED_SHOWN) {
            let text = visible(part).into_owned();
            self.warning(
                &anyhow::anyhow!(text),
                &format!("it is in {source}; the rest of that document is used"),
            );
        }
        if let Some(rest) = ignored.len().checked_sub(IGNORED_SHOWN).filter(|rest| *rest > 0) {
            let text =
                format!("{} more definitions in {source} have no effect", grouped(rest as u64));
            self.warning(
                &anyhow::anyhow!(text),
                "a schema cannot add methods or change the envelope",
            );
        }
    }

    /// Settings that have no effect, whatever the traffic.
    pub(super) fn without_effect(&self, settings: &[String]) {
        for text in settings {
            self.warning(&anyhow::anyhow!(visible(text).into_owned()), "the other settings apply");
        }
    }

    pub(super) fn verbose_settings(&self, plan: &Plan) {
        match &plan.config {
            Some(path) => self.verbose(&format!("configuration: {}", shown_path(path))),
            None => self.verbose("configuration: none"),
        }
        for revision in Revision::ALL {
            let origin = plan.check.schemas.origin(revision);
            self.verbose(&format!("schema of {revision}: {origin}"));
        }
        if let BaselinePlan::Use(path) = &plan.baseline {
            self.verbose(&format!("baseline: {}", shown_path(path)));
        }
        self.verbose(&format!("worker threads: {}", plan.check.jobs));
    }

    pub(super) fn checked(&self, summary: &Summary, took: Duration) {
        self.verbose(&format!(
            "checked {} with {} in {}, in {:.2} s",
            counted(summary.bytes, "byte"),
            counted(summary.messages, "message"),
            counted(summary.files, "file"),
            took.as_secs_f64()
        ));
    }

    /// How many findings the baseline contained, if the report itself does not say.
    pub(super) fn known(&self, summary: &Summary, format: Format) {
        if summary.known > 0 && format != Format::Human {
            self.note(&render::known(summary));
        }
    }

    /// Entries that can be removed from the baseline.
    pub(super) fn stale(&self, stale: &[Stale<'_>], baseline: &Path) {
        if stale.is_empty() {
            return;
        }
        let entries = match stale.len() {
            1 => "1 entry".to_owned(),
            count => format!("{} entries", grouped(count as u64)),
        };
        let baseline = visible(&baseline.to_string_lossy()).into_owned();
        let mut text =
            format!("{entries} of the baseline {baseline} no longer found, or found less often:");
        let most = if self.verbosity == Verbosity::Verbose { usize::MAX } else { STALE_SHOWN };
        for entry in stale.iter().take(most) {
            let _ = write!(text, "\n  {}", visible(&entry.to_string()));
        }
        if let Some(rest) = stale.len().checked_sub(most).filter(|rest| *rest > 0) {
            let _ = write!(text, "\n  and {} more (-v lists all)", grouped(rest as u64));
        }
        text.push_str("\n  this is not an error; --write-baseline removes them");
        self.note(&text);
    }

    /// What folders hold that was not opened.
    pub(super) fn skipped(&self, skipped: &[Skipped]) {
        for skipped in skipped.iter().take(SKIPPED_SHOWN) {
            self.note(&skipped.to_string());
        }
        if let Some(rest) = skipped.len().checked_sub(SKIPPED_SHOWN).filter(|rest| *rest > 0) {
            self.note(&format!("skipped {} more", grouped(rest as u64)));
        }
    }

    /// Reports all unreadable inputs but the last, which becomes the error of the run.
    pub(super) fn unreadable(&self, mut failures: Vec<anyhow::Error>) -> anyhow::Result<Outcome> {
        let last = failures.pop();
        for error in &failures {
            write_stderr(&failure::describe(error, &self.palette));
        }
        match last {
            Some(error) => Err(error),
            None => Ok(Outcome::Clean),
        }
    }

    /// A warning that a schema or setting does not do what was asked. Shown even with `--quiet`,
    /// since findings do not mean what the user thinks.
    fn warning(&self, error: &anyhow::Error, consequence: &str) {
        if self.to_log {
            tracing::warn!(consequence, "{}", failure::one_line(error));
            return;
        }
        let Palette { warning, bold, .. } = self.palette;
        let message = error.to_string();
        let message = visible_lines(&message);
        let mut text = format!("{warning}warning{warning:#}{bold}:{bold:#} {message}\n");
        for cause in error.chain().skip(1) {
            let _ = writeln!(text, "  caused by: {}", visible_lines(&cause.to_string()));
        }
        let _ = writeln!(text, "  {}", visible_lines(consequence));
        write_stderr(&text);
    }

    pub(super) fn note(&self, note: &str) {
        if self.verbosity != Verbosity::Quiet {
            let bold = self.palette.bold;
            write_stderr(&format!("{bold}note:{bold:#} {}\n", visible_lines(note)));
        }
    }

    fn verbose(&self, note: &str) {
        if self.verbosity == Verbosity::Verbose {
            let dim = self.palette.dim;
            write_stderr(&format!("{dim}{}{dim:#}\n", visible_lines(note)));
        }
    }
}

/// If standard error is gone, there is nowhere to report it.
fn write_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
