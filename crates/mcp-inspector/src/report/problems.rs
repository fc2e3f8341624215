//! The problems by rule and side, and the texts of the rules.

use std::collections::BTreeSet;

use super::{frames::Chosen, markup::Markup};
use crate::Problem;

/// Maximum number of frames linked per problem.
const MOST_LINKS: usize = 50;

pub(super) fn write(page: &mut Markup, problems: &[Problem], chosen: &Chosen, before: u64) {
    page.raw("<h2>Problems</h2>\n");
    if problems.is_empty() {
        page.raw("<p>No problems found.</p>\n");
        return;
    }
    page.raw("<table><thead><tr><th scope=\"col\">Severity</th><th scope=\"col\">Rule</th>\
              <th scope=\"col\">By</th><th scope=\"col\">Count</th><th scope=\"col\">What is wrong</th>\
              <th scope=\"col\">Frames</th></tr></thead><tbody>\n");
    for problem in problems {
        page.raw("<tr><td class=\"");
        page.raw(problem.severity);
        page.raw("\">");
        page.text(problem.severity);
        page.raw("</td><td><a href=\"#rule-");
        page.raw(problem.rule);
        page.raw("\">");
        page.text(problem.rule);
        page.raw("</a></td><td>");
        page.text(problem.at_fault.map_or("", |side| side.as_str()));
        page.raw("</td><td>");
        page.text(&problem.count.to_string());
        page.raw("</td><td>");
        page.prose(problem.summary);
        page.raw("</td><td>");
        let frames = problem.frames.iter().filter(|number| chosen.has(**number));
        for number in frames.take(MOST_LINKS) {
            link(page, number + before, "#");
            page.raw(" ");
        }
        page.raw("</td></tr>\n");
    }
    page.raw("</tbody></table>\n");
}

/// A link to a frame, with `sign` before its number.
pub(super) fn link(page: &mut Markup, number: u64, sign: &str) {
    page.raw(&format!("<a href=\"#frame-{number}\">"));
    page.text(&format!("{sign}{number}"));
    page.raw("</a>");
}

/// The texts of the broken rules, as `plumb explain` prints them.
pub(super) fn write_rules(page: &mut Markup, problems: &[Problem]) {
    let rules: BTreeSet<&str> = problems.iter().map(|problem| problem.rule).collect();
    if !rules.is_empty() {
        page.raw("<h2>Rules</h2>\n");
    }
    for rule in rules.into_iter().filter_map(mcp_rules::rule) {
        page.raw("<details class=\"rule\"><summary>");
        page.text(rule.name);
        page.raw(&format!("</summary><div class=\"inside\" id=\"rule-{}\"><pre>", rule.name));
        page.text(rule.docs);
        page.raw("</pre></div></details>\n");
    }
}
