//! Load for echo servers and what it shows.
//!
//! The client is the same for every server and as plain as possible: threads, blocking sockets and
//! pipes, messages written and read as bytes. Servers are started once; rounds take them in turn,
//! each time another one first, so that whatever else the machine does hits all of them alike.

pub mod http;
pub mod report;
pub mod sample;
pub mod server;
pub mod stdio;
pub mod ws;

/// A call of the echo tool with this id, as a session of 2025-11-25 writes it.
pub fn call(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"hello, plumb"}}}}}}"#
    )
}

/// The same call as 2026-07-28 writes it.
pub fn stateless_call(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/clientInfo":{{"name":"load","version":"1.0.0"}}}},"name":"echo","arguments":{{"message":"hello, plumb"}}}}}}"#
    )
}

/// The opening of a session.
pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1.0.0"}}}"#;

/// The end of the opening.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// What every right answer contains.
pub const ANSWER: &[u8] = b"hello, plumb";

/// Whether `text` is an answer with the echo in it and no error.
pub fn is_right(text: &[u8]) -> bool {
    text.windows(ANSWER.len()).any(|window| window == ANSWER)
        && !text.windows(8).any(|window| window == b"\"error\":")
}
