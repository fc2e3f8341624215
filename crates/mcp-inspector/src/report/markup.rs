//! Builds HTML. Text is always escaped.

use std::fmt::Write as _;

use mcp_core::is_invisible;

#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Adds markup of our own.
    pub(super) fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    /// Adds text. Invisible characters are shown as their code points.
    pub(super) fn text(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(character),
                unseen if is_invisible(unseen) => {
                    let _ = write!(self.0, "[U+{:04X}]", u32::from(unseen));
                }
                other => self.0.push(other),
            }
        }
    }

    /// Adds prose in which backticks mark code.
    pub(super) fn prose(&mut self, text: &str) {
        let mut parts = text.split('`');
        self.text(parts.next().unwrap_or_default());
        let mut rest = parts.peekable();
        while let Some(code) = rest.next() {
            // The last backtick may have no other.
            if rest.peek().is_none() {
                self.text("`");
                self.text(code);
                return;
            }
            self.element("code", code);
            self.text(rest.next().unwrap_or_default());
        }
    }

    /// Adds text in an element; `tag` may have attributes.
    pub(super) fn element(&mut self, tag: &str, text: &str) {
        let name = tag.split(' ').next().unwrap_or(tag);
        let _ = write!(self.0, "<{tag}>");
        self.text(text);
        let _ = write!(self.0, "</{name}>");
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_in_pairs_are_code() {
        let prose = |text| {
            let mut page = Markup::default();
            page.prose(text);
            page.into_string()
        };
        assert_eq!(prose("add `a` and `<b>`"), "add <code>a</code> and <code>&lt;b&gt;</code>");
        assert_eq!(prose("`a` has `no end"), "<code>a</code> has `no end");
        assert_eq!(prose("`"), "`");
        assert_eq!(prose(""), "");
    }
}
