//! Changes to a text, and how they are shown.

use std::fmt::Write as _;

use crate::text::visible;

/// Replacements of parts of a text that do not overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Edits(Vec<Edit>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    start: usize,
    end: usize,
    text: Vec<u8>,
}

impl Edits {
    pub(super) fn replace(&mut self, start: usize, end: usize, text: impl Into<Vec<u8>>) {
        self.0.push(Edit { start, end, text: text.into() });
    }

    pub(super) fn insert(&mut self, at: usize, text: impl Into<Vec<u8>>) {
        self.replace(at, at, text);
    }

    pub(super) fn delete(&mut self, start: usize, end: usize) {
        self.replace(start, end, Vec::new());
    }

    pub(super) fn extend(&mut self, other: Edits) {
        self.0.extend(other.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with the changes made.
    pub(crate) fn apply(&self, text: &[u8]) -> Vec<u8> {
        apply(&self.in_order(), text, 0, text.len())
    }

    /// A unified diff without context: neighbouring lines may hold secrets, such as an `env`.
    pub(crate) fn diff(&self, text: &[u8], name: &str) -> String {
        let mut out = format!("--- {0}\n+++ {0}\n", visible(name));
        let edits = self.in_order();
        let mut edits = edits.as_slice();
        let (mut at, mut line, mut new_line) = (0, 1, 1);
        while let Some((start, end, count)) = next_change(edits, text) {
            let (these, rest) = edits.split_at(count);
            edits = rest;
            let unchanged = memchr::memchr_iter(b'\n', &text[at..start]).count();
            (line, new_line) = (line + unchanged, new_line + unchanged);
            let (old, new) = (lines_of(&text[start..end]), apply(these, text, start, end));
            let new = lines_of(&new);
            let _ = writeln!(out, "@@ -{line},{} +{new_line},{} @@", old.len(), new.len());
            for (sign, lines) in [('-', &old), ('+', &new)] {
                for line in lines {
                    let _ = writeln!(out, "{sign}{}", visible(line));
                }
            }
            (line, new_line) = (line + old.len(), new_line + new.len());
            at = end;
        }
        out
    }

    fn in_order(&self) -> Vec<&Edit> {
        let mut edits: Vec<&Edit> = self.0.iter().collect();
        edits.sort_by_key(|edit| edit.start);
        edits
    }
}

/// A part of the text, with the changes in it applied.
fn apply(edits: &[&Edit], text: &[u8], start: usize, end: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = start;
    for edit in edits {
        out.extend_from_slice(&text[at..edit.start]);
        out.extend_from_slice(&edit.text);
        at = edit.end;
    }
    out.extend_from_slice(&text[at..end]);
    out
}

/// The lines that the first edit changes, with lines right after them that change too, and how many
/// edits these are.
fn next_change(edits: &[&Edit], text: &[u8]) -> Option<(usize, usize, usize)> {
    let start_of = |at: usize| memchr::memrchr(b'\n', &text[..at]).map_or(0, |it| it + 1);
    let end_of =
        |at: usize| memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |it| at + it + 1);
    let first = edits.first()?;
    let (start, mut end) = (start_of(first.start), end_of(first.end));
    let mut count = 1;
    while let Some(next) = edits.get(count).filter(|next| start_of(next.start) <= end) {
        end = end.max(end_of(next.end));
        count += 1;
    }
    Some((start, end, count))
}

fn lines_of(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_applied_in_order() {
        let mut edits = Edits::default();
        edits.replace(4, 7, "2");
        edits.insert(0, "0 ");
        edits.delete(8, 13);
        assert_eq!(edits.apply(b"one two three"), b"0 one 2 ");
    }

    #[test]
    fn a_diff_shows_the_lines_that_change_and_no_others() {
        let text = b"{\n  a\n  b\n  secret\n  c\n}";
        let mut edits = Edits::default();
        edits.insert(5, ",\n  new");
        edits.replace(8, 9, "B");
        edits.replace(21, 22, "C");
        let expected = "--- f\n+++ f\n@@ -2,2 +2,3 @@\n-  a\n-  b\n+  a,\n+  new\n+  B\n\
                        @@ -5,1 +6,1 @@\n-  c\n+  C\n";
        assert_eq!(edits.diff(text, "f"), expected);
    }
}
