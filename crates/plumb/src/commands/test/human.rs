//! The report for people: a line for each probe as it runs, and failures in full.

use std::{collections::BTreeMap, fmt::Write as _, io::Write as _};

use mcp_core::Revision;
use mcp_json::{Limits, Tape};
use mcp_probe::{Event, Failure, Found, Outcome, Phase, Report, Seed};
use mcp_rules::{Severity, message_of};
use serde_json::Value;

use super::{located::Locator, recordings::Directory, repeat::Repeat, word};
use crate::{
    render,
    report::{Fingerprint, Summary},
    style::{self, Palette},
    text::{counted, shown_path, visible_lines, without_middle},
};

const LIMITS: Limits = Limits { max_bytes: usize::MAX, max_depth: 1024 };
/// Columns of a message in an exchange.
const MESSAGE: usize = 160;
/// Lines of an exchange that are shown.
const EXCHANGE: u64 = 4;
/// Column at which revisions stand.
const NAMES: usize = 44;

pub(super) struct Human {
    palette: Palette,
    repeat: Repeat,
    /// What was shown, and at which probe.
    shown: BTreeMap<Fingerprint, String>,
    left_out: Vec<String>,
    passed: u64,
    failed: u64,
    skipped: u64,
    /// Nobody reads it any more.
    is_broken: bool,
}

impl Human {
    pub(super) fn new(palette: Palette, repeat: Repeat) -> Human {
        Human {
            palette,
            repeat,
            shown: BTreeMap::new(),
            left_out: Vec::new(),
            passed: 0,
            failed: 0,
            skipped: 0,
            is_broken: false,
        }
    }

    /// Names the server that comes next.
    pub(super) fn title(&mut self, name: &str) {
        let Palette { bold, accent, .. } = self.palette;
        let name = visible_lines(name).replace('\n', " ");
        self.print(&format!("\n{accent}━━{accent:#} {bold}{name}{bold:#} {accent}━━{accent:#}"));
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Discovered(found) => self.discovered(found),
            Event::PhaseStarted { phase, probes } => self.phase(*phase, *probes),
            Event::ProbeFinished { probe, revision, outcome, failures } => {
                self.probe(&probe.name, *revision, outcome, failures, &probe.preview);
            }
            Event::Restarted { reason } => {
                let Palette { warning, .. } = self.palette;
                let reason = visible_lines(reason);
                self.print(&format!("  {warning}restarted{warning:#} the server: {reason}"));
            }
            Event::LeftOut { what, reason, flag } => {
                let flag = if flag.is_empty() { String::new() } else { format!(" ({flag})") };
                let what = visible_lines(what);
                self.left_out.push(format!("{what}: {reason}{flag}"));
            }
            _ => {}
        }
    }

    pub(super) fn finish(
        &mut self,
        report: &Report,
        summary: &Summary,
        recordings: Option<&Directory>,
    ) {
        let Palette { bold, good, error, .. } = self.palette;
        if !self.left_out.is_empty() {
            self.print(&format!("\n{bold}not called{bold:#}"));
            for line in std::mem::take(&mut self.left_out) {
                self.print(&format!("  {line}"));
            }
        }
        if report.out_of_time {
            self.print("\nthe time limit was reached; --time-limit gives more");
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
        self.print(&format!(
            "\n{tint}{counts}{tint:#} (seed {}, {})",
            report.seed,
            Seed::ALGORITHM
        ));
        if let Some(directory) = recordings {
            let path = shown_path(directory.file("").parent().unwrap_or(std::path::Path::new("")));
            self.print(&format!("recorded in {path}; `plumb check` reads it"));
        }
    }

    fn discovered(&mut self, found: &Found) {
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
        name: &str,
        revision: Revision,
        outcome: &Outcome,
        failures: &[Failure],
        preview: &[String],
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
            visible_lines(name)
        );
        if let Outcome::Skipped(reason) = outcome {
            let _ = write!(line, "  {dim}{}{dim:#}", visible_lines(reason));
        }
        self.print(&line);
        if *outcome == Outcome::Planned {
            for text in preview {
                let text = visible_lines(text).replace('\n', " ");
                self.print(&format!("       {}", without_middle(&text, MESSAGE)));
            }
        }
        for failure in failures {
            self.failure(name, revision, failure);
        }
    }

    fn failure(&mut self, name: &str, revision: Revision, failure: &Failure) {
        let Palette { dim, accent, .. } = self.palette;
        let finding = &failure.finding;
        let print = Fingerprint::of(finding);
        if let Some(before) = self.shown.get(&print) {
            let (severity, rule) = (word(finding.severity), finding.rule.name);
            let line = format!("       {severity}[{rule}] as at {before}");
            return self.print(&format!("{dim}{line}{dim:#}"));
        }
        self.shown.insert(print, format!("{name} {revision}"));
        let mut located = Locator::new(name, revision).locate(failure);
        located.make_visible();
        let look = (self.palette, style::stdout_width());
        let shown = render::finding_for_people(&located, look.0, look.1);
        self.print(shown.trim_end());
        let exchange = exchange(failure);
        if exchange.len() > 1 {
            self.print(&format!("  {dim}the exchange:{dim:#}"));
            for (mark, text) in &exchange {
                let text = visible_lines(text).replace('\n', " ");
                self.print(&format!("    {mark} {}", without_middle(&text, MESSAGE)));
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
        if let Some(snippet) = self.repeat.snippet(&said_by_client(failure)) {
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

/// The lines up to that of the failure, with who said them.
fn exchange(failure: &Failure) -> Vec<(&'static str, String)> {
    let Some(line) = failure.finding.line else { return Vec::new() };
    let first = line.saturating_sub(EXCHANGE - 1).max(1);
    (first..=line).filter_map(|number| said(failure, number)).collect()
}

/// What the client has said up to the failure, if that is not much.
fn said_by_client(failure: &Failure) -> Vec<String> {
    let last = failure.finding.line.unwrap_or(failure.recording.len() as u64).min(40);
    let own = exchange_of(failure, last);
    (1..=last)
        .filter(|number| own.is_none() || exchange_of(failure, *number) == own)
        .filter_map(|number| said(failure, number))
        .filter(|(mark, text)| *mark == "→" && !text.starts_with("HTTP "))
        .map(|(_, text)| text)
        .collect()
}

/// What is worth showing of an exchange without a message.
fn http_of(http: &Value) -> String {
    let member = |name: &str| http.get(name).map(Value::to_string);
    let parts = ["method", "status", "sse", "body", "end"].iter().filter_map(|name| {
        let text = member(name)?;
        Some(text.trim_matches('"').to_owned())
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// The HTTP exchange of a line.
fn exchange_of(failure: &Failure, number: u64) -> Option<u64> {
    let record: Value = serde_json::from_slice(&failure.recording.line(number)?).ok()?;
    record.pointer("/http/exchange")?.as_u64()
}

fn said(failure: &Failure, number: u64) -> Option<(&'static str, String)> {
    let line = failure.recording.line(number)?;
    let record: Value = serde_json::from_slice(&line).ok()?;
    let mark = if record["from"] == "client" { "→" } else { "←" };
    let mut tape = Tape::new();
    let document = tape.parse(&line, LIMITS).ok()?;
    // The message as it was sent, to the byte.
    let text = match (message_of(document.root()), record["raw"].as_str()) {
        (Some(message), _) => String::from_utf8_lossy(message.raw()).into_owned(),
        (None, Some(raw)) => raw.to_owned(),
        (None, None) => format!("HTTP {}", http_of(&record["http"])),
    };
    Some((mark, text))
}
