//! One-line previews of messages.

use mcp_json::Node;

use crate::text::excerpt;

/// Longest preview, in characters.
pub(crate) const LONGEST: usize = 160;

/// The beginning of the part that distinguishes a message from others of its kind: the arguments of
/// a call, or the params, result or error. `_meta` is left out, since it hardly varies.
pub(crate) fn of_payload(payload: Node<'_>) -> String {
    let arguments = payload.get("arguments").filter(|_| payload.get("name").is_some());
    if let Some(arguments) = arguments {
        return excerpt(arguments.raw(), LONGEST);
    }
    if payload.get("_meta").is_none() {
        return excerpt(payload.raw(), LONGEST);
    }
    let mut text = b"{".to_vec();
    for (name, value) in payload.members().filter(|(name, _)| !name.str_eq("_meta")) {
        if text.len() > 1 {
            text.push(b',');
        }
        text.extend_from_slice(name.raw());
        text.push(b':');
        // A character has at most four bytes.
        text.extend_from_slice(&value.raw()[..value.raw().len().min(LONGEST * 4 + 4)]);
        if text.len() > LONGEST * 4 {
            break;
        }
    }
    text.push(b'}');
    excerpt(&text, LONGEST)
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    fn preview(text: &str) -> String {
        of_payload(Tape::new().parse(text.as_bytes(), Limits::default()).unwrap().root())
    }

    #[test]
    fn a_call_shows_its_arguments_and_others_all_but_meta() {
        assert_eq!(
            preview(r#"{"_meta":{"a":1},"name":"greet","arguments":{"b":2}}"#),
            r#"{"b":2}"#
        );
        assert_eq!(preview(r#"{"a":[1, 2],"_meta":{"b":1},"c":"d"}"#), r#"{"a":[1, 2],"c":"d"}"#);
        assert_eq!(preview(r#"{"_meta":{}}"#), "{}");
        assert_eq!(preview(r#"{"name":"greet"}"#), r#"{"name":"greet"}"#);
        assert_eq!(preview("[1]"), "[1]");
    }

    #[test]
    fn previews_are_short_whatever_was_sent() {
        let long = format!(r#"{{"_meta":{{}},"a":"{}","b":1}}"#, "x".repeat(100_000));
        let shown = preview(&long);
        assert_eq!(shown.chars().count(), LONGEST + 1);
        assert!(shown.ends_with('…'));
    }
}
