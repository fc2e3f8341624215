//! One file per format. `human`, `json` and `github` write every finding immediately; `sarif` and
//! `junit` have to buffer them, and are therefore given a limited number.

mod github;
mod human;
mod json;
pub(crate) mod junit;
mod reason;
mod sarif;
mod tally;
#[cfg(test)]
mod testing;

use std::io;

use mcp_core::Revision;
use mcp_rules::RuleMeta;

pub(crate) use self::tally::known;
use crate::{
    args::{Color, Format, TestFormat},
    plan::{Plan, Verbosity},
    report::{Located, Renderer},
    style::{self, Palette},
};

/// The renderer that `plan` asks for, on standard output.
pub(crate) fn to_stdout(plan: &Plan, color: Color) -> Box<dyn Renderer + Send> {
    // Line-buffered, and renderers write whole findings, so each is visible at once.
    let stdout = io::stdout();
    match plan.format {
        Format::Human => Box::new(human::Human::new(
            stdout,
            human::Look {
                palette: Palette::of_stdout(color),
                width: style::stdout_width(),
                summary: plan.verbosity != Verbosity::Quiet,
            },
        )),
        Format::Json => Box::new(json::Json::new(stdout)),
        Format::Sarif => Box::new(sarif::Sarif::new(stdout)),
        Format::Junit => Box::new(junit::Junit::new(stdout, plan.fail_on)),
        Format::Github => Box::new(github::Github::new(stdout)),
    }
}

/// The machine-readable renderer for single findings, on standard output.
pub(crate) fn for_programs(format: TestFormat) -> Option<Box<dyn Renderer + Send>> {
    let stdout = io::stdout();
    match format {
        TestFormat::Json => Some(Box::new(json::Json::new(stdout))),
        TestFormat::Sarif => Some(Box::new(sarif::Sarif::new(stdout))),
        TestFormat::Github => Some(Box::new(github::Github::new(stdout))),
        TestFormat::Human | TestFormat::Junit | TestFormat::Html => None,
    }
}

/// Formats one finding for human readers.
pub(crate) fn finding_for_people(located: &Located, palette: Palette, width: usize) -> String {
    let mut out = Vec::new();
    let look = human::Look { palette, width, summary: false };
    // Writing to a vector does not fail.
    let _ = human::Human::new(&mut out, look).finding(located);
    String::from_utf8_lossy(&out).into_owned()
}

/// The specification's URL for `rule`, if it comes from there.
pub(crate) fn specification_url(rule: &RuleMeta, revision: Option<Revision>) -> Option<String> {
    let revision = revision
        .filter(|revision| rule.applies.contains(*revision))
        .or_else(|| rule.applies.iter().last())?;
    (!rule.clause.is_empty()).then(|| {
        format!("https://modelcontextprotocol.io/specification/{revision}/{}", rule.clause)
    })
}
