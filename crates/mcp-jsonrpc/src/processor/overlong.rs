//! Guesses the kind and id of a message over the size limit from its beginning and end.
//!
//! This spares the request it belongs to a timeout. `id` usually comes before or after everything
//! that is long, and the first members show the kind of message.

use mcp_core::MessageEnds;

use crate::JsonRpcId;

/// What a discarded message appears to be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Overlong {
    pub(super) id: Option<JsonRpcId>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// It has `result` or `error`.
    Response,
    /// It has `method`: a request or a notification.
    Call,
    /// A batch, a message whose first members are all long, or not a message.
    #[default]
    Unknown,
}

impl Overlong {
    pub(super) fn of(ends: &MessageEnds) -> Overlong {
        let mut seen = Overlong::default();
        let mut text = Text::new(ends.start());
        if text.take(b'{').is_none() {
            return seen;
        }
        // All complete members, and the name of the one that is cut off.
        while let Some(name) = text.name() {
            match name {
                b"result" | b"error" => seen.kind = Kind::Response,
                b"method" => seen.kind = Kind::Call,
                _ => {}
            }
            let Some(value) = text.value() else { break };
            if name == b"id" {
                seen.id = id_of(value);
            }
            if text.take(b',').is_none() {
                break;
            }
        }
        seen.id = seen.id.or_else(|| last_id(ends.end()));
        seen
    }
}

/// The id of an object of which only the end is known: one of its last members, followed only by
/// scalar values.
fn last_id(end: &[u8]) -> Option<JsonRpcId> {
    const NAME: &[u8] = b"\"id\"";
    /// The number of occurrences of `"id"` to try.
    const MAX_TRIED: usize = 8;
    let places = (0..end.len()).rev().filter(|at| {
        let is_name = end.get(*at..).is_some_and(|rest| rest.starts_with(NAME));
        let before = end.get(..*at).unwrap_or_default().trim_ascii_end();
        // After anything else it is a value, or part of a string.
        is_name && matches!(before.last(), Some(b',' | b'{'))
    });
    places.take(MAX_TRIED).find_map(|at| {
        let mut text = Text::new(end.get(at..)?);
        text.name()?;
        let id = id_of(text.value()?)?;
        while text.take(b',').is_some() {
            text.name()?;
            let value = text.value()?;
            if matches!(value.first(), Some(b'{' | b'[')) {
                return None;
            }
        }
        // Only the message itself ends where the text ends.
        text.take(b'}')?;
        text.is_at_end().then_some(id)
    })
}

fn id_of(value: &[u8]) -> Option<JsonRpcId> {
    if value == b"null" {
        return None;
    }
    if let Ok(integer) = serde_json::from_slice(value) {
        return Some(JsonRpcId::Integer(integer));
    }
    let text: String = serde_json::from_slice(value).ok()?;
    Some(JsonRpcId::String(text.into()))
}

/// JSON text that may end anywhere. Anything cut off is treated as absent.
struct Text<'t> {
    rest: &'t [u8],
}

impl<'t> Text<'t> {
    fn new(text: &'t [u8]) -> Text<'t> {
        Text { rest: text.trim_ascii_start() }
    }

    fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes the next byte that is not whitespace, if it is this one.
    fn take(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[byte])?.trim_ascii_start();
        Some(())
    }

    /// Takes the name of a member and the colon. Escapes in names are not decoded.
    fn name(&mut self) -> Option<&'t [u8]> {
        let quoted = self.value().filter(|name| name.starts_with(b"\""))?;
        self.take(b':')?;
        quoted.get(1..quoted.len().checked_sub(1)?)
    }

    /// Takes a value of any kind, if it is complete.
    fn value(&mut self) -> Option<&'t [u8]> {
        let mut depth = 0_usize;
        let mut at = 0;
        loop {
            match self.rest.get(at)? {
                b'"' => at += string_length(self.rest.get(at..)?)?,
                b'{' | b'[' => {
                    depth += 1;
                    at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if depth > 0 => at += 1,
                _ => at += plain_length(self.rest.get(at..)?)?,
            }
            if depth == 0 {
                let (value, rest) = self.rest.split_at_checked(at)?;
                self.rest = rest.trim_ascii_start();
                return Some(value);
            }
        }
    }
}

fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The length of a number or keyword. `None` at the end of the text, where it may be cut off.
fn plain_length(text: &[u8]) -> Option<usize> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    text.iter().position(|byte| !is_plain(byte)).filter(|length| *length > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The guess for `text`, with `…` replaced by a long run of `x`.
    fn guess(text: &str) -> (Option<JsonRpcId>, Kind) {
        let text = text.replace('…', &"x".repeat(5000));
        let Overlong { id, kind } = Overlong::of(&MessageEnds::of(text.as_bytes()));
        (id, kind)
    }

    #[test]
    fn an_id_before_or_after_everything_else_is_found() {
        for text in [
            r#"{"jsonrpc":"2.0","id":7,"result":{"text":"…"}}"#,
            r#"{"result":{"content":[{"id":1,"text":"…"}]},"jsonrpc":"2.0","id":7}"#,
            r#"{"result":{"text":"…"},"id":7,"jsonrpc":"2.0"}"#,
            r#" { "id" : 7 , "error" : { "message" : "…" } } "#,
            r#"{"result":{"text":"…","id":3},"id" : 7 }"#,
            r#"{"_meta":{"id":1},"id":7,"result":["…"]}"#,
            r#"{"result":"…,\"id\":3}","id":7}"#,
        ] {
            assert_eq!(guess(text), (Some(JsonRpcId::Integer(7)), Kind::Response), "{text}");
        }
        let call = r#"{"method":"tools/call","params":{"a":"…"},"jsonrpc":"2.0","id":"a\"b"}"#;
        assert_eq!(guess(call), (Some(JsonRpcId::String("a\"b".into())), Kind::Call));
    }

    #[test]
    fn an_id_of_something_else_is_ignored() {
        for text in [
            r#"{"result":{"text":"…","id":7}}"#,
            r#"{"result":{"text":"…"},"x":{"id":7}}"#,
            r#"{"result":{"text":"…,\"id\":7}"}}"#,
            r#"{"result":["…",{"id":7}]}"#,
            r#"{"id":null,"result":"…"}"#,
            r#"{"result":"…","id":null}"#,
            r#"{"id":1.5,"result":"…"}"#,
            r#"{"result":"…","a":1}"#,
        ] {
            assert_eq!(guess(text), (None, Kind::Response), "{text}");
        }
    }

    #[test]
    fn text_that_is_not_a_message_is_unknown() {
        for text in ["…", "[INFO] …", r#"[{"id":7,"result":"…"}]"#, "", "{", r#"{"…":1}"#, "{\"a"]
        {
            assert_eq!(guess(text), (None, Kind::Unknown), "{text}");
        }
        assert_eq!(guess(r#"{"a":"…","id":7,"b":"…"}"#), (None, Kind::Unknown));
        let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"…"}}"#;
        assert_eq!(guess(note), (None, Kind::Call));
    }
}
