use mcp_core::MessageEnds;
use mcp_json::{Limits, Tape};
use mcp_jsonrpc::JsonRpcId;

/// The id of a message that was too long, as far as its beginning or its end shows it. It is only
/// good for telling whoever waits that the message is lost.
pub(crate) fn id_of(ends: &MessageEnds) -> Option<JsonRpcId> {
    first_id(ends.start()).or_else(|| last_id(ends.end()))
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
