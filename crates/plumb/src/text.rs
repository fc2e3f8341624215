//! Text for a terminal: width, line breaks and escaping. Most of it comes from a peer, so nothing
//! reaches a terminal or a report without passing through [`visible`].

use std::{
    borrow::Cow,
    io::{self, Write},
    path::Path,
};

use mcp_core::is_invisible;
pub(crate) use mcp_core::visible;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use unicode_width::UnicodeWidthChar as _;

/// Like [`visible`], but keeps line feeds.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(|character| character != '\n' && is_invisible(character)) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(visible).collect();
    Cow::Owned(lines.join("\n"))
}

/// Formats a path for display.
pub(crate) fn shown_path(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

/// Writes JSON with all invisible characters escaped: exact for programs, and harmless in a
/// terminal.
pub(crate) fn write_json(
    out: &mut impl Write,
    value: &impl Serialize,
    layout: Layout,
) -> io::Result<()> {
    let written = match layout {
        Layout::OneLine => {
            let inner = CompactFormatter;
            value.serialize(&mut Serializer::with_formatter(out, Escaping { inner }))
        }
        Layout::Pretty => {
            let inner = PrettyFormatter::new();
            value.serialize(&mut Serializer::with_formatter(out, Escaping { inner }))
        }
    };
    written.map_err(io::Error::from)
}

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    OneLine,
    Pretty,
}

/// A formatter that escapes invisible characters and delegates the rest.
struct Escaping<F> {
    inner: F,
}

impl<F: Formatter> Formatter for Escaping<F> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, character)) = rest.char_indices().find(|(_, it)| is_invisible(*it)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + character.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.inner.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.inner.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object_value(writer)
    }
}

/// Columns that `text` takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

fn width_of(character: char) -> usize {
    character.width().unwrap_or(1)
}

/// The longest prefix of `text` that fits.
pub(crate) fn head(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += width_of(character);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// The longest suffix of `text` that fits.
pub(crate) fn tail(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices().rev() {
        used += width_of(character);
        if used > columns {
            return &text[at + character.len_utf8()..];
        }
    }
    text
}

/// Shortens `text` with a `…` in the middle if it does not fit.
pub(crate) fn without_middle(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(1);
    let end = tail(text, room / 3);
    let start = head(text, room - room / 3);
    Cow::Owned(format!("{start}…{end}"))
}

/// Breaks `text` between words into lines of at most `columns`, the first of which has only `first`
/// and may stay empty. A word that is too long gets its own line.
pub(crate) fn wrap(text: &str, first: usize, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    let mut room = first;
    for word in text.split_whitespace() {
        let needed = width(word);
        let separator = usize::from(used > 0);
        let is_better_below = used > 0 || room < columns;
        if used + separator + needed > room && is_better_below {
            lines.push(std::mem::take(&mut line));
            (used, room) = (0, columns);
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += needed;
    }
    lines.push(line);
    lines
}

/// `1204` as `1,204`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 error`, `3 errors`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_exact_and_nothing_in_it_is_unseen() {
        let text = "a\n\x1b[31m\u{202e}\u{9b}\u{e0041}\"日本";
        for layout in [Layout::OneLine, Layout::Pretty] {
            let mut out = Vec::new();
            write_json(&mut out, &serde_json::json!({ text: [text] }), layout).unwrap();
            let written = String::from_utf8(out).unwrap();
            assert!(!written.contains(|it| it != '\n' && is_invisible(it)), "{written:?}");
            let read: serde_json::Value = serde_json::from_str(&written).unwrap();
            assert_eq!(read[text][0], text);
            assert!(written.contains("日本"));
        }
    }

    #[test]
    fn line_feeds_may_stay() {
        assert_eq!(visible_lines("a\nb\x1b\r\nc"), "a\nb␛␍\nc");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 7, 20), ["one two", "three"]);
        assert_eq!(wrap("one two three four", 3, 10), ["one", "two three", "four"]);
        assert_eq!(wrap("extraordinarily long", 5, 5), ["extraordinarily", "long"]);
        assert_eq!(wrap("日本 日本", 5, 5), ["日本", "日本"]);
        assert_eq!(wrap("", 5, 5), [""]);
        assert_eq!(wrap("longer words", 5, 9), ["", "longer", "words"]);
    }

    #[test]
    fn ends_never_split_a_character() {
        assert_eq!((head("日本", 3), tail("日本", 3)), ("日", "本"));
        assert_eq!(without_middle("abcdefghij", 7), "abcd…ij");
    }

    #[test]
    fn numbers_read_easily() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "error"), "1 error");
        assert_eq!(counted(1204, "message"), "1,204 messages");
    }
}
