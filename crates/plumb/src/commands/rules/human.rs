use std::fmt::Write as _;

use mcp_core::{Revision, Revisions};
use mcp_rules::{Level, Severity};

use super::{Row, by_layer, revisions};
use crate::{
    style::Palette,
    text::{counted, wrap},
};

/// One table per layer; a revision determines the levels that depend on it.
pub(super) fn table(
    rows: &[Row],
    revision: Option<Revision>,
    palette: Palette,
    width: usize,
) -> String {
    let Palette { bold, dim, error, warning, accent, .. } = palette;
    let longest = rows.iter().map(|row| row.rule.name.len()).max().unwrap_or(0);
    // Two spaces, name, two spaces, level, two spaces.
    let indent = longest + 13;
    let mut out = String::new();
    for (layer, rows) in by_layer(rows) {
        let _ = writeln!(out, "{bold}{layer}{bold:#}");
        for row in rows {
            let severity = match revision {
                Some(revision) => row.level.severity(revision),
                None => strictest(row.level),
            };
            let (level, style) = match severity {
                Some(Severity::Error) => ("error", error),
                Some(Severity::Warning) => ("warning", warning),
                None => ("off", dim),
            };
            let name = row.rule.name;
            let room = width.saturating_sub(indent).max(20);
            for (position, line) in wrap(&description(row), room, room).iter().enumerate() {
                if position == 0 {
                    let _ = write!(
                        out,
                        "  {accent}{name:longest$}{accent:#}  {style}{level:7}{style:#}  "
                    );
                } else {
                    let _ = write!(out, "{:indent$}", "");
                }
                let _ = writeln!(out, "{line}");
            }
        }
        out.push('\n');
    }
    let count = counted(rows.len() as u64, "rule");
    let _ = writeln!(out, "{count}; `plumb explain RULE` says more about one");
    out
}

/// The highest severity of a level.
fn strictest(level: Level) -> Option<Severity> {
    Revision::ALL.into_iter().filter_map(|revision| level.severity(revision)).max()
}

/// The summary, plus what the table does not show: levels that depend on the revision, and which
/// revisions apply.
fn description(row: Row) -> String {
    let mut description = row.rule.summary().trim_end_matches('.').to_owned();
    let mut remarks = Vec::new();
    if row.rule.applies != Revisions::ALL {
        remarks.push(revisions::describe(row.rule.applies));
    }
    if let Level::ErrorIn(of_error) = row.level {
        remarks.push(format!("error {}, else a warning", revisions::describe(of_error)));
    }
    if !remarks.is_empty() {
        let _ = write!(description, " ({})", remarks.join("; "));
    }
    description
}

#[cfg(test)]
mod tests {
    use mcp_rules::Layer;

    use super::{
        super::testing::{all, of_layer},
        *,
    };

    #[test]
    fn lines_fit_the_terminal() {
        let text = table(&all(), None, Palette::plain(), 80);
        assert!(text.lines().all(|line| crate::text::width(line) <= 80), "{text}");
        for row in all() {
            assert!(text.contains(row.rule.name), "{}", row.rule.name);
        }
    }

    #[test]
    fn people_get_a_table_per_layer() {
        insta::assert_snapshot!(table(&of_layer(Layer::JsonRpc), None, Palette::plain(), 100));
    }

    #[test]
    fn a_revision_determines_the_level() {
        let schema = of_layer(Layer::Schema);
        let level = |revision| {
            let text = table(&schema, Some(revision), Palette::plain(), 100);
            let line = text.lines().find(|line| line.contains("method-not-in-revision")).unwrap();
            line.split_whitespace().nth(1).unwrap().to_owned()
        };
        assert_eq!(level(Revision::V2024_11_05), "warning");
        assert_eq!(level(Revision::V2025_11_25), "error");
    }

    #[test]
    fn an_empty_list_is_reported() {
        let text = table(&[], None, Palette::plain(), 80);
        assert_eq!(text, "0 rules; `plumb explain RULE` says more about one\n");
    }
}
