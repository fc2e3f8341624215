//! `JUnit` XML: a suite for each phase at each revision, a case for each probe.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use mcp_core::Revision;
use mcp_probe::{Outcome, Phase};

use super::tested::Tested;
use crate::{
    args::FailOn,
    render::junit::{attribute, content, details},
};

#[derive(Default)]
struct Suite {
    cases: String,
    tests: u64,
    failures: u64,
    skipped: u64,
}

/// Writes the report of all servers.
pub(super) fn write(out: &mut impl Write, tested: &[Tested], fail_on: FailOn) -> io::Result<()> {
    let mut suites: BTreeMap<(Option<&str>, Phase, Revision), Suite> = BTreeMap::new();
    for server in tested {
        for (result, failures) in server.results() {
            let key = (server.name.as_deref(), result.phase, result.revision);
            let suite = suites.entry(key).or_default();
            suite.tests += 1;
            let repeat = server.repeat.line(&result.name, result.revision);
            let (mut failed, mut noted) = (Vec::new(), Vec::new());
            for (failure, is_known) in failures {
                let located = server.locator(result).locate(failure);
                let text = details(&located.file, &located.finding);
                if is_known {
                    noted.push(format!("in the baseline: {text}"));
                } else if fail_on.fails(failure.finding.severity) {
                    failed.push((failure, text));
                } else {
                    noted.push(text);
                }
            }
            let class = match &server.name {
                Some(name) => format!("{name}.{}.{}", result.phase, result.revision),
                None => format!("{}.{}", result.phase, result.revision),
            };
            let _ = write!(
                suite.cases,
                "    <testcase name=\"{}\" classname=\"{}\">",
                attribute(&result.name),
                attribute(&class)
            );
            if let Some((first, _)) = failed.first() {
                suite.failures += 1;
                let texts: Vec<String> = failed.iter().map(|(_, text)| text.clone()).collect();
                let text = format!("{}\n\nrepeat: {repeat}", texts.join("\n\n"));
                let _ = write!(
                    suite.cases,
                    "\n      <failure message=\"{}\" type=\"{}\">{}</failure>",
                    attribute(&first.finding.message),
                    first.finding.rule.name,
                    content(&text)
                );
            } else if let Outcome::Skipped(reason) = &result.outcome {
                suite.skipped += 1;
                let _ = write!(suite.cases, "\n      <skipped message=\"{}\"/>", attribute(reason));
            } else if result.outcome == Outcome::Planned {
                suite.skipped += 1;
                let _ = write!(suite.cases, "\n      <skipped message=\"a dry run\"/>");
            }
            if !noted.is_empty() {
                let text = content(&noted.join("\n\n"));
                let _ = write!(suite.cases, "\n      <system-out>{text}</system-out>");
            }
            suite.cases.push_str("</testcase>\n");
        }
    }
    let sum = |of: fn(&Suite) -> u64| suites.values().map(of).sum::<u64>();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites name=\"plumb test\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">",
        sum(|suite| suite.tests),
        sum(|suite| suite.failures),
        sum(|suite| suite.skipped)
    )?;
    for ((name, phase, revision), suite) in &suites {
        let name = name.map(|name| format!("{name} ")).unwrap_or_default();
        writeln!(
            out,
            "  <testsuite name=\"{}{phase} {revision}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">",
            attribute(&name),
            suite.tests,
            suite.failures,
            suite.skipped
        )?;
        out.write_all(suite.cases.as_bytes())?;
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")?;
    out.flush()
}
