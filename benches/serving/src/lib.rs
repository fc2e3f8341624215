//! Generates load for echo servers and measures it.
//!
//! The client is the same for every server and as simple as possible: threads, blocking sockets and
//! pipes, messages written and read as bytes. Servers are started once; rounds take turns, each
//! time starting with a different server, so that other load on the machine affects all of them
//! alike.

pub mod http;
pub mod pinning;
pub mod report;
pub mod sample;
pub mod server;
pub mod stdio;
pub mod ws;

/// A call of the echo tool with this id, in the format of a 2025-11-25 session.
pub fn call(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"hello, plumb"}}}}}}"#
    )
}

/// The same call in the format of 2026-07-28.
pub fn stateless_call(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/clientInfo":{{"name":"load","version":"1.0.0"}}}},"name":"echo","arguments":{{"message":"hello, plumb"}}}}}}"#
    )
}

/// The first message of the handshake.
pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1.0.0"}}}"#;

/// The last message of the handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Contained in every correct answer.
pub const ANSWER: &[u8] = b"hello, plumb";

/// Whether `text` is an answer that contains the echo and no error.
pub fn is_right(text: &[u8]) -> bool {
    text.windows(ANSWER.len()).any(|window| window == ANSWER)
        && !text.windows(8).any(|window| window == b"\"error\":")
}
