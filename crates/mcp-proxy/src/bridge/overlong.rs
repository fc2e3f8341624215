use mcp_core::MessageEnds;
use mcp_json::{Limits, Tape};
use mcp_jsonrpc::{JsonRpcId, MessageKind};

/// The id of an overlong message, if its beginning or end shows it. Only reliable enough to report
/// that the message was lost.
pub(crate) fn id_of(ends: &MessageEnds) -> Option<JsonRpcId> {
    first_id(ends.start()).or_else(|| last_id(ends.end()))
}

/// The kind and the id of an overlong message, if its beginning and end leave no doubt.
pub(crate) fn kind_of(ends: &MessageEnds) -> Option<(MessageKind, JsonRpcId)> {
    let members = members(ends.start());
    let kind = members.iter().find_map(|(name, _)| match *name {
        b"method" => Some(MessageKind::Request),
        b"result" | b"error" => Some(MessageKind::Response),
        _ => None,
    })?;
    let first = members.iter().find(|(name, _)| *name == b"id").and_then(|(_, rest)| read(rest));
    Some((kind, first.or_else(|| closing_id(ends.end()))?))
}

/// The members at the beginning of an object: each name with the text that follows it.
fn members(text: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut found = Vec::new();
    let (mut depth, mut rest) = (0_usize, text.trim_ascii_start());
    if rest.first() != Some(&b'{') {
        return found;
    }
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let Some(length) = string_length(rest) else { break };
                let (name, after) = rest.split_at(length);
                rest = after.get(1..).unwrap_or_default();
                if depth == 1 && rest.trim_ascii_start().starts_with(b":") {
                    found.push((name, rest));
                }
            }
            _ => {}
        }
    }
    found
}

/// Number of bytes before the closing quote.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The id that is the last member of a message, or the last but its version.
fn closing_id(text: &[u8]) -> Option<JsonRpcId> {
    let rest = text.get(memchr::memmem::rfind(text, NAME)? + NAME.len()..)?;
    let version = memchr::memmem::find(rest, b"\"jsonrpc\"").is_some();
    let closes =
        memchr::memchr_iter(b'}', rest).count() == 1 && rest.trim_ascii_end().ends_with(b"}");
    let members = memchr::memchr_iter(b',', rest).count();
    if closes && members == usize::from(version) { read(rest) } else { None }
}

const NAME: &[u8] = b"\"id\"";

fn first_id(text: &[u8]) -> Option<JsonRpcId> {
    read(text.get(memchr::memmem::find(text, NAME)? + NAME.len()..)?)
}

fn last_id(text: &[u8]) -> Option<JsonRpcId> {
    read(text.get(memchr::memmem::rfind(text, NAME)? + NAME.len()..)?)
}

/// The number or the string after a colon.
fn read(text: &[u8]) -> Option<JsonRpcId> {
    let value = text.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let end = match value.first()? {
        b'"' => memchr::memchr(b'"', value.get(1..)?)? + 2,
        _ => value.iter().position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\r' | b'\n'))?,
    };
    let mut tape = Tape::new();
    let document = tape.parse(value.get(..end)?, Limits::default()).ok()?;
    JsonRpcId::read(document.root())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_message_whose_own_members_show_it_is_known() {
        use MessageKind::{Request, Response};
        let long = "x".repeat(10_000);
        for (text, expected) in [
            (
                format!(r#"{{"jsonrpc":"2.0","id":7,"result":"{long}"}}"#),
                Some((Response, 7.into())),
            ),
            (
                format!(r#" {{"error":{{"id":1,"data":"{long}"}},"id":7}}"#),
                Some((Response, 7.into())),
            ),
            (
                format!(
                    r#"{{"method":"a","params":{{"id":1,"b":"{long}"}},"jsonrpc":"2.0","id":"c"}}"#
                ),
                Some((Request, "c".into())),
            ),
            (
                format!(r#"{{"result":["{long}"], "id": 7 , "jsonrpc":"2.0"}}"#),
                Some((Response, 7.into())),
            ),
            (format!(r#"{{"method":"a","params":{{"b":"{long}","id":1}}}}"#), None),
            (format!(r#"{{"params":["{long}"],"id":1,"method":"a"}}"#), None),
            (format!(r#"[{{"id":1,"method":"a","params":["{long}"]}}]"#), None),
            (format!(r#"{{"a":"\\\"method\":{long}","id":1}}"#), None),
        ] {
            let found = kind_of(&MessageEnds::of(text.as_bytes()));
            assert_eq!(found, expected, "{}", &text[..60]);
        }
    }

    #[test]
    fn ids_are_found_at_either_end() {
        let long = "x".repeat(10_000);
        for (text, expected) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"result":"{long}"}}"#), Some(7.into())),
            (format!(r#"{{"result":"{long}", "id" : "a" }}"#), Some("a".into())),
            (long, None),
        ] {
            assert_eq!(id_of(&MessageEnds::of(text.as_bytes())), expected);
        }
    }
}
