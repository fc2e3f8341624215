use std::{cmp::Reverse, fmt::Write as _};

use mcp_core::Side;
use mcp_rules::Severity;

use super::Look;
use crate::{render::tally, report::Summary, style::Palette, text::width};

impl Look {
    /// Counts by rule and side, then everything in one sentence.
    pub(super) fn totals(&self, summary: &Summary) -> String {
        let Palette { bold, dim, .. } = self.palette;
        let mut out = String::new();
        let mut rows: Vec<_> = summary.by_rule.iter().collect();
        rows.sort_by_key(|(_, counts)| (Reverse(counts.errors), Reverse(counts.warnings)));
        let longest = rows.iter().map(|((rule, _), _)| rule.len()).max().unwrap_or(0);
        for ((rule, at_fault), counts) in rows {
            let side = at_fault.map_or("", Side::as_str);
            let style =
                self.severity(if counts.errors > 0 { Severity::Error } else { Severity::Warning });
            let numbers = tally::counts(*counts);
            let _ =
                writeln!(out, "  {rule:longest$}  {dim}{side:6}{dim:#}  {style}{numbers}{style:#}");
        }
        if !out.is_empty() {
            out.push('\n');
        }
        let style = match (summary.errors, summary.warnings) {
            (0, 0) => self.palette.good,
            (0, _) => self.palette.warning,
            _ => self.palette.error,
        };
        let outcome = tally::outcome(summary);
        let (extent, sides) = (tally::extent(summary), tally::sides(summary));
        let _ = write!(out, "{style}{outcome}{style:#}{bold} in {extent}{bold:#}");
        if width(&tally::sentence(summary)) <= self.width {
            let _ = writeln!(out, "{sides}");
        } else {
            let _ = writeln!(out, "{}", sides.replacen(": ", ":\n  ", 1));
        }
        for remark in tally::remarks(summary) {
            let _ = writeln!(out, "{dim}{remark}{dim:#}");
        }
        out
    }
}
