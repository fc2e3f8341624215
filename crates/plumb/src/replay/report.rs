//! Reports of a replay, human-readable and as JSON.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use mcp_core::Side;
use mcp_proxy::replay::ReplaySummary;
use mcp_rules::Severity;
use serde_json::json;

use super::Shift;
use crate::{
    diff::{DiffReport, Difference, HumanDiff, JsonDiff, Totals},
    style::Palette,
    text::{Layout, counted, visible, write_json},
};

/// Receives what has changed.
pub(crate) trait ReplayReport: DiffReport {
    /// Reports a kind of finding that occurs more or less often.
    fn shift(&mut self, shift: &Shift<'_>) -> io::Result<()>;
    /// Ends the report.
    fn end(&mut self, played: &ReplaySummary, totals: &Totals) -> io::Result<()>;
}

/// The human-readable report.
pub(crate) struct HumanReplay<W> {
    pub(crate) differences: HumanDiff<W>,
    pub(crate) has_shown: bool,
}

impl<W: Write> DiffReport for HumanReplay<W> {
    fn difference(&mut self, difference: &Difference) -> io::Result<()> {
        self.has_shown = true;
        self.differences.difference(difference)
    }

    fn finish(&mut self, totals: &Totals) -> io::Result<()> {
        self.differences.finish(totals)
    }
}

impl<W: Write> ReplayReport for HumanReplay<W> {
    fn shift(&mut self, shift: &Shift<'_>) -> io::Result<()> {
        self.has_shown = true;
        let Palette { error, warning, good, .. } = self.differences.palette;
        let Shift { example, then, now } = shift;
        let (style, word) = if now > then { (error, "finding") } else { (good, "gone") };
        let level = match example.severity {
            Severity::Error => error,
            Severity::Warning => warning,
        };
        let mut text = format!(
            "{style}{word:<8}{style:#} {level}{}[{}]{level:#}",
            example.severity.as_str(),
            example.rule.name
        );
        if let Some(side) = example.at_fault {
            let _ = write!(text, " by the {side}");
        }
        let _ = write!(text, ": {}", visible(&example.message));
        let (old, new) = &self.differences.names;
        let name = if now > then { new } else { old };
        let line = example.line.map(|line| format!("{}:{line}", visible(name)));
        let counts = (*then > 0 && *now > 0).then(|| format!("{then} then, {now} now"));
        let facts: Vec<String> = line.into_iter().chain(counts).collect();
        if !facts.is_empty() {
            let _ = write!(text, " ({})", facts.join("; "));
        }
        writeln!(self.differences.out, "{text}")
    }

    fn end(&mut self, played: &ReplaySummary, totals: &Totals) -> io::Result<()> {
        let out = &mut self.differences.out;
        if self.has_shown {
            writeln!(out)?;
        }
        write!(out, "{} sent; {}", counted(played.sent, "message"), totals.sentence())?;
        if played.unsent > 0 {
            write!(out, "; {} not sent", counted(played.unsent, "message"))?;
        }
        if played.unanswered > 0 {
            write!(out, "; {} did not come in time", counted(played.unanswered, "answer"))?;
        }
        if let Some(reason) = &played.ended {
            write!(out, "; {}", visible(reason))?;
        }
        writeln!(out)?;
        out.flush()
    }
}

/// One JSON object per difference.
pub(crate) struct JsonReplay<W> {
    pub(crate) differences: JsonDiff<W>,
}

impl<W: Write> DiffReport for JsonReplay<W> {
    fn difference(&mut self, difference: &Difference) -> io::Result<()> {
        self.differences.difference(difference)
    }

    fn finish(&mut self, totals: &Totals) -> io::Result<()> {
        self.differences.finish(totals)
    }
}

impl<W: Write> JsonReplay<W> {
    fn line(&mut self, value: &serde_json::Value) -> io::Result<()> {
        write_json(&mut self.differences.out, value, Layout::OneLine)?;
        self.differences.out.write_all(b"\n")
    }
}

impl<W: Write> ReplayReport for JsonReplay<W> {
    fn shift(&mut self, shift: &Shift<'_>) -> io::Result<()> {
        let Shift { example, then, now } = shift;
        self.line(&json!({
            "kind": "finding",
            "rule": example.rule.name,
            "severity": example.severity.as_str(),
            "atFault": example.at_fault.map(Side::as_str),
            "method": example.method,
            "message": example.message,
            "line": example.line,
            "then": then,
            "now": now,
        }))
    }

    fn end(&mut self, played: &ReplaySummary, _: &Totals) -> io::Result<()> {
        let ReplaySummary { unsent, unanswered, ended, .. } = played;
        if *unsent > 0 || *unanswered > 0 || ended.is_some() {
            self.line(&json!({
                "kind": "incomplete",
                "unsent": unsent,
                "unanswered": unanswered,
                "ended": ended,
            }))?;
        }
        self.differences.out.flush()
    }
}
