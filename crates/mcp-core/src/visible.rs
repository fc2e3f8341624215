//! Makes text from a peer safe to print.

use std::borrow::Cow;

/// Returns `text` on one line, without characters that could move a terminal's cursor, or reorder
/// or hide the text around them: control characters become their symbols, all others U+FFFD.
///
/// ```
/// assert_eq!(mcp_core::visible("clear\u{1b}[2J\nthe screen"), "clear␛[2J␊the screen");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let show = |character: char| match character {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        other if is_invisible(other) => None,
        other => Some(other),
    };
    text.chars().map(|character| show(character).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Whether a character is invisible or changes how others are displayed: terminal controls (C0,
/// C1), text direction controls, and zero-width characters such as tags.
///
/// Joiners (U+200C, U+200D) and variation selectors do not count, as scripts and emoji need them.
pub fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(
            visible("plain 日本 👩\u{200d}💻 ☀\u{fe0f}"),
            "plain 日本 👩\u{200d}💻 ☀\u{fe0f}"
        );
        assert_eq!(visible("a\n\x1b[31m\u{202e}\u{85}"), "a␊␛[31m\u{fffd}\u{fffd}");
        assert_eq!(visible("\u{7}\u{9b}2J\u{e0041}\u{7f}"), "␇\u{fffd}2J\u{fffd}␡");
    }

    #[test]
    fn what_was_made_visible_stays_as_it_is() {
        let all: String = ('\u{0}'..=char::MAX).collect();
        let once = visible(&all);
        assert!(!once.contains(is_invisible));
        assert_eq!(visible(&once), once);
    }
}
