use std::fmt::Write as _;

use mcp_core::{Revision, Revisions};
use mcp_rules::{Level, RuleMeta};

use super::{Row, by_layer, revisions};
use crate::render;

/// A page with one table per layer. `docs/rules.md` is made from it.
pub(super) fn page(rows: &[Row]) -> String {
    let mut out = String::from("# Rules\n");
    for (layer, rows) in by_layer(rows) {
        let _ = write!(
            out,
            "\n## {layer}\n\n| rule | level | revisions | what is wrong | specification |\n\
             |---|---|---|---|---|\n"
        );
        for Row { rule, level } in rows {
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} | {} |",
                rule.name,
                describe(level),
                if rule.applies == Revisions::ALL {
                    "all".to_owned()
                } else {
                    revisions::describe(rule.applies)
                },
                rule.summary().trim_end_matches('.').replace('|', "\\|"),
                clause(rule)
            );
        }
    }
    out
}

fn describe(level: Level) -> String {
    match level {
        Level::ErrorIn(of_error) => {
            format!("error {}, else warning", revisions::describe(of_error))
        }
        Level::Error | Level::Warning | Level::OptIn => level.to_string(),
    }
}

fn clause(rule: &RuleMeta) -> String {
    match render::specification_url(rule, Some(Revision::LATEST)) {
        Some(url) => format!("[{}]({url})", rule.clause),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use mcp_rules::Layer;

    use super::{
        super::testing::{all, of_layer},
        *,
    };

    #[test]
    fn every_rule_has_a_row() {
        let text = page(&all());
        assert_eq!(text.lines().filter(|line| line.starts_with("| `")).count(), all().len());
        for line in text.lines().filter(|line| line.starts_with('|')) {
            let columns = line.replace("\\|", "").matches('|').count();
            assert_eq!(columns, 6, "{line}");
        }
    }

    #[test]
    fn pages_get_a_table_per_layer() {
        insta::assert_snapshot!(page(&of_layer(Layer::Json)));
    }
}
