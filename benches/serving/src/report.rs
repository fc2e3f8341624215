//! Tables.

use std::{fmt::Write as _, time::Duration};

use crate::sample::Summary;

/// A table for one kind of load; ratios are relative to the first row.
pub fn table(title: &str, rows: &[(&str, Summary)]) -> String {
    let mut out = format!(
        "### {title}\n\n| server | requests/s | vs. first | p50 | p99 | CPU time per request |\n|---|---:|---:|---:|---:|---:|\n"
    );
    for (name, summary) in rows {
        let ratio = summary.per_second / rows[0].1.per_second;
        let _ = writeln!(
            out,
            "| {name} | {:.0} | {ratio:.2} | {} | {} | {:.1} µs |",
            summary.per_second,
            micros(summary.p50),
            micros(summary.p99),
            summary.work.as_secs_f64() * 1e6
        );
    }
    out.push('\n');
    out
}

fn micros(duration: Duration) -> String {
    format!("{:.0} µs", duration.as_secs_f64() * 1e6)
}
