//! The subset of Markdown that rule docs use, laid out for a terminal.
//!
//! Supports headings, paragraphs, lists, fenced code, inline code and emphasis; anything else is
//! shown unchanged.

use std::fmt::Write as _;

use anstyle::Style;

use crate::{
    style::Palette,
    text::{visible, wrap},
};

/// Lays out `source` in at most `width` columns; lines of code are not wrapped.
pub(crate) fn laid_out(source: &str, palette: &Palette, width: usize) -> String {
    let mut page =
        Page { out: String::new(), paragraph: String::new(), item: false, palette, width };
    let mut in_code = false;
    for line in source.lines() {
        if line.trim_start().starts_with("```") {
            if !page.paragraph.is_empty() {
                page.end_paragraph();
                page.blank();
            }
            in_code = !in_code;
        } else if in_code {
            page.code(line);
        } else {
            page.line(line);
        }
    }
    page.end_paragraph();
    page.out
}

struct Page<'p> {
    out: String,
    /// Text of the current paragraph, not yet wrapped.
    paragraph: String,
    /// Whether the paragraph is an entry of a list.
    item: bool,
    palette: &'p Palette,
    width: usize,
}

impl Page<'_> {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() {
            self.end_paragraph();
            self.blank();
        } else if let Some(heading) = text.strip_prefix('#') {
            self.end_paragraph();
            self.blank();
            let style = self.palette.bold;
            let heading = self.inline(heading.trim_start_matches('#').trim(), style);
            let _ = writeln!(self.out, "{heading}");
        } else if let Some(entry) = text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")) {
            self.end_paragraph();
            self.item = true;
            self.paragraph.push_str(entry);
        } else {
            if !self.paragraph.is_empty() {
                self.paragraph.push(' ');
            }
            self.paragraph.push_str(text);
        }
    }

    fn code(&mut self, line: &str) {
        let accent = self.palette.accent;
        let _ = writeln!(self.out, "    {accent}{}{accent:#}", visible(line));
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let (first, rest) =
            if std::mem::take(&mut self.item) { ("  - ", "    ") } else { ("", "") };
        if paragraph.is_empty() {
            return;
        }
        let room = self.width.saturating_sub(rest.len());
        let mut code = false;
        for (position, line) in wrap(&paragraph, room, room).iter().enumerate() {
            self.out.push_str(if position == 0 { first } else { rest });
            let styled = self.spans(line, Style::new(), &mut code);
            let _ = writeln!(self.out, "{styled}");
        }
    }

    /// At most one blank line in a row, and none at the top.
    fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn inline(&self, text: &str, base: Style) -> String {
        self.spans(text, base, &mut false)
    }

    /// `code` tells whether the preceding text ended inside a code span; wrapping may split one.
    fn spans(&self, text: &str, base: Style, code: &mut bool) -> String {
        if !self.palette.is_styled() {
            // Without colours, only the backticks show what is code.
            return visible(text).into_owned();
        }
        let accent = self.palette.accent;
        let mut out = String::new();
        for (position, part) in text.split('`').enumerate() {
            if position > 0 {
                *code = !*code;
            }
            if part.is_empty() {
                continue;
            }
            let style = if *code { accent } else { base };
            let part = if *code { part.to_owned() } else { part.replace("**", "") };
            let _ = write!(out, "{style}{}{style:#}", visible(&part));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "# The title of `it`\n\nSome words that are long enough to be broken \
        into lines, and `some code that is`\nbroken too.\n## Next\n- one\n- two goes on\n  here\n\
        ```json\n{\"a\":   1}\n```\n\nEnd.";

    #[test]
    fn text_is_rewrapped() {
        let text = laid_out(SOURCE, &Palette::plain(), 40);
        insta::assert_snapshot!(text);
        assert!(text.lines().all(|line| line.len() <= 40));
    }

    #[test]
    fn styles_end_where_lines_end() {
        let text = laid_out(SOURCE, &Palette::styled(), 40);
        for line in text.lines() {
            let last = line.rfind('\x1b').map(|at| &line[at..]);
            assert!(last.is_none_or(|escape| escape.starts_with("\x1b[0m")), "{line:?}");
        }
    }

    #[test]
    fn every_rule_fits_a_terminal() {
        for rule in mcp_rules::catalogue() {
            let text = laid_out(rule.docs, &Palette::plain(), 80);
            // Code keeps its lines, and an address cannot be broken.
            let is_kept = |line: &str| line.starts_with("    ") || !line.trim().contains(' ');
            let long = |line: &&str| crate::text::width(line) > 80 && !is_kept(line);
            assert_eq!(text.lines().find(long), None, "{}", rule.name);
        }
    }
}
