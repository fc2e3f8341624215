//! The report as a page: one file, no scripts, and nothing that a peer sent is ever markup.

mod escaped;
mod failure;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use mcp_core::Revision;
use mcp_probe::{Outcome, Seed};
use mcp_rules::Severity;

use self::escaped::Escaped;
use super::tested::Tested;
use crate::{
    report::{Fingerprint, Summary},
    text::{counted, without_middle},
};

const STYLE: &str = include_str!("page.css");

/// Writes the report of all servers.
pub(super) fn write(out: &mut impl Write, tested: &[Tested], summary: &Summary) -> io::Result<()> {
    let mut page = String::new();
    let verdict = match (summary.errors, summary.warnings) {
        (0, 0) => "nothing found".to_owned(),
        (errors, warnings) => {
            format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"))
        }
    };
    let names: Vec<String> = tested.iter().map(title).collect();
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}: {verdict}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        Escaped(&names.join(", "))
    );
    for server in tested {
        section(&mut page, server);
    }
    if tested.is_empty() {
        page.push_str("<p>No server was tested.</p>\n");
    }
    page.push_str("</main>\n</body>\n</html>\n");
    out.write_all(page.as_bytes())?;
    out.flush()
}

fn title(server: &Tested) -> String {
    let offer = server.report.found.offers.values().next_back();
    let text = |name: &str| offer.and_then(|offer| offer.server[name].as_str()).unwrap_or("?");
    let said = format!("{} {}", text("name"), text("version"));
    match &server.name {
        Some(name) => format!("{name} ({said})"),
        None => said,
    }
}

fn section(page: &mut String, server: &Tested) {
    let report = &server.report;
    let _ = writeln!(page, "<header>\n<h1>{}</h1>", Escaped(&title(server)));
    let _ = writeln!(
        page,
        "<p class=\"target\"><code>{}</code></p>",
        Escaped(&without_middle(server.repeat.target(), 200))
    );
    counts(page, server);
    let _ = writeln!(
        page,
        "<p class=\"dim\">seed {}, {}; plumb {}</p>\n</header>",
        report.seed,
        Seed::ALGORITHM,
        env!("CARGO_PKG_VERSION")
    );
    offered(page, server);
    failures(page, server);
    left_out(page, server);
    checks(page, server);
}

fn counts(page: &mut String, server: &Tested) {
    let (mut passed, mut failed, mut skipped) = (0_u64, 0_u64, 0_u64);
    let (mut errors, mut warnings, mut known) = (0_u64, 0_u64, 0_u64);
    for (result, failures) in server.results() {
        match result.outcome {
            Outcome::Passed => passed += 1,
            Outcome::Failed => failed += 1,
            Outcome::Skipped(_) | Outcome::Planned => skipped += 1,
        }
        for (failure, is_known) in failures {
            match failure.finding.severity {
                _ if is_known => known += 1,
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
            }
        }
    }
    page.push_str("<ul class=\"counts\">\n");
    for (class, count, label) in [
        ("error", errors, "errors"),
        ("warning", warnings, "warnings"),
        ("good", passed, "checks passed"),
        ("plain", failed, "checks failed"),
        ("plain", skipped, "checks skipped"),
        ("plain", known, "in the baseline"),
        ("plain", server.report.restarts as u64, "restarts of the server"),
    ] {
        let is_worth_it = count > 0 || matches!(label, "errors" | "warnings" | "checks passed");
        if is_worth_it {
            let class = if count == 0 { "plain" } else { class };
            let _ = writeln!(page, "<li class=\"{class}\"><b>{count}</b> {label}</li>");
        }
    }
    page.push_str("</ul>\n");
    if server.report.out_of_time {
        page.push_str("<p>The time limit was reached; use --time-limit to allow more.</p>\n");
    }
}

fn offered(page: &mut String, server: &Tested) {
    page.push_str("<h2>Features</h2>\n<table>\n<thead><tr><th scope=\"col\">revision</th>");
    page.push_str("<th scope=\"col\">tools</th><th scope=\"col\">prompts</th>");
    page.push_str(
        "<th scope=\"col\">resources</th><th scope=\"col\">templates</th></tr></thead>\n<tbody>\n",
    );
    let found = &server.report.found;
    for revision in Revision::ALL {
        if let Some(offer) = found.offers.get(&revision) {
            let _ = writeln!(
                page,
                "<tr><th scope=\"row\">{revision}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                offer.tools.len(),
                offer.prompts.len(),
                offer.resources.len(),
                offer.templates.len()
            );
        } else if let Some(reason) = found.refused.get(&revision) {
            let _ = writeln!(
                page,
                "<tr class=\"dim\"><th scope=\"row\">{revision}</th><td colspan=\"4\">{}</td></tr>",
                Escaped(reason)
            );
        }
    }
    page.push_str("</tbody>\n</table>\n");
}

/// Every fault once, with where else it was seen.
fn failures(page: &mut String, server: &Tested) {
    let mut seen: BTreeMap<Fingerprint, usize> = BTreeMap::new();
    let mut shown: Vec<(failure::Shown<'_>, Vec<String>)> = Vec::new();
    for (result, failures) in server.results() {
        for (failure, _) in failures.filter(|(_, is_known)| !is_known) {
            let place = format!("{} {}", result.name, result.revision);
            match seen.entry(Fingerprint::of(&failure.finding)) {
                std::collections::btree_map::Entry::Occupied(before) => {
                    let places = &mut shown[*before.get()].1;
                    if !places.contains(&place) {
                        places.push(place);
                    }
                }
                std::collections::btree_map::Entry::Vacant(new) => {
                    new.insert(shown.len());
                    shown.push((failure::Shown { server, result, failure }, vec![place]));
                }
            }
        }
    }
    page.push_str("<h2>Failures</h2>\n");
    if shown.is_empty() {
        page.push_str("<p class=\"good\">No failures.</p>\n");
    }
    shown.sort_by_key(|(shown, _)| shown.failure.finding.severity == Severity::Warning);
    for (shown, places) in &shown {
        shown.write(page, places);
    }
}

fn left_out(page: &mut String, server: &Tested) {
    if server.left_out.is_empty() {
        return;
    }
    page.push_str("<h2>Tools not called</h2>\n<ul>\n");
    for line in &server.left_out {
        let _ = writeln!(page, "<li>{}</li>", Escaped(line));
    }
    page.push_str("</ul>\n");
}

/// The class, the word and the reason of a result.
type Cell = (&'static str, &'static str, String);

/// A row for each probe, a column for each revision.
fn checks(page: &mut String, server: &Tested) {
    let revisions: Vec<Revision> = server.report.found.offers.keys().copied().collect();
    let mut rows: Vec<(&str, BTreeMap<Revision, Cell>)> = Vec::new();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    for (result, failures) in server.results() {
        let row = *at.entry(&result.name).or_insert(rows.len());
        if row == rows.len() {
            rows.push((&result.name, BTreeMap::new()));
        }
        let is_error = failures.fold(false, |is_error, (failure, is_known)| {
            is_error || (!is_known && failure.finding.severity == Severity::Error)
        });
        let cell = match &result.outcome {
            Outcome::Passed => ("good", "ok", String::new()),
            Outcome::Failed if is_error => ("error", "fail", String::new()),
            Outcome::Failed => ("warning", "warn", String::new()),
            Outcome::Skipped(reason) => ("dim", "skip", reason.clone()),
            Outcome::Planned => ("dim", "plan", String::new()),
        };
        rows[row].1.insert(result.revision, cell);
    }
    let _ = write!(
        page,
        "<h2>All checks</h2>\n<details><summary>{}</summary>\n<table>\n<thead><tr><th scope=\"col\">check</th>",
        counted(rows.len() as u64, "check")
    );
    for revision in &revisions {
        let _ = write!(page, "<th scope=\"col\">{revision}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for (name, cells) in &rows {
        let _ = write!(page, "<tr><th scope=\"row\"><code>{}</code></th>", Escaped(name));
        for revision in &revisions {
            match cells.get(revision) {
                Some((class, word, reason)) if reason.is_empty() => {
                    let _ = write!(page, "<td class=\"{class}\">{word}</td>");
                }
                Some((class, word, reason)) => {
                    let reason = Escaped(reason);
                    let _ = write!(page, "<td class=\"{class}\" title=\"{reason}\">{word}</td>");
                }
                None => page.push_str("<td></td>"),
            }
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n</details>\n");
}
