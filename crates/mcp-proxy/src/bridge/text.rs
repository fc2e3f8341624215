//! Texts that bridges write or change.

use bytes::Bytes;
use mcp_core::{Refusal, RefusalReason};
use mcp_json::{Limits, Span, Tape};
use mcp_jsonrpc::{ErrorCode, JsonRpcError, JsonRpcId, JsonRpcResponse};

/// JSON on one line: raw line breaks, which can only be between its tokens, become spaces. Other
/// text stays as it is.
pub(crate) fn one_line(text: Bytes, limits: Limits) -> Bytes {
    if memchr::memchr2(b'\n', b'\r', &text).is_none() || Tape::new().parse(&text, limits).is_err() {
        return text;
    }
    let flat = |byte: &u8| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte };
    text.iter().map(flat).collect()
}

/// A text with some parts replaced. The parts do not overlap.
pub(crate) fn with_parts(text: &[u8], mut parts: Vec<(Span, Bytes)>) -> Bytes {
    parts.sort_by_key(|(span, _)| span.start);
    let mut out = Vec::with_capacity(text.len() + 32);
    let mut copied = 0;
    for (span, new) in parts {
        out.extend_from_slice(text.get(copied..span.start).unwrap_or_default());
        out.extend_from_slice(&new);
        copied = span.end;
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    out.into()
}

/// What a caller gets that will not get an answer.
pub(crate) fn failure(id: Option<JsonRpcId>, code: ErrorCode, message: &str) -> Bytes {
    let error = JsonRpcError::new(code.code(), message);
    JsonRpcResponse { id, outcome: Err(error) }.to_bytes()
}

/// Why a text is not sent on that is no message.
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
        // It would become valid.
        assert_eq!(flat("\"a\nb\""), "\"a\nb\"");
    }

    #[test]
    fn parts_are_replaced_wherever_they_are() {
        let span = |start, end| Span { start, end };
        let parts = vec![(span(4, 5), Bytes::from("55")), (span(0, 1), Bytes::from("x"))];
        assert_eq!(with_parts(b"a b c", parts), "x b 55");
        assert_eq!(with_parts(b"a", Vec::new()), "a");
    }
}
