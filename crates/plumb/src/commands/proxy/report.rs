//! What a proxy prints on standard error while it runs.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write as _},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use mcp_core::Side;
use mcp_jsonrpc::MessageKind;
use mcp_proxy::{Counts, Observation, TapEvent, Watcher};
use mcp_rules::{Finding, Limits, LineReader, Severity};

use crate::{
    live::{LiveEntry, LiveView},
    plan::Verbosity,
    style::{Palette, stderr_width},
    text::{counted, shown_path, visible},
};

/// Maximum findings shown per rule and side.
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
    /// Findings as JSON, and everything else as log entries.
    Log,
    /// Every message, with its findings.
    EveryMessage,
}

type Kind = (&'static str, Option<Side>);

impl Report {
    pub(super) fn new(palette: Palette, verbosity: Verbosity, style: ReportStyle) -> Report {
        Report { palette, verbosity, style, alike: Arc::default() }
    }

    /// The watcher that prints, unless nothing is to be printed.
    pub(super) fn watcher(&self, limits: &Limits) -> Option<Watcher> {
        if self.verbosity == Verbosity::Quiet {
            return None;
        }
        match self.style {
            ReportStyle::Json => return Some(Box::new(print_json)),
            ReportStyle::Log => {
                return Some(Box::new(|event| {
                    print_json(event);
                    if !event.refusals.is_empty() {
                        let what = held_back(event);
                        tracing::info!(line = event.number, "a message was {what}");
                    }
                }));
            }
            ReportStyle::EveryMessage => return Some(self.tail(limits)),
            ReportStyle::Findings => {}
        }
        let (palette, alike) = (self.palette, Arc::clone(&self.alike));
        Some(Box::new(move |event| {
            let mut alike = alike.lock().unwrap_or_else(PoisonError::into_inner);
            let text = described(event, &palette, &mut alike);
            if !text.is_empty() {
                // If standard error is closed, the traffic still has to pass.
                let _ = io::stderr().write_all(text.as_bytes());
            }
        }))
    }

    /// Prints a line for every message, with its findings below.
    fn tail(&self, limits: &Limits) -> Watcher {
        let view = LiveView { palette: self.palette, width: stderr_width() };
        let mut reader = LineReader::new(limits);
        Box::new(move |event| {
            let findings: Vec<Finding> = event.findings.iter().copied().cloned().collect();
            let mut text = if event.line.is_empty() {
                findings.iter().map(|finding| view.finding(0, finding)).collect()
            } else {
                let answered = match event.messages {
                    [one] if one.kind == Some(MessageKind::Response) => one.method.as_deref(),
                    _ => None,
                };
                reader.read(event.line, |line| {
                    view.show(&LiveEntry::of(line, answered), event.number, &findings)
                })
            };
            if !event.refusals.is_empty() {
                let _ = writeln!(text, "    {}", held_back(event));
            }
            let _ = io::stderr().write_all(text.as_bytes());
        })
    }

    /// Prints the summary.
    pub(super) fn finish(&self, counts: &Counts, records: &[PathBuf]) {
        if self.verbosity == Verbosity::Quiet || self.style == ReportStyle::Json {
            return;
        }
        if self.style == ReportStyle::Log {
            let records: Vec<String> = records.iter().map(|path| shown_path(path)).collect();
            tracing::info!(records = records.join(", "), "{}", summary(counts));
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

fn print_json(event: &TapEvent<'_>) {
    for finding in event.findings {
        let mut line = match upstream(event) {
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
fn upstream<'p>(event: &TapEvent<'p>) -> Option<&'p str> {
    event.observation.and_then(Observation::upstream).map(|name| &**name)
}

fn described(event: &TapEvent<'_>, palette: &Palette, alike: &mut BTreeMap<Kind, u64>) -> String {
    let mut text = String::new();
    for finding in event.findings {
        let count = alike.entry((finding.rule.name, finding.at_fault)).or_default();
        *count += 1;
        if *count <= ALIKE {
            describe(finding, upstream(event), palette, &mut text);
        }
    }
    if !event.refusals.is_empty() {
        let what = held_back(event);
        let _ = writeln!(text, "plumb: message {} was {what}", event.number);
    }
    text
}

fn held_back(event: &TapEvent<'_>) -> &'static str {
    if event.passes_in_part { "passed on in part" } else { "held back" }
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
        (counts.unjudged, "not judged because they came too fast"),
        (counts.lost, "neither judged nor recorded because they came too fast"),
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
