//! `plumb explain`: documentation of rules, and of findings that were pasted in.

mod found;
mod subjects;

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
};

use mcp_core::Revision;
use mcp_rules::RuleMeta;

use self::subjects::{Subject, Subjects};
use super::Outcome;
use crate::{
    args::{Color, ExplainArgs},
    markdown, render,
    style::{self, Palette},
    text::grouped,
};

/// Prints a page per rule: laid out on a terminal, as Markdown elsewhere.
pub(crate) fn explain(args: &ExplainArgs, color: Color) -> anyhow::Result<Outcome> {
    let mut subjects = Subjects::default();
    for argument in &args.rules {
        match argument.as_str() {
            "-" => subjects.read(io::stdin().lock())?,
            text => subjects.add(text)?,
        }
    }
    let pages: Vec<String> = subjects.iter().map(page).collect();
    let mut text = pages.join("\n");
    if io::stdout().is_terminal() || color == Color::Always {
        text = markdown::laid_out(&text, &Palette::of_stdout(color), style::stdout_width());
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Outcome::Clean)
}

/// The docs of the rule, with its facts and the findings inserted below the first line.
fn page(subject: &Subject) -> String {
    let rule = subject.rule;
    let (title, rest) = rule.docs.split_once('\n').unwrap_or((rule.docs, ""));
    let title = title.trim_start_matches("# ").trim();
    let mut out = format!("# {}: {title}\n\n", rule.name);
    facts(rule, &mut out);
    if !subject.found.is_empty() {
        let _ = writeln!(out, "\n## What was found\n\n{}", subject.found.join("\n\n"));
    }
    if subject.more > 0 {
        let _ = writeln!(out, "\nAnd {} more like this.", grouped(subject.more));
    }
    let _ = writeln!(out, "\n{}", rest.trim());
    out
}

fn facts(rule: &RuleMeta, out: &mut String) {
    let _ = writeln!(out, "- level: {}", rule.level);
    let _ = writeln!(out, "- layer: {}", rule.layer);
    let _ = writeln!(out, "- revisions: {}", rule.applies);
    if let Some(url) = render::specification_url(rule, Some(Revision::LATEST)) {
        let _ = writeln!(out, "- specification: {url}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(text: &str) -> String {
        let mut subjects = Subjects::default();
        subjects.add(text).unwrap();
        subjects.iter().map(page).collect()
    }

    #[test]
    fn the_page_begins_with_the_facts() {
        let page = explained("params-invalid");
        assert!(
            page.starts_with("# params-invalid: The params of a request do not match"),
            "{page}"
        );
        assert!(page.contains("- level: error\n") && page.contains("## Why it hurts"), "{page}");
        assert!(!page.contains("What was found"), "{page}");
    }

    #[test]
    fn a_finding_comes_before_the_docs() {
        let page = explained(
            r#"{"file":"t.jsonl","rule":"params-invalid","severity":"error","from":"client","line":5,
            "message":"null is not of type \"string\"","instancePath":"/params/cursor"}"#,
        );
        let said = page.find("null is not of type").unwrap();
        assert!(said < page.find("## Why it hurts").unwrap(), "{page}");
    }

    #[test]
    fn many_findings_are_counted() {
        let one = r#"{"rule":"params-invalid","message":"it is wrong"}"#;
        let page = explained(&[one; 9].join("\n"));
        assert_eq!(page.matches("it is wrong").count(), 5, "{page}");
        assert!(page.contains("And 4 more like this.\n"), "{page}");
        assert!(explained(&[one; 6].join(" ")).contains("And 1 more like this.\n"));
    }
}
