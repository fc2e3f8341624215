//! Texts written or changed by bridges.

use bytes::Bytes;
use mcp_core::{Refusal, RefusalReason};
use mcp_json::{Limits, Tape};
use mcp_jsonrpc::{ErrorCode, JsonRpcError, JsonRpcId, JsonRpcResponse};

/// Puts JSON on one line: raw line breaks, which can only occur between tokens, become spaces.
/// Other text is unchanged.
pub(crate) fn one_line(text: Bytes, limits: Limits) -> Bytes {
    if memchr::memchr2(b'\n', b'\r', &text).is_none() || Tape::new().parse(&text, limits).is_err() {
        return text;
    }
    let flat = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
    text.iter().map(flat).collect()
}

/// The error for a caller that will get no answer.
pub(crate) fn failure(id: Option<JsonRpcId>, code: ErrorCode, message: &str) -> Bytes {
    let error = JsonRpcError::new(code.code(), message);
    JsonRpcResponse { id, outcome: Err(error) }.to_bytes()
}

/// The refusal of a text that is not a message.
pub(crate) fn refusal(reason: RefusalReason, message: impl Into<String>) -> Refusal {
    Refusal { index: None, reason, message: message.into(), findings: Vec::new(), facts: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_become_spaces() {
        let flat = |text: &'static str| one_line(text.into(), Limits::default());
        assert_eq!(flat("{\"a\":\r\n1}"), "{\"a\":  1}");
        assert_eq!(flat("{}"), "{}");
        // Replacing the line break would make it valid.
        assert_eq!(flat("\"a\nb\""), "\"a\nb\"");
    }
}
