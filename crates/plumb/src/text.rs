//! Text for a terminal: its width, where it breaks, and what must be escaped.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar as _;

/// `text` on one line, with everything made visible that would move the cursor, or reorder or hide
/// its surroundings. Peers choose this text, so it must not reach the terminal unescaped.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let show = |character: char| match character {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        other if is_unseen(other) => None,
        other => Some(other),
    };
    text.chars().map(|character| show(character).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Joiners (U+200C, U+200D) are left alone: scripts and emoji are written with them.
fn is_unseen(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}')
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

/// `text` with a `…` in its middle if it would not fit.
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
    fn nothing_moves_the_cursor() {
        assert_eq!(visible("plain 日本 👩\u{200d}💻"), "plain 日本 👩\u{200d}💻");
        assert_eq!(visible("a\n\x1b[31m\u{202e}\u{85}"), "a␊␛[31m\u{fffd}\u{fffd}");
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
