//! `JUnit` XML, as continuous integration servers read it: a suite per file, a case per finding.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
    sync::Arc,
};

use mcp_rules::Finding;

use super::{specification_url, tally};
use crate::{
    args::FailOn,
    report::{Located, Renderer, Summary},
};

/// Keeps findings until the end, since a suite begins with its counts.
pub(super) struct Junit<W> {
    out: W,
    /// Findings that fail the run are failed cases; the others pass and are only mentioned.
    fail_on: FailOn,
    suites: BTreeMap<Arc<str>, Suite>,
}

#[derive(Default)]
struct Suite {
    cases: String,
    tests: u64,
    failures: u64,
}

impl<W: Write> Junit<W> {
    pub(super) fn new(out: W, fail_on: FailOn) -> Junit<W> {
        Junit { out, fail_on, suites: BTreeMap::new() }
    }
}

impl<W: Write> Renderer for Junit<W> {
    fn wants_excerpts(&self) -> bool {
        false
    }

    fn finding(&mut self, located: &Located) -> io::Result<()> {
        let suite = self.suites.entry(located.file.clone()).or_default();
        suite.tests += 1;
        suite.failures += u64::from(self.fail_on.fails(located.finding.severity));
        case(located, self.fail_on, &mut suite.cases);
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let sentence = tally::sentence(summary);
        if self.suites.is_empty() {
            // A report without cases looks like a run that did not happen.
            let mut suite = Suite { tests: 1, ..Suite::default() };
            let name = attribute(&sentence);
            let _ = writeln!(suite.cases, "    <testcase name=\"{name}\" classname=\"plumb\"/>");
            self.suites.insert("plumb".into(), suite);
        }
        let tests: u64 = self.suites.values().map(|suite| suite.tests).sum();
        let failures: u64 = self.suites.values().map(|suite| suite.failures).sum();
        writeln!(self.out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            self.out,
            "<testsuites name=\"plumb\" tests=\"{tests}\" failures=\"{failures}\">"
        )?;
        for (file, suite) in &self.suites {
            writeln!(
                self.out,
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\">",
                attribute(file),
                suite.tests,
                suite.failures
            )?;
            self.out.write_all(suite.cases.as_bytes())?;
            writeln!(self.out, "  </testsuite>")?;
        }
        writeln!(self.out, "</testsuites>")?;
        self.out.flush()
    }
}

fn case(located: &Located, fail_on: FailOn, out: &mut String) {
    let Located { file, finding, .. } = located;
    let line = finding.line.unwrap_or_default();
    let rule = finding.rule.name;
    let _ = writeln!(
        out,
        "    <testcase name=\"line {line}: {rule}\" classname=\"{rule}\" file=\"{}\" line=\"{line}\">",
        attribute(file)
    );
    let details = content(&details(file, finding));
    if fail_on.fails(finding.severity) {
        let message = attribute(&finding.message);
        let _ = writeln!(
            out,
            "      <failure message=\"{message}\" type=\"{rule}\">{details}</failure>"
        );
    } else {
        let _ = writeln!(out, "      <system-out>{details}</system-out>");
    }
    let _ = writeln!(out, "    </testcase>");
}

pub(crate) fn details(file: &str, finding: &Finding) -> String {
    let mut out = format!("{}: {}", finding.severity, finding.message);
    if let Some(line) = finding.line {
        let _ = write!(out, "\n{file}:{line}");
    }
    if let Some(from) = finding.from {
        let _ = write!(out, "\nfrom: {from}");
    }
    if let Some(side) = finding.at_fault {
        let _ = write!(out, "\nat fault: {side}");
    }
    if let Some(revision) = finding.revision {
        let _ = write!(out, "\nrevision: {revision}");
    }
    if let Some(pointer) = finding.pointer.as_ref().filter(|pointer| !pointer.is_empty()) {
        let _ = write!(out, "\nat: {pointer}");
    }
    if let Some(related) = &finding.related {
        let _ = write!(out, "\nline {}: {}", related.line, related.reason);
    }
    if let Some(help) = &finding.help {
        let _ = write!(out, "\nhelp: {help}");
    }
    if let Some(url) = specification_url(finding.rule, finding.revision) {
        let _ = write!(out, "\nspec: {url}");
    }
    out
}

/// Text between tags.
pub(crate) fn content(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            // Only `]]>` is forbidden in content, but escaping every `>` does no harm.
            '>' => out.push_str("&gt;"),
            // A parser would read a bare one as a line feed.
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' => out.push(character),
            // XML 1.0 has no way to write these, not even as references.
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// Text between double quotes.
pub(crate) fn attribute(text: &str) -> String {
    content(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use mcp_rules::Severity;

    use super::*;
    use crate::render::testing;

    #[test]
    fn findings_are_cases_of_their_file() {
        insta::assert_snapshot!(testing::rendered(|out| Junit::new(
            out,
            FailOn::At(Severity::Error)
        )));
    }

    #[test]
    fn what_fails_the_run_fails_the_case() {
        let failures = |fail_on| {
            let text = testing::rendered(|out| Junit::new(out, fail_on));
            text.matches("<failure ").count()
        };
        assert_eq!(failures(FailOn::Never), 0);
        assert_eq!(failures(FailOn::At(Severity::Error)), 8);
        assert_eq!(failures(FailOn::At(Severity::Warning)), 10);
    }

    #[test]
    fn a_clean_run_is_one_case() {
        insta::assert_snapshot!(testing::rendered_empty(|out| Junit::new(
            out,
            FailOn::At(Severity::Error)
        )));
    }

    #[test]
    fn every_character_is_legal_xml() {
        let text: String = ('\u{0}'..='\u{7f}').chain(['\u{fffe}', '\u{ffff}', '😀']).collect();
        let escaped = content(&text);
        let illegal = |character: char| matches!(character, '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{fffe}'..='\u{ffff}' | '<' | '>');
        assert!(!escaped.contains(illegal), "{escaped:?}");
        assert_eq!(attribute("a\"b\n\r\t<&"), "a&quot;b&#10;&#13;&#9;&lt;&amp;");
    }
}
