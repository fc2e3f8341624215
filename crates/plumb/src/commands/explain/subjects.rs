use std::io::{self, Read};

use mcp_rules::RuleMeta;
use serde_json::Value;

use super::found;
use crate::{failure::Failure, names};

/// How many findings of a rule are shown.
const MAX_FOUND: usize = 5;
/// Maximum bytes read from standard input.
const MAX_INPUT_BYTES: u64 = 64 * 1024 * 1024;

/// What to explain, in the order requested, each rule once.
#[derive(Debug, Default)]
pub(super) struct Subjects(Vec<Subject>);

/// A rule, and findings of it.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) rule: &'static RuleMeta,
    /// The findings, as Markdown.
    pub(super) found: Vec<String>,
    /// How many more there were.
    pub(super) more: u64,
}

impl Subjects {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Subject> {
        self.0.iter()
    }

    /// Adds the rules and findings on standard input.
    pub(super) fn read(&mut self, input: impl Read) -> anyhow::Result<()> {
        let mut text = Vec::new();
        input.take(MAX_INPUT_BYTES).read_to_end(&mut text).map_err(|error: io::Error| {
            Failure::new("could not read standard input").because(error)
        })?;
        let text = String::from_utf8_lossy(&text);
        if text.trim().is_empty() {
            let failure = Failure::new("nothing to explain: standard input is empty");
            return Err(failure.hint("pipe in rule names, or `plumb check --format json`").into());
        }
        self.add(&text)
    }

    /// Adds the findings in `text`, or one rule per line.
    pub(super) fn add(&mut self, text: &str) -> anyhow::Result<()> {
        let text = text.trim();
        if text.starts_with(['{', '[']) {
            return self.add_findings(text);
        }
        // Empty text is a misspelt name like any other.
        let first = text.lines().next().unwrap_or_default();
        let others = text.lines().skip(1).filter(|line| !line.trim().is_empty());
        for line in std::iter::once(first).chain(others) {
            self.subject(name_in(line))?;
        }
        Ok(())
    }

    fn add_findings(&mut self, text: &str) -> anyhow::Result<()> {
        for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            let value = value.map_err(|error| {
                Failure::new("this starts like a finding but is not JSON")
                    .because(error)
                    .hint(PASTE)
            })?;
            let name = value["rule"].as_str().ok_or_else(|| {
                Failure::new("this is JSON but not a finding: it has no `rule`").hint(PASTE)
            })?;
            let subject = self.subject(name)?;
            match found::describe(&value) {
                Some(found) if subject.found.len() < MAX_FOUND => subject.found.push(found),
                Some(_) => subject.more += 1,
                None => {}
            }
        }
        Ok(())
    }

    /// The entry of the rule called `name`.
    fn subject(&mut self, name: &str) -> anyhow::Result<&mut Subject> {
        let rule = names::rule(name).map_err(|unknown| {
            let hint = match names::containing(name).as_slice() {
                near if unknown.near.is_none() && (1..=12).contains(&near.len()) => {
                    format!("similar names: {}", near.join(", "))
                }
                _ => "`plumb rules` lists them".to_owned(),
            };
            Failure::new(unknown.to_string()).hint(hint)
        })?;
        let known = self.0.iter().position(|subject| subject.rule == rule);
        let index = known.unwrap_or_else(|| {
            self.0.push(Subject { rule, found: Vec::new(), more: 0 });
            self.0.len() - 1
        });
        Ok(&mut self.0[index])
    }
}

const PASTE: &str = "paste a line of `plumb check --format json`, or name a rule";

/// The name in `params-invalid` or `error[params-invalid] by the client: …`.
fn name_in(line: &str) -> &str {
    let line = line.trim();
    match line.split_once('[') {
        Some(("error" | "warning", rest)) => rest.split(']').next().unwrap_or(rest),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> anyhow::Result<Vec<&'static str>> {
        let mut subjects = Subjects::default();
        subjects.add(text)?;
        Ok(subjects.iter().map(|subject| subject.rule.name).collect())
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(names(text).unwrap(), expected);
    }

    #[track_caller]
    fn check_rejected(text: &str, expected: &str) {
        let error = names(text).unwrap_err();
        let said = crate::failure::describe(&error, &crate::style::Palette::plain());
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("help: "), "{said}");
    }

    #[test]
    fn a_rule_may_be_named_in_several_ways() {
        check("params-invalid", &["params-invalid"]);
        check(" error[params-invalid]: ", &["params-invalid"]);
        check("warning[method-unknown] by the server: no", &["method-unknown"]);
        check(r#"{"file":"a","rule":"params-invalid","severity":"error"}"#, &["params-invalid"]);
    }

    #[test]
    fn each_rule_is_explained_once() {
        check(
            "{\"rule\":\"params-invalid\"}\n{\"rule\":\"method-unknown\"}{\"rule\":\"params-invalid\"}",
            &["params-invalid", "method-unknown"],
        );
        check("method-unknown\n\n params-invalid\r\n", &["method-unknown", "params-invalid"]);
    }

    #[test]
    fn unknown_rules_are_rejected() {
        check_rejected("param-invalid", "did you mean `params-invalid`?");
        check_rejected("weather", "`plumb rules` lists them");
        check_rejected("", "there is no rule ``");
        check_rejected("batch", "similar names: batch-not-supported, batch-empty");
        check_rejected("{\"rule\":\"parms-invalid\"}", "did you mean `params-invalid`?");
    }

    #[test]
    fn invalid_findings_are_rejected() {
        check_rejected("{\"jsonrpc\":\"2.0\"}", "no `rule`");
        check_rejected("[{\"rule\":\"params-invalid\"}]", "no `rule`");
        check_rejected("{\"rule\":7}", "no `rule`");
        check_rejected("{", "is not JSON");
        check_rejected("{\"rule\":\"params-invalid\"} x", "is not JSON");
        check_rejected(&"{\"a\":".repeat(10_000), "is not JSON");
    }

    #[test]
    fn standard_input_may_not_be_empty() {
        let mut subjects = Subjects::default();
        let error = subjects.read(&b" \n"[..]).unwrap_err().to_string();
        assert!(error.contains("standard input is empty"), "{error}");
        subjects.read(&b"params-invalid\n"[..]).unwrap();
        assert_eq!(subjects.iter().count(), 1);
    }
}
