//! The messages of the client and of the server.

/// The handshake of the client.
pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
/// The end of the handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
/// The text to echo.
const TEXT: &str = "a text as long as a short line of a log, or a question to a model";

/// A call with this id.
pub fn call(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{TEXT}"}}}}}}"#
    )
}

/// The answer to a message, if it needs one.
pub fn answer(message: &str) -> Option<String> {
    let id = id_of(message)?;
    let result = if message.contains(r#""method":"initialize""#) {
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}"#.to_owned()
    } else if message.contains(r#""method":"tools/list""#) {
        r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#.to_owned()
    } else if message.contains(r#""method":"ping""#) {
        "{}".to_owned()
    } else {
        format!(r#"{{"content":[{{"type":"text","text":"{TEXT}"}}]}}"#)
    };
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

/// The id of a message, as written. Bridges may reorder members or add spaces.
pub fn id_of(message: &str) -> Option<&str> {
    let rest = message.split_once(r#""id":"#)?.1.trim_start();
    let end = rest.find([',', '}'])?;
    Some(rest[..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_wherever_they_stand() {
        assert_eq!(id_of(&call(7)), Some("7"));
        assert_eq!(id_of(r#"{"method":"ping", "id": "a b" }"#), Some("\"a b\""));
        assert_eq!(id_of(INITIALIZED), None);
    }
}
