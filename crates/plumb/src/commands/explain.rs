use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
};

use mcp_core::Revision;
use mcp_rules::Meta;
use serde_json::Value;

use super::Outcome;
use crate::{
    args::{Color, ExplainArgs},
    failure::Failure,
    markdown, names, render,
    style::{self, Palette},
};

/// Prints what is known about a rule: laid out on a terminal, as Markdown elsewhere.
pub(crate) fn explain(args: &ExplainArgs, color: Color) -> anyhow::Result<Outcome> {
    let rule = rule_of(&args.rule)?;
    let text = if io::stdout().is_terminal() || color == Color::Always {
        let palette = Palette::of_stdout(color);
        markdown::laid_out(&page(rule), &palette, style::stdout_width())
    } else {
        page(rule)
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Outcome::Clean)
}

/// The rule that `text` names: by itself, in a finding, or as `error[name]`.
fn rule_of(text: &str) -> anyhow::Result<&'static Meta> {
    let text = text.trim();
    let finding = text.starts_with('{').then(|| first_object(text));
    let name = match &finding {
        Some(finding) => {
            finding.as_ref().and_then(|finding| finding["rule"].as_str()).ok_or_else(|| {
                Failure::new("this is JSON, but not a finding: it has no `rule`")
                    .hint("paste a line of `plumb check --format json`, or name a rule")
            })?
        }
        None => match text.split_once('[') {
            Some(("error" | "warning", rest)) => rest.trim_end_matches([']', ':']),
            _ => text,
        },
    };
    let rule = names::rule(name)
        .map_err(|error| Failure::new(error.to_string()).hint("`plumb rules` lists them"))?;
    Ok(rule)
}

/// Several findings may have been pasted; the first counts.
fn first_object(text: &str) -> Option<Value> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.next()?.ok()
}

/// The docs with the facts of the rule below their first line.
fn page(rule: &Meta) -> String {
    let (title, rest) = rule.docs.split_once('\n').unwrap_or((rule.docs, ""));
    let title = title.trim_start_matches("# ").trim();
    let mut out = format!("# {}: {title}\n\n", rule.name);
    let _ = writeln!(out, "- level: {}", rule.level);
    let _ = writeln!(out, "- layer: {}", rule.layer);
    let _ = writeln!(out, "- revisions: {}", rule.applies);
    if let Some(url) = render::specification_url(rule, Some(Revision::LATEST)) {
        let _ = writeln!(out, "- specification: {url}");
    }
    let _ = writeln!(out, "\n{}", rest.trim());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(rule_of(text).unwrap().name, expected);
    }

    #[test]
    fn a_rule_may_be_named_in_several_ways() {
        check("params-invalid", "params-invalid");
        check(" error[params-invalid]: ", "params-invalid");
        check("warning[method-unknown]", "method-unknown");
        check(r#"{"file":"a","rule":"params-invalid","severity":"error"}"#, "params-invalid");
        check("{\"rule\":\"params-invalid\"}\n{\"rule\":\"method-unknown\"}", "params-invalid");
    }

    #[test]
    fn what_names_no_rule_is_refused() {
        let error = rule_of("param-invalid").unwrap_err().to_string();
        assert!(error.contains("did you mean `params-invalid`?"), "{error}");
        let error = rule_of("{\"jsonrpc\":\"2.0\"}").unwrap_err().to_string();
        assert!(error.contains("no `rule`"), "{error}");
        assert!(rule_of("{").is_err());
    }

    #[test]
    fn the_page_begins_with_the_facts() {
        let page = page(names::rule("params-invalid").unwrap());
        assert!(page.starts_with("# params-invalid: The params of a request do not fit"), "{page}");
        assert!(page.contains("- level: error\n") && page.contains("## Why it hurts"), "{page}");
    }
}
