//! What a proxy says on standard error while it runs.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write as _},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use mcp_core::Side;
use mcp_jsonrpc::MessageKind;
use mcp_proxy::{Counts, Observation, Passage, Watcher};
use mcp_rules::{Finding, Limits, LineReader, Severity};

use crate::{
    live::{LiveView, Passing},
    plan::Verbosity,
    style::{Palette, stderr_width},
    text::{counted, shown_path, visible},
};

/// Findings of one rule and side that are shown; more would be of no use.
const ALIKE: u64 = 10;

/// Prints findings as they come, and a summary.
pub(super) struct Report {
    palette: Palette,
    verbosity: Verbosity,
    style: ReportStyle,
    alike: Arc<Mutex<BTreeMap<Kind, u64>>>,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportStyle {
    /// Findings, for people, and a summary.
    Findings,
    /// Findings, one per line, for programs.
    Json,
    /// Every message, with its findings.
    EveryMessage,
}

type Kind = (&'static str, Option<Side>);

impl Report {
    pub(super) fn new(palette: Palette, verbosity: Verbosity, style: ReportStyle) -> Report {
        Report { palette, verbosity, style, alike: Arc::default() }
    }

    /// What sees the traffic, unless nothing is to be printed.
    pub(super) fn watcher(&self, limits: &Limits) -> Option<Watcher> {
        if self.verbosity == Verbosity::Quiet {
            return None;
        }
        match self.style {
            ReportStyle::Json => return Some(Box::new(print_json)),
            ReportStyle::EveryMessage => return Some(self.tail(limits)),
            ReportStyle::Findings => {}
        }
        let (palette, alike) = (self.palette, Arc::clone(&self.alike));
        Some(Box::new(move |passage| {
            let mut alike = alike.lock().unwrap_or_else(PoisonError::into_inner);
            let text = described(passage, &palette, &mut alike);
            if !text.is_empty() {
                // If nobody listens, the traffic still has to pass.
                let _ = io::stderr().write_all(text.as_bytes());
            }
        }))
    }

    /// Prints a line for every message, with its findings below.
    fn tail(&self, limits: &Limits) -> Watcher {
        let view = LiveView { palette: self.palette, width: stderr_width() };
        let mut reader = LineReader::new(limits);
        Box::new(move |passage| {
            let findings: Vec<Finding> = passage.findings.iter().copied().cloned().collect();
            let mut text = if passage.line.is_empty() {
                findings.iter().map(|finding| view.finding(0, finding)).collect()
            } else {
                let answered = match passage.messages {
                    [one] if one.kind == Some(MessageKind::Response) => one.method.as_deref(),
                    _ => None,
                };
                reader.read(passage.line, |line| {
                    view.show(&Passing::of(line, answered), passage.number, &findings)
                })
            };
            if !passage.refusals.is_empty() {
                text.push_str("    held back\n");
            }
            let _ = io::stderr().write_all(text.as_bytes());
        })
    }

    /// Prints what all of it came to.
    pub(super) fn finish(&self, counts: &Counts, records: &[PathBuf]) {
        if self.verbosity == Verbosity::Quiet || self.style == ReportStyle::Json {
            return;
        }
        let mut text = String::new();
        let alike = self.alike.lock().unwrap_or_else(PoisonError::into_inner);
        for ((rule, side), count) in alike.iter().filter(|(_, count)| **count > ALIKE) {
            let more = counted(count - ALIKE, "more finding");
            let _ = writeln!(text, "plumb: {more} of {rule}{}", by(*side));
        }
        let _ = writeln!(text, "plumb: {}", summary(counts));
        for path in records.iter().filter(|_| !counts.record_failed) {
            let _ = writeln!(text, "plumb: recorded in {}", shown_path(path));
        }
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

fn print_json(passage: &Passage<'_>) {
    for finding in passage.findings {
        let mut line = match upstream(passage) {
            Some(upstream) => serde_json::to_vec(&OfUpstream { upstream, finding }),
            None => serde_json::to_vec(finding),
        }
        .unwrap_or_default();
        line.push(b'\n');
        let _ = io::stderr().write_all(&line);
    }
}

/// A finding in the traffic of one of several servers.
#[derive(serde::Serialize)]
struct OfUpstream<'a> {
    upstream: &'a str,
    #[serde(flatten)]
    finding: &'a Finding,
}

/// The server whose traffic it is, if there are several.
fn upstream<'p>(passage: &Passage<'p>) -> Option<&'p str> {
    passage.observation.and_then(Observation::upstream).map(|name| &**name)
}

fn described(passage: &Passage<'_>, palette: &Palette, alike: &mut BTreeMap<Kind, u64>) -> String {
    let mut text = String::new();
    for finding in passage.findings {
        let count = alike.entry((finding.rule.name, finding.at_fault)).or_default();
        *count += 1;
        if *count <= ALIKE {
            describe(finding, upstream(passage), palette, &mut text);
        }
    }
    if !passage.refusals.is_empty() {
        let _ = writeln!(text, "plumb: message {} was held back", passage.number);
    }
    text
}

fn describe(finding: &Finding, upstream: Option<&str>, palette: &Palette, out: &mut String) {
    let style = match finding.severity {
        Severity::Error => palette.error,
        Severity::Warning => palette.warning,
    };
    let _ = write!(
        out,
        "plumb: {style}{}[{}]{style:#}{}: {}",
        finding.severity.as_str(),
        finding.rule.name,
        by(finding.at_fault),
        visible(&finding.message)
    );
    let place = finding.pointer.as_deref().filter(|pointer| !pointer.is_empty());
    if let Some(place) = place {
        let _ = write!(out, " at {}", visible(place));
    }
    let line = finding.line.map(|line| format!("message {line}"));
    let facts: Vec<String> = line.into_iter().chain(finding.method.map(str::to_owned)).collect();
    let facts: Vec<String> =
        upstream.map(|name| format!("/{name}")).into_iter().chain(facts).collect();
    if !facts.is_empty() {
        let _ = write!(out, " ({})", facts.join(", "));
    }
    out.push('\n');
    if let Some(help) = &finding.help {
        let _ = writeln!(out, "plumb:   help: {}", visible(help));
    }
}

fn by(side: Option<Side>) -> String {
    side.map(|side| format!(" by the {side}")).unwrap_or_default()
}

fn summary(counts: &Counts) -> String {
    let of = |by_side: [u64; 2], noun: &str| {
        let [client, server] = by_side;
        match client + server {
            0 => format!("no {noun}s"),
            total => {
                format!("{} ({client} by the client, {server} by the server)", counted(total, noun))
            }
        }
    };
    let mut text = format!(
        "{}, {}, {}",
        counted(counts.messages, "message"),
        of(counts.errors, "error"),
        of(counts.warnings, "warning")
    );
    for (count, what) in [
        (counts.rejected, "held back"),
        (counts.unjudged, "not judged: they came too fast"),
        (counts.lost, "neither judged nor recorded: they came too fast"),
    ] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    if counts.record_failed {
        text.push_str(", the recording is incomplete");
    }
    text
}
