//! The tables, and the file they are written to.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use crate::contestants::{PLUMB, PLUMB_EVERYTHING, SERDE_MACRO, YARDSTICK};
use crate::corpus::Class;
use crate::measure::{Timing, count};

/// The results for one class.
#[derive(Debug)]
pub struct ClassReport {
    /// The class.
    pub class: Class,
    /// The number of messages.
    pub messages: usize,
    /// The average length of a message.
    pub mean_bytes: f64,
    /// Timings by contestant.
    pub timings: Vec<(&'static str, Timing)>,
}

impl ClassReport {
    fn best(&self, contestant: &str) -> Option<f64> {
        let found = self.timings.iter().find(|(name, _)| *name == contestant);
        found.map(|(_, timing)| timing.best)
    }

    /// How many times faster `contestant` is than `other`, by their best rounds.
    fn ratio(&self, other: &str, contestant: &str) -> Option<f64> {
        Some(self.best(other)? / self.best(contestant)?)
    }
}

/// The goal for plumb with every stateless rule: at most this multiple of the baseline.
const fn goal(class: Class) -> f64 {
    match class {
        Class::Small => 0.85,
        Class::ToolResult => 0.5,
        Class::ToolList => 6.0,
        Class::KnownToolList => 1.5,
        Class::Base64 => 0.4,
        Class::Text => 0.35,
        Class::ToolsCall => 1.2,
    }
}

/// The goal against the fastest validating peer: at least this many times faster.
const fn peer_goal(class: Class) -> Option<f64> {
    match class {
        // The peer does not check the schemas of tools.
        Class::ToolList => None,
        _ => Some(4.0),
    }
}

/// All tables of the verdict measurement, in Markdown.
pub fn verdict(reports: &[ClassReport]) -> String {
    let mut text = String::new();
    multiples(&mut text, reports);
    goals(&mut text, reports);
    for report in reports {
        details(&mut text, report);
    }
    text
}

fn multiples(text: &mut String, reports: &[ClassReport]) {
    line(text, "Relative to the time `sonic-rs` takes to parse the same bytes into a `Value`:\n");
    let titles: Vec<&str> = reports.iter().map(|report| report.class.title()).collect();
    line(text, &format!("| | {} |", titles.join(" | ")));
    line(text, &format!("|---|{}", "---:|".repeat(reports.len())));
    for (name, _) in reports.first().map_or(&[][..], |report| &report.timings) {
        let cells = reports.iter().map(|report| number(report.ratio(name, YARDSTICK)));
        line(
            text,
            &format!("| {} | {} |", emphasised(name), cells.collect::<Vec<_>>().join(" | ")),
        );
    }
}

fn goals(text: &mut String, reports: &[ClassReport]) {
    line(text, "\nGoals of plumb with every stateless rule, and what it reached:\n");
    line(
        text,
        "| class | at most this multiple of `sonic-rs` | reached | faster than the macro, at least | reached |",
    );
    line(text, "|---|---:|---:|---:|---:|");
    for report in reports {
        let share = report.ratio(PLUMB_EVERYTHING, YARDSTICK);
        let peer = report.ratio(SERDE_MACRO, PLUMB_EVERYTHING);
        let peer_goal = peer_goal(report.class);
        let most = goal(report.class);
        line(
            text,
            &format!(
                "| {} | {most} | {} | {} | {} |",
                report.class.title(),
                judged(share, share.is_some_and(|share| share <= most), ""),
                peer_goal.map_or_else(String::new, |goal| format!("{goal}×")),
                judged(
                    peer,
                    peer_goal.is_none_or(|goal| peer.is_some_and(|times| times >= goal)),
                    "×"
                ),
            ),
        );
    }
}

fn details(text: &mut String, report: &ClassReport) {
    let title = report.class.title();
    let (messages, bytes) = (report.messages, report.mean_bytes);
    line(text, &format!("\n{title}: {messages} messages of {bytes:.0} bytes on average\n"));
    line(text, "| | ns per message, best | median | MB/s | × sonic-rs |");
    line(text, "|---|---:|---:|---:|---:|");
    for (name, timing) in &report.timings {
        let Timing { best, median } = *timing;
        let spread = (median / best - 1.0) * 100.0;
        let megabytes = bytes / best * 1e3;
        let ratio = number(report.ratio(name, YARDSTICK));
        let name = emphasised(name);
        line(text, &format!("| {name} | {best:.0} | +{spread:.0} % | {megabytes:.0} | {ratio} |"));
    }
}

/// Allocations per message, in Markdown: a row per contestant, a column per class.
pub fn allocations(rows: &[(&'static str, Vec<f64>)]) -> String {
    let mut text = String::new();
    let titles: Vec<&str> = Class::ALL.iter().map(|class| class.title()).collect();
    line(&mut text, &format!("| | {} |", titles.join(" | ")));
    line(&mut text, &format!("|---|{}", "---:|".repeat(titles.len())));
    for (name, counts) in rows {
        let cells: Vec<String> = counts.iter().map(|count| number(Some(*count))).collect();
        line(&mut text, &format!("| {} | {} |", emphasised(name), cells.join(" | ")));
    }
    text
}

/// `sum` divided by `number`.
pub fn mean(sum: usize, number: usize) -> f64 {
    count(sum) / count(number)
}

/// Replaces the text between the markers of `section` in the file with `text`.
///
/// # Errors
///
/// If the file cannot be read or written, or does not have these markers.
pub fn update(file: &Path, section: &str, text: &str) -> io::Result<()> {
    let old = fs::read_to_string(file)?;
    let new = replaced(&old, section, text).ok_or_else(|| {
        let message = format!("{} has no section {section:?}", file.display());
        io::Error::new(io::ErrorKind::InvalidData, message)
    })?;
    fs::write(file, new)
}

fn replaced(old: &str, section: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- begin {section} -->\n"), format!("<!-- end {section} -->"));
    let (before, rest) = old.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}{text}{end}{after}"))
}

fn emphasised(name: &str) -> String {
    if name == PLUMB { format!("**{name}**") } else { name.to_owned() }
}

fn judged(value: Option<f64>, met: bool, unit: &str) -> String {
    let value = number(value);
    if met { format!("{value}{unit}") } else { format!("**{value}{unit}, missed**") }
}

/// Only two significant digits can be trusted; three are shown.
fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 10.0 => format!("{value:.2}"),
        Some(value) if value < 100.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes everything");
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_the_named_section_changes() {
        let old = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n<!-- begin y -->\n<!-- end y -->\n";
        let new = replaced(old, "x", "new\n").unwrap();
        assert_eq!(new, old.replace("old", "new"));
        assert_eq!(replaced(old, "z", ""), None);
    }
}
