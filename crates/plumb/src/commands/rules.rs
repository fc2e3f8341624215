use std::{
    fmt::Write as _,
    io::{self, Write as _},
};

use mcp_core::{Revision, Revisions};
use mcp_rules::{Layer, Level, Meta, Severity};
use serde_json::{Value, json};

use super::Outcome;
use crate::{
    args::{Color, RulesArgs, RulesFormat},
    style::{self, Palette},
    text::{counted, wrap},
};

/// Lists the rules.
pub(crate) fn rules(args: &RulesArgs, color: Color) -> anyhow::Result<Outcome> {
    let rules: Vec<&Meta> = mcp_rules::catalogue()
        .filter(|rule| args.revision.is_none_or(|revision| rule.applies.contains(revision)))
        .filter(|rule| args.layer.is_none_or(|layer| rule.layer == layer))
        .collect();
    let text = match args.format {
        RulesFormat::Human => {
            human(&rules, args.revision, Palette::of_stdout(color), style::stdout_width())
        }
        RulesFormat::Json => json(&rules)?,
        RulesFormat::Markdown => markdown(&rules),
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Outcome::Clean)
}

/// The rules of each layer that has some.
fn by_layer(rules: &[&'static Meta]) -> impl Iterator<Item = (Layer, Vec<&'static Meta>)> {
    Layer::ALL.into_iter().filter_map(move |layer| {
        let of_layer: Vec<&Meta> =
            rules.iter().copied().filter(|rule| rule.layer == layer).collect();
        (!of_layer.is_empty()).then_some((layer, of_layer))
    })
}

fn human(
    rules: &[&'static Meta],
    revision: Option<Revision>,
    palette: Palette,
    width: usize,
) -> String {
    let Palette { bold, dim, error, warning, accent, .. } = palette;
    let longest = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    // Two spaces, name, two spaces, level, two spaces.
    let indent = longest + 13;
    let mut out = String::new();
    for (layer, rules) in by_layer(rules) {
        let _ = writeln!(out, "{bold}{layer}{bold:#}");
        for rule in rules {
            let (level, style) = match revision
                .map_or(strictest(rule.level), |revision| rule.level.severity(revision))
            {
                Some(Severity::Error) => ("error", error),
                Some(Severity::Warning) => ("warning", warning),
                None => ("off", dim),
            };
            let remark = remark(rule);
            let mut description = rule.summary().trim_end_matches('.').to_owned();
            if !remark.is_empty() {
                let _ = write!(description, " ({remark})");
            }
            let room = width.saturating_sub(indent).max(20);
            for (position, line) in wrap(&description, room, room).iter().enumerate() {
                if position == 0 {
                    let name = rule.name;
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
    let _ = writeln!(
        out,
        "{}; `plumb explain RULE` says more about one",
        counted(rules.len() as u64, "rule")
    );
    out
}

/// The highest severity a rule can have by itself.
fn strictest(level: Level) -> Option<Severity> {
    Revision::ALL.into_iter().filter_map(|revision| level.severity(revision)).max()
}

/// What the table does not show: a level that depends, revisions that are not all.
fn remark(rule: &Meta) -> String {
    let mut parts = Vec::new();
    if rule.applies != Revisions::ALL {
        parts.push(range(rule.applies));
    }
    if let Level::ErrorIn(revisions) = rule.level {
        parts.push(format!("error {}, else a warning", range(revisions)));
    }
    parts.join("; ")
}

/// `from 2025-06-18`, `up to 2025-03-26`, `2025-03-26 to 2025-06-18`, or `not in 2025-03-26`.
fn range(revisions: Revisions) -> String {
    let all: Vec<Revision> = revisions.iter().collect();
    let (Some(&first), Some(&last)) = (all.first(), all.last()) else {
        return "in no revision".to_owned();
    };
    if revisions != Revisions::between(first, last) {
        let missing = Revision::ALL
            .into_iter()
            .filter(|revision| !revisions.contains(*revision))
            .fold(Revisions::NONE, Revisions::and);
        return format!("not in {missing}");
    }
    if first == last {
        return format!("only {first}");
    }
    match (first == Revision::ALL[0], last == Revision::LATEST) {
        (true, true) => "in all revisions".to_owned(),
        (false, true) => format!("from {first}"),
        (true, false) => format!("up to {last}"),
        (false, false) => format!("{first} to {last}"),
    }
}

/// An array with a rule per line.
fn json(rules: &[&Meta]) -> serde_json::Result<String> {
    let describe = |rule: &&Meta| -> Value {
        let revisions: Vec<&str> = rule.applies.iter().map(Revision::as_str).collect();
        let levels: serde_json::Map<String, Value> = (rule.applies.iter())
            .map(|revision| {
                let severity = rule.level.severity(revision).map_or("off", Severity::as_str);
                (revision.to_string(), severity.into())
            })
            .collect();
        json!({
            "name": rule.name,
            "layer": rule.layer.as_str(),
            "levels": levels,
            "revisions": revisions,
            "spec": rule.clause,
            "summary": rule.summary(),
            "docs": rule.docs,
        })
    };
    let lines: Result<Vec<String>, _> =
        (rules.iter()).map(|rule| serde_json::to_string(&describe(rule))).collect();
    Ok(format!("[\n{}\n]\n", lines?.join(",\n")))
}

fn markdown(rules: &[&'static Meta]) -> String {
    let mut out = String::from("# Rules\n");
    for (layer, rules) in by_layer(rules) {
        let _ = write!(
            out,
            "\n## {layer}\n\n| rule | level | revisions | flags |\n|---|---|---|---|\n"
        );
        for rule in rules {
            let summary = rule.summary().replace('|', "\\|");
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {summary} |",
                rule.name, rule.level, rule.applies
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_layer(layer: Layer) -> Vec<&'static Meta> {
        mcp_rules::catalogue().filter(|rule| rule.layer == layer).collect()
    }

    #[test]
    fn lines_fit_the_terminal() {
        let all: Vec<_> = mcp_rules::catalogue().collect();
        let text = human(&all, None, Palette::plain(), 80);
        assert!(text.lines().all(|line| crate::text::width(line) <= 80), "{text}");
        for rule in &all {
            assert!(text.contains(rule.name), "{}", rule.name);
        }
    }

    #[test]
    fn people_get_a_table_per_layer() {
        insta::assert_snapshot!(human(&of_layer(Layer::JsonRpc), None, Palette::plain(), 100));
    }

    #[test]
    fn a_revision_settles_the_level() {
        let schema = of_layer(Layer::Schema);
        let level = |revision| {
            let text = human(&schema, Some(revision), Palette::plain(), 100);
            let line = text.lines().find(|line| line.contains("method-not-in-revision")).unwrap();
            line.split_whitespace().nth(1).unwrap().to_owned()
        };
        assert_eq!(level(Revision::V2024_11_05), "warning");
        assert_eq!(level(Revision::V2025_11_25), "error");
    }

    #[test]
    fn programs_get_an_array() {
        let all: Vec<_> = mcp_rules::catalogue().collect();
        let value: Value = serde_json::from_str(&json(&all).unwrap()).unwrap();
        assert_eq!(value.as_array().unwrap().len(), all.len());
        assert!(value[0]["name"].is_string() && value[0]["levels"]["2025-11-25"].is_string());
    }

    #[test]
    fn markdown_has_a_row_per_rule() {
        let rules = of_layer(Layer::Json);
        let text = markdown(&rules);
        assert_eq!(text.lines().filter(|line| line.starts_with("| `")).count(), rules.len());
    }

    #[test]
    fn ranges_read_as_people_say_them() {
        assert_eq!(range(Revisions::from(Revision::V2025_06_18)), "from 2025-06-18");
        assert_eq!(range(Revisions::only(Revision::V2025_03_26)), "only 2025-03-26");
        assert_eq!(range(Revisions::up_to(Revision::V2025_03_26)), "up to 2025-03-26");
        assert_eq!(range(Revisions::only(Revision::LATEST)), "only 2026-07-28");
    }
}
