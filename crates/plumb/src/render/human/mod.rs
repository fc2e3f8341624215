//! The human-readable format, in the style of compiler diagnostics.

mod drawn;
mod totals;

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{self, Write},
};

use annotate_snippets::{Group, Level};
use anstyle::Style;
use mcp_rules::{Finding, Severity};

use self::drawn::Drawn;
use super::specification_url;
use crate::{
    report::{Kind, Located, Renderer, Summary, Withheld},
    style::Palette,
    text::{self, grouped, visible, width, wrap},
};

/// Columns for the method and the id of a message.
const TITLE: usize = 40;

/// Layout settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) palette: Palette,
    /// Columns to fill.
    pub(super) width: usize,
    /// Whether totals follow the findings.
    pub(super) summary: bool,
}

/// Writes findings with excerpts.
pub(super) struct Human<W> {
    out: W,
    look: Look,
    /// Rules for which "explain" was already shown.
    explained: BTreeSet<&'static str>,
    /// Whether the hint about hidden findings was already shown.
    hinted: bool,
}

impl<W: Write> Human<W> {
    pub(super) fn new(out: W, look: Look) -> Human<W> {
        Human { out, look, explained: BTreeSet::new(), hinted: false }
    }
}

impl<W: Write> Renderer for Human<W> {
    fn wants_excerpts(&self) -> bool {
        true
    }

    fn finding(&mut self, located: &Located) -> io::Result<()> {
        let explain = self.explained.insert(located.finding.rule.name);
        let finding = &located.finding;
        let mut text = self.look.title(Kind::of(finding), &finding.message);
        self.look.place(located, &mut text);
        text.push_str(&self.look.body(located, explain));
        text.push_str("\n\n");
        self.out.write_all(text.as_bytes())
    }

    fn withheld(&mut self, withheld: &Withheld) -> io::Result<()> {
        let mut message =
            format!("{} more like this in {}", grouped(withheld.count), visible(&withheld.file));
        if !std::mem::replace(&mut self.hinted, true) {
            message.push_str(" (--max-findings all or --format json shows them)");
        }
        let mut text = self.look.title(withheld.kind, &message);
        text.push('\n');
        self.out.write_all(text.as_bytes())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        if self.look.summary {
            self.out.write_all(self.look.totals(summary).as_bytes())?;
        }
        self.out.flush()
    }
}

impl Look {
    /// `error[params-invalid] by the client: what is wrong`, on as many lines as needed.
    fn title(&self, kind: Kind, message: &str) -> String {
        let Palette { bold, .. } = self.palette;
        let style = self.severity(kind.severity);
        let level = format!("{}[{}]", kind.severity.as_str(), kind.rule);
        let whose = kind.at_fault.map(|side| format!(" by the {side}")).unwrap_or_default();
        let indent = 2;
        let room = self.width.saturating_sub(level.len() + whose.len() + 2);
        let lines = wrap(&visible(message), room, self.width - indent);
        let mut out = format!("{style}{level}{style:#}{whose}{bold}:");
        for (position, line) in lines.iter().enumerate() {
            match position {
                0 if line.is_empty() => {}
                0 => _ = write!(out, " {line}"),
                _ => _ = write!(out, "\n{:indent$}{line}", ""),
            }
        }
        let _ = writeln!(out, "{bold:#}");
        out
    }

    /// ` --> trace.jsonl:12 (client → server, 2025-11-25, tools/call id 3)`, on two lines if
    /// needed.
    fn place(&self, located: &Located, out: &mut String) {
        let Palette { frame, dim, .. } = self.palette;
        let finding = &located.finding;
        let indent = gutter(located);
        let mut place = visible(&located.file).into_owned();
        if let Some(line) = finding.line {
            let _ = write!(place, ":{line}");
        }
        let _ = write!(out, "{:indent$}{frame}-->{frame:#} {place}", "");
        let details = details(located);
        if !details.is_empty() {
            let arrow = indent + "--> ".len();
            let fits = arrow + width(&place) + 3 + width(&details) <= self.width;
            if fits {
                out.push(' ');
            } else {
                let _ = write!(out, "\n{:arrow$}", "");
            }
            let _ = write!(out, "{dim}({details}){dim:#}");
        }
        out.push('\n');
    }

    /// The excerpt and the notes below it.
    fn body(&self, located: &Located, explain: bool) -> String {
        let finding = &located.finding;
        let room = self.width.saturating_sub(gutter(located) + 3);
        let mut notes = Vec::new();
        if let Some(pointer) = finding.pointer.as_ref().filter(|pointer| !pointer.is_empty()) {
            let pointer = visible(pointer);
            let path = text::without_middle(&pointer, room.saturating_sub(6));
            notes.push((Level::NOTE.with_name("at"), path.into_owned()));
        }
        if let Some(related) = finding.related.as_ref().filter(|_| located.related.is_none()) {
            notes.push((Level::NOTE, format!("line {}: {}", related.line, related.reason)));
        }
        if let Some(help) = &finding.help {
            let room = room.saturating_sub("= help: ".len());
            notes.push((Level::HELP, wrap(&visible(help), room, room).join("\n")));
        }
        if explain {
            notes.extend(reading(finding, room));
        }
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_level(level);
        let drawn = (located.excerpt.as_ref())
            .map(|excerpt| Drawn::new(excerpt, finding.schema.as_ref(), room));
        if let Some(drawn) = &drawn {
            group = group.element(drawn.snippet(line_number(finding.line)));
        }
        let explaining = explaining(located, room);
        if let Some((drawn, line, place)) = &explaining {
            group = group.element(drawn.snippet(*line).path(place.as_str()));
        }
        for (level, text) in notes {
            group = group.element(level.message(text));
        }
        // Lines are already cut to fit, better than the renderer could without knowing the text.
        let renderer = self.palette.snippets().term_width(usize::MAX / 4);
        renderer.render(&[group])
    }

    fn severity(&self, severity: Severity) -> Style {
        match severity {
            Severity::Error => self.palette.error,
            Severity::Warning => self.palette.warning,
        }
    }
}

/// The line that explains the finding, its number, and the text above it.
fn explaining(located: &Located, room: usize) -> Option<(Drawn, usize, String)> {
    let related = located.finding.related.as_ref()?;
    let excerpt = located.related.as_ref()?;
    let line = line_number(Some(related.line));
    let mut place = related.reason.to_owned();
    let title = text::without_middle(&excerpt.title, TITLE);
    if !title.is_empty() {
        let _ = write!(place, " ({})", visible(&title));
    }
    // The line number is appended to it.
    let _ = write!(place, ": {}", visible(&located.file));
    let fits = width(&place) + line.to_string().len() + 2 <= room;
    let place = if fits { place } else { format!("{}: {}", related.reason, base_name(located)) };
    Some((Drawn::new(excerpt, None, room), line, place))
}

/// The file without its folders.
fn base_name(located: &Located) -> String {
    let name = located.file.rsplit(['/', '\\']).next().unwrap_or_default();
    visible(name).into_owned()
}

/// Notes on where to read more.
fn reading(finding: &Finding, room: usize) -> Vec<(Level<'static>, String)> {
    let mut notes = Vec::new();
    if let Some(url) = specification_url(finding.rule, finding.revision) {
        let fits = "= spec: ".len() + url.len() <= room;
        let place = if fits { url } else { finding.rule.clause.to_owned() };
        notes.push((Level::NOTE.with_name("spec"), place));
    }
    let command = format!("plumb explain {}", finding.rule.name);
    notes.push((Level::NOTE.with_name("explain"), command));
    notes
}

/// Identifies the message.
fn details(located: &Located) -> String {
    let finding = &located.finding;
    let mut details = Vec::new();
    if let Some(from) = finding.from {
        details.push(format!("{from} → {}", from.other()));
    }
    if let Some(revision) = finding.revision {
        details.push(revision.to_string());
    }
    if let Some(index) = finding.index {
        details.push(format!("batch entry {index}"));
    }
    let title = match &located.excerpt {
        Some(excerpt) => excerpt.title.as_str(),
        None => finding.method.unwrap_or_default(),
    };
    if !title.is_empty() {
        details.push(text::without_middle(&visible(title), TITLE).into_owned());
    }
    details.join(", ")
}

fn line_number(line: Option<u64>) -> usize {
    line.and_then(|line| usize::try_from(line).ok()).unwrap_or(1)
}

/// Columns left of the frame: as wide as the longest line number.
fn gutter(located: &Located) -> usize {
    let finding = &located.finding;
    let related = finding.related.as_ref().filter(|_| located.related.is_some());
    let longest =
        line_number(finding.line).max(related.map_or(0, |line| line_number(Some(line.line))));
    longest.to_string().len()
}

#[cfg(test)]
mod tests {
    use mcp_core::Side;

    use super::*;
    use crate::render::testing;

    fn look(width: usize) -> Look {
        Look { palette: Palette::plain(), width, summary: true }
    }

    #[test]
    fn findings_on_a_narrow_terminal() {
        insta::assert_snapshot!(testing::rendered(|out| Human::new(out, look(80))));
    }

    #[test]
    fn findings_on_a_wide_terminal() {
        insta::assert_snapshot!(testing::rendered(|out| Human::new(out, look(120))));
    }

    #[test]
    fn findings_in_colour() {
        let look = Look { palette: Palette::styled(), ..look(100) };
        let text = testing::rendered(|out| Human::new(out, look));
        insta::assert_snapshot!(text.replace('\x1b', "␛"));
    }

    #[test]
    fn a_clean_run_says_so() {
        let text = testing::rendered_empty(|out| Human::new(out, look(80)));
        assert_eq!(text, "no findings in 1,204 messages (3 files)\n");
    }

    #[test]
    fn quiet_prints_no_summary() {
        let quiet = Look { summary: false, ..look(80) };
        assert_eq!(testing::rendered_empty(|out| Human::new(out, quiet)), "");
    }

    #[test]
    fn hidden_findings_are_counted_with_a_hint() {
        let out = testing::Shared::default();
        let mut human = Human::new(out.clone(), look(80));
        let kind = Kind {
            rule: "params-invalid",
            severity: Severity::Error,
            at_fault: Some(Side::Client),
        };
        let withheld = Withheld { file: "a.jsonl".into(), kind, count: 1990 };
        human.withheld(&withheld).unwrap();
        let kind = Kind { at_fault: None, severity: Severity::Warning, ..kind };
        human.withheld(&Withheld { count: 1, kind, ..withheld }).unwrap();
        insta::assert_snapshot!(out.text());
    }

    #[test]
    fn lines_fit_the_terminal() {
        for columns in [80, 100, 120] {
            let text = testing::rendered(|out| Human::new(out, look(columns)));
            for line in text.lines() {
                assert!(width(line) <= columns, "{columns}: {line}");
            }
        }
    }
}
