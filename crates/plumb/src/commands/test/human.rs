//! The human-readable report: a line for each probe as it runs, and failures in full.

use std::{collections::BTreeMap, fmt::Write as _, io::Write as _};

use mcp_core::Revision;
use mcp_probe::{Discovery, Event, Failure, Outcome, Phase, Probe, Seed};
use mcp_rules::Severity;

use super::{
    client, exchange, located::Locator, recordings::Directory, repeat::Repeat, tested::Tested, word,
};
use crate::{
    render,
    report::{Fingerprint, Summary},
    style::{self, Palette},
    text::{counted, shown_path, visible_lines, without_middle},
};

/// Maximum columns of a message in an exchange.
const MESSAGE: usize = 160;
/// Column of the revisions.
const NAMES: usize = 44;

pub(super) struct Human {
    palette: Palette,
    repeat: Repeat,
    /// Failures already shown, and the probe they were shown for.
    shown: BTreeMap<Fingerprint, String>,
    passed: u64,
    failed: u64,
    skipped: u64,
    /// The reader of standard output has gone away.
    is_broken: bool,
}

impl Human {
    pub(super) fn new(palette: Palette, repeat: Repeat) -> Human {
        Human {
            palette,
            repeat,
            shown: BTreeMap::new(),
            passed: 0,
            failed: 0,
            skipped: 0,
            is_broken: false,
        }
    }

    /// Prints the name of the next server.
    pub(super) fn title(&mut self, name: &str) {
        let Palette { bold, accent, .. } = self.palette;
        let name = visible_lines(name).replace('\n', " ");
        self.print(&format!("\n{accent}━━{accent:#} {bold}{name}{bold:#} {accent}━━{accent:#}"));
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Discovered(found) => self.discovered(found),
            Event::ClientDiscovered(overview) => {
                let Palette { bold, .. } = self.palette;
                let (name, lines) = client::describe(overview);
                self.print(&format!("{bold}{}{bold:#}", visible_lines(&name)));
                for line in lines {
                    self.print(&format!("  {}", visible_lines(&line)));
                }
            }
            Event::PhaseStarted { phase, probes } => self.phase(*phase, *probes),
            Event::ProbeFinished { probe, revision, outcome, failures } => {
                self.probe(probe, *revision, outcome, failures);
            }
            Event::Restarted { reason } => {
                let Palette { warning, .. } = self.palette;
                let reason = visible_lines(reason);
                self.print(&format!("  {warning}restarted{warning:#} the server: {reason}"));
            }
            _ => {}
        }
    }

    pub(super) fn finish(
        &mut self,
        tested: &Tested,
        summary: &Summary,
        recordings: Option<&Directory>,
    ) {
        let Palette { bold, good, error, .. } = self.palette;
        let report = &tested.report;
        if !tested.left_out.is_empty() {
            self.print(&format!("\n{bold}tools not called{bold:#}"));
            for line in &tested.left_out {
                self.print(&format!("  {}", visible_lines(line).replace('\n', " ")));
            }
        }
        if report.out_of_time {
            self.print("\nthe time limit was reached; use --time-limit to allow more");
        }
        let tint = if summary.errors > 0 { error } else { good };
        let mut counts = format!(
            "{} passed, {} failed, {} skipped; {}, {}",
            self.passed,
            self.failed,
            self.skipped,
            counted(summary.errors, "error"),
            counted(summary.warnings, "warning"),
        );
        if summary.known > 0 {
            let _ = write!(counts, ", {} in the baseline", summary.known);
        }
        if report.restarts > 0 {
            let _ = write!(counts, ", {}", counted(report.restarts as u64, "restart"));
        }
        // Client tests make no random choices.
        let seed = if self.repeat.is_of_client() {
            String::new()
        } else {
            format!(" (seed {}, {})", report.seed, Seed::ALGORITHM)
        };
        self.print(&format!("\n{tint}{counts}{tint:#}{seed}"));
        if let Some(directory) = recordings {
            let path = shown_path(directory.file("").parent().unwrap_or(std::path::Path::new("")));
            self.print(&format!("conversations recorded in {path}, for `plumb check`"));
        }
    }

    fn discovered(&mut self, found: &Discovery) {
        let Palette { bold, dim, .. } = self.palette;
        let Some((_, offer)) = found.offers.last_key_value() else { return };
        let text = |name: &str| offer.server[name].as_str().unwrap_or("?").to_owned();
        let revisions: Vec<&str> = found.offers.keys().map(|revision| revision.as_str()).collect();
        let name = format!("{} {}", text("name"), text("version"));
        self.print(&format!(
            "{bold}{}{bold:#} speaks {}",
            visible_lines(&name),
            revisions.join(", ")
        ));
        for (revision, reason) in &found.refused {
            let reason = visible_lines(reason).replace('\n', " ");
            let reason = without_middle(&reason, 100).into_owned();
            self.print(&format!("  {dim}not {revision}: {reason}{dim:#}"));
        }
        let counts = [
            (offer.tools.len(), "tool"),
            (offer.resources.len(), "resource"),
            (offer.templates.len(), "resource template"),
            (offer.prompts.len(), "prompt"),
        ];
        let counts: Vec<String> =
            counts.iter().map(|(count, noun)| counted(*count as u64, noun)).collect();
        self.print(&format!("  offers {}", counts.join(", ")));
    }

    fn phase(&mut self, phase: Phase, probes: usize) {
        let Palette { bold, dim, .. } = self.palette;
        let probes = counted(probes as u64, "check");
        self.print(&format!("\n{bold}{phase}{bold:#} {dim}{probes}{dim:#}"));
    }

    fn probe(
        &mut self,
        probe: &Probe,
        revision: Revision,
        outcome: &Outcome,
        failures: &[Failure],
    ) {
        let Palette { good, error, warning, dim, .. } = self.palette;
        let has_error = failures.iter().any(|f| f.finding.severity == Severity::Error);
        let (style, label) = match outcome {
            Outcome::Passed => (good, "ok  "),
            Outcome::Failed if has_error => (error, "FAIL"),
            Outcome::Failed => (warning, "warn"),
            Outcome::Skipped(_) => (dim, "skip"),
            Outcome::Planned => (dim, "plan"),
        };
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Skipped(_) | Outcome::Planned => self.skipped += 1,
        }
        let mut line = format!(
            "  {style}{label}{style:#} {:<NAMES$} {dim}{revision}{dim:#}",
            visible_lines(&probe.name)
        );
        if let Outcome::Skipped(reason) = outcome {
            let _ = write!(line, "  {dim}{}{dim:#}", visible_lines(reason));
        }
        self.print(&line);
        if *outcome == Outcome::Planned {
            for text in probe.preview(revision) {
                let text = visible_lines(text).replace('\n', " ");
                self.print(&format!("       {}", without_middle(&text, MESSAGE)));
            }
        }
        for failure in failures {
            self.failure(probe, revision, failure);
        }
    }

    fn failure(&mut self, probe: &Probe, revision: Revision, failure: &Failure) {
        let (name, phase) = (probe.name.as_ref(), probe.phase);
        let Palette { dim, accent, .. } = self.palette;
        let finding = &failure.finding;
        let print = Fingerprint::of(finding);
        if let Some(before) = self.shown.get(&print) {
            let (severity, rule) = (word(finding.severity), finding.rule.name);
            let line = format!("       {severity}[{rule}] same as for {before}");
            return self.print(&format!("{dim}{line}{dim:#}"));
        }
        self.shown.insert(print, format!("{name} {revision}"));
        let mut located = Locator::new(name, revision).locate(failure);
        located.make_visible();
        let look = (self.palette, style::stdout_width());
        let shown = render::finding_for_people(&located, look.0, look.1);
        self.print(shown.trim_end());
        let exchange = exchange::of(failure, phase);
        if exchange.len() > 1 {
            self.print(&format!("  {dim}the exchange:{dim:#}"));
            for said in &exchange {
                let text = visible_lines(&said.text).replace('\n', " ");
                self.print(&format!("    {} {}", said.arrow(), without_middle(&text, MESSAGE)));
            }
        }
        if let Some(stderr) = &failure.stderr {
            self.print(&format!("  {dim}standard error:{dim:#}"));
            let last: Vec<&str> = stderr.trim_end().lines().rev().take(8).collect();
            for line in last.into_iter().rev() {
                self.print(&format!("    {}", visible_lines(line)));
            }
        }
        let line = visible_lines(&self.repeat.line(name, revision)).into_owned();
        self.print(&format!("  {accent}repeat{accent:#}: {line}"));
        if let Some(snippet) = self.repeat.snippet(failure, phase) {
            let snippet = visible_lines(&snippet).into_owned();
            self.print(&format!("  {accent}or{accent:#}:     {snippet}"));
        }
        self.print("");
    }

    fn print(&mut self, line: &str) {
        if !self.is_broken {
            let mut out = anstream::stdout().lock();
            self.is_broken = writeln!(out, "{line}").is_err();
        }
    }
}
