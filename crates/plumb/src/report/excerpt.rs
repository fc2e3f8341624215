use std::ops::Range;

use mcp_json::Span;

use crate::text::{self, head, tail, width, without_middle};

/// How many columns of a message are shown.
const COLUMNS: usize = 100;
/// How many bytes to read for them: a character takes at most four bytes, and usually fills a
/// column.
const REACH: usize = 4 * COLUMNS;

/// The part of a message around a fault, ready to be shown on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// The fault inside `text`; `None` if the message as a whole is at fault.
    pub(crate) span: Option<Range<usize>>,
    pub(crate) cut_before: bool,
    pub(crate) cut_after: bool,
    /// Which message it is, such as `tools/call, id 3`.
    pub(crate) title: String,
}

impl Excerpt {
    /// A window of about a hundred columns of `message` around `span`.
    ///
    /// The cost does not depend on the length of the message. Unprintable characters are made
    /// visible: control characters as their symbols, bytes that are not UTF-8 as U+FFFD. A long
    /// span loses its middle.
    pub(crate) fn new(message: &[u8], span: Option<Span>, title: String) -> Excerpt {
        let whole = span.is_none();
        let span = span.unwrap_or(Span { start: 0, end: 0 });
        let end = span.end.min(message.len());
        let start = span.start.min(end);
        let reached = match start.checked_sub(REACH) {
            Some(offset) => align(message, offset),
            None => 0,
        };
        let before = &message[reached..start];
        let after = &message[end..align(message, (end + REACH).min(message.len()))];
        let pieces = Pieces {
            before: shown(before),
            inside: shown_span(&message[start..end]),
            after: shown(after),
            cut_before: before.len() < start,
            cut_after: after.len() < message.len() - end,
        };
        pieces.fit(COLUMNS, whole, title)
    }

    /// The same in at most `columns`, not counting ellipses.
    pub(crate) fn narrowed(&self, columns: usize) -> Excerpt {
        let span = self.span.clone().unwrap_or(0..0);
        let pieces = Pieces {
            before: self.text[..span.start].to_owned(),
            inside: self.text[span.clone()].to_owned(),
            after: self.text[span.end..].to_owned(),
            cut_before: self.cut_before,
            cut_after: self.cut_after,
        };
        pieces.fit(columns, self.span.is_none(), self.title.clone())
    }
}

/// A fault and its surroundings.
struct Pieces {
    before: String,
    inside: String,
    after: String,
    cut_before: bool,
    cut_after: bool,
}

impl Pieces {
    fn fit(self, columns: usize, whole: bool, title: String) -> Excerpt {
        // A long span leaves a quarter for its surroundings, if there is that much.
        let around = width(&self.before) + width(&self.after);
        let inside = without_middle(&self.inside, columns - around.min(columns / 4));
        let room = columns - width(&inside).min(columns);
        // Neither side gets less than half of the rest, unless it needs less.
        let after_needs = width(&self.after).min(room / 2);
        let before = tail(&self.before, room - after_needs);
        let after = head(&self.after, room - width(before).min(room));
        Excerpt {
            span: (!whole).then(|| before.len()..before.len() + inside.len()),
            cut_before: self.cut_before || before.len() < self.before.len(),
            cut_after: self.cut_after || after.len() < self.after.len(),
            text: [before, &inside, after].concat(),
            title,
        }
    }
}

/// The next offset at or after `offset` where a character may begin.
fn align(message: &[u8], offset: usize) -> usize {
    let continues = |at: &usize| message.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
    // A character has at most three continuation bytes.
    (offset..offset + 4).find(|at| !continues(at)).unwrap_or(offset)
}

/// A span of any length; only the parts near its ends are decoded.
fn shown_span(bytes: &[u8]) -> String {
    if bytes.len() <= 2 * REACH {
        return shown(bytes);
    }
    let head = &bytes[..align(bytes, REACH)];
    let tail = &bytes[align(bytes, bytes.len() - REACH)..];
    format!("{}…{}", shown(head), shown(tail))
}

fn shown(bytes: &[u8]) -> String {
    text::visible(&String::from_utf8_lossy(bytes)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(message: &[u8], span: Range<usize>) -> Excerpt {
        let span = Span { start: span.start, end: span.end };
        Excerpt::new(message, Some(span), String::new())
    }

    fn marked(excerpt: &Excerpt) -> &str {
        &excerpt.text[excerpt.span.clone().unwrap()]
    }

    #[test]
    fn a_short_message_is_shown_whole() {
        let excerpt = excerpt(br#"{"id":1,"method":7}"#, 17..18);
        assert_eq!(excerpt.text, r#"{"id":1,"method":7}"#);
        assert_eq!(marked(&excerpt), "7");
        assert!(!excerpt.cut_before && !excerpt.cut_after);
    }

    #[test]
    fn a_long_message_is_cut_on_both_sides() {
        let message = format!("{}BAD{}", "a".repeat(5000), "z".repeat(5000));
        let excerpt = excerpt(message.as_bytes(), 5000..5003);
        assert_eq!(marked(&excerpt), "BAD");
        assert_eq!(width(&excerpt.text), COLUMNS);
        assert!(excerpt.cut_before && excerpt.cut_after);
        let near_end = super::Excerpt::new(
            message.as_bytes(),
            Some(Span { start: 10_000, end: 10_003 }),
            String::new(),
        );
        assert!(near_end.cut_before && !near_end.cut_after);
        assert_eq!(width(&near_end.text), COLUMNS);
    }

    #[test]
    fn a_long_span_loses_its_middle() {
        let message = format!("[\"{}END\"]", "ab".repeat(50_000));
        let excerpt = excerpt(message.as_bytes(), 1..message.len() - 1);
        let marked = marked(&excerpt);
        assert!(marked.starts_with("\"abab") && marked.ends_with("END\""), "{marked}");
        assert_eq!(marked.matches('…').count(), 1);
        assert!(width(&excerpt.text) <= COLUMNS);
    }

    #[test]
    fn wide_characters_take_two_columns_and_stay_whole() {
        let message = "日本🎉".repeat(200);
        for at in (0..message.len()).filter(|at| message.is_char_boundary(*at)) {
            let end = at + message[at..].chars().next().map_or(0, char::len_utf8);
            let excerpt = excerpt(message.as_bytes(), at..end);
            assert!(width(&excerpt.text) <= COLUMNS);
            assert!(!excerpt.text.contains('\u{fffd}'), "{}", excerpt.text);
            assert_eq!(marked(&excerpt), &message[at..end]);
        }
    }

    #[test]
    fn unprintable_characters_are_made_visible() {
        let excerpt = excerpt(b"a\n\t\x1b[31m\xffb\x7f\xe2\x80\xae", 1..2);
        assert_eq!(excerpt.text, "a␊␉␛[31m\u{fffd}b␡\u{fffd}");
        assert_eq!(marked(&excerpt), "␊");
    }

    #[test]
    fn no_span_shows_the_beginning() {
        let message = vec![b'x'; 400];
        let excerpt = Excerpt::new(&message, None, "ping".into());
        assert_eq!((excerpt.text.len(), excerpt.span, excerpt.cut_after), (COLUMNS, None, true));
    }

    #[test]
    fn spans_outside_the_message_are_harmless() {
        let past = excerpt(b"ab", 7..9);
        assert_eq!((past.text.as_str(), past.span), ("ab", Some(2..2)));
        let continuation = excerpt(&[0x80; 3000], 1000..2000);
        assert!(width(&continuation.text) <= COLUMNS);
        assert_eq!(marked(&excerpt(b"\x80\x80ab", 1..2)), "\u{fffd}");
    }

    #[test]
    fn narrowing_keeps_the_fault() {
        let message = format!("{}BAD{}", "a".repeat(500), "z".repeat(500));
        let narrow = excerpt(message.as_bytes(), 500..503).narrowed(20);
        assert_eq!(narrow.text, "aaaaaaaaaBADzzzzzzzz");
        assert_eq!(marked(&narrow), "BAD");
    }
}
