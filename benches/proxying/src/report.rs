//! Tables and goals.

use std::{fmt::Write as _, fs, io, path::Path, time::Duration};

use crate::sample::Summary;

/// The figures of all contestants under one load.
#[derive(Debug)]
pub struct Table {
    /// The kind of load.
    pub title: String,
    /// Names and figures; the first is the baseline.
    pub rows: Vec<(&'static str, Summary)>,
}

impl Table {
    /// As Markdown.
    pub fn shown(&self) -> String {
        let mut out = format!(
            "### {}\n\n| between client and server | requests/s | vs. first | p50 | p99 | added p50 | CPU time per message |\n|---|---:|---:|---:|---:|---:|---:|\n",
            self.title
        );
        let Some((_, first)) = self.rows.first() else { return out };
        for (name, row) in &self.rows {
            let work = row.work.map_or("–".to_owned(), micros);
            let added = micros(row.p50.saturating_sub(first.p50));
            let _ = writeln!(
                out,
                "| {name} | {:.0} | {:.2} | {} | {} | {added} | {work} |",
                row.per_second,
                row.per_second / first.per_second,
                micros(row.p50),
                micros(row.p99)
            );
        }
        out.push('\n');
        out
    }

    /// The figures of a contestant.
    pub fn row(&self, name: &str) -> Option<&Summary> {
        self.rows.iter().find(|(other, _)| *other == name).map(|(_, summary)| summary)
    }

    /// The latency that a contestant adds to the median.
    pub fn added(&self, name: &str) -> Option<Duration> {
        let first = self.rows.first()?.1;
        Some(self.row(name)?.p50.saturating_sub(first.p50))
    }

    /// The throughput of one contestant relative to another.
    pub fn ratio(&self, one: &str, other: &str) -> Option<f64> {
        Some(self.row(one)?.per_second / self.row(other)?.per_second)
    }
}

/// A goal, and what was measured.
#[derive(Debug)]
pub struct Goal {
    /// The goal.
    pub demand: String,
    /// What was measured.
    pub measured: String,
    /// Whether the goal was reached; `None` if it was not measured.
    pub is_met: Option<bool>,
}

/// The goals as Markdown.
pub fn goals(goals: &[Goal]) -> String {
    let mut out = "### Goals\n\n| goal | reached | met |\n|---|---|---|\n".to_owned();
    for Goal { demand, measured, is_met } in goals {
        let is_met = match is_met {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "not measured",
        };
        let _ = writeln!(out, "| {demand} | {measured} | {is_met} |");
    }
    out.push('\n');
    out
}

const BEGIN: &str = "<!-- figures -->";
const END: &str = "<!-- end of figures -->";

/// Replaces the text between the markers of a file.
///
/// # Errors
///
/// If it cannot be read or written, or has no markers.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let old = fs::read_to_string(path)?;
    let parts =
        old.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| io::Error::other("the file has no markers"))?;
    fs::write(path, format!("{before}{BEGIN}\n\n{text}{END}{after}"))
}

/// A time in microseconds.
pub fn micros(duration: Duration) -> String {
    format!("{:.1} µs", duration.as_secs_f64() * 1e6)
}
