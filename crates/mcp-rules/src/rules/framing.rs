//! Bytes cut into messages: stdio lines, and the limits on what is taken in at all.

use mcp_core::{Carriage, Revisions, Side};
use mcp_json::{Span, SyntaxError, SyntaxErrorKind};
use mcp_jsonrpc::ErrorCode;

use super::json;
use crate::{Findings, Level, Meta, findings::Fault};

rules! {
    TRACE_LINE_INVALID: "trace-line-invalid", Trace, Level::Error, Revisions::ALL, "";
    STDOUT_NON_JSON: "stdout-non-json", Framing, Level::Error, Revisions::ALL, "basic/transports#stdio";
    STDIN_NON_JSON: "stdin-non-json", Framing, Level::Error, Revisions::ALL, "basic/transports#stdio";
    EMBEDDED_NEWLINE: "stdio-embedded-newline", Framing, Level::Error, Revisions::ALL, "basic/transports#stdio";
    MULTIPLE_MESSAGES: "stdio-multiple-messages", Framing, Level::Error, Revisions::ALL, "basic/transports#stdio";
    BLANK_LINE: "stdio-blank-line", Framing, Level::Warning, Revisions::ALL, "basic/transports#stdio";
    UNTERMINATED_LINE: "stdio-unterminated-line", Framing, Level::Warning, Revisions::ALL, "basic/transports#stdio";
    BYTE_ORDER_MARK: "byte-order-mark", Framing, Level::Warning, Revisions::ALL, "basic#messages";
    MESSAGE_SIZE_LIMIT: "message-size-limit", Framing, Level::Warning, Revisions::ALL, "";
}

/// The byte order mark in UTF-8.
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// How a piece of text reached the observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// A line of stdin or stdout.
    Stdio,
    /// The body of an HTTP request or response.
    HttpBody,
    /// The data of a server-sent event.
    SseEvent,
    /// A WebSocket message, or that of another transport that delivers each whole.
    WebSocket,
}

impl From<Carriage> for Carrier {
    /// The carrier of live messages.
    fn from(carriage: Carriage) -> Carrier {
        match carriage {
            Carriage::Lines => Carrier::Stdio,
            Carriage::Exchanges => Carrier::HttpBody,
            _ => Carrier::WebSocket,
        }
    }
}

/// Reports text that is not one JSON value, under the rule that explains it best.
pub(crate) fn report_unreadable(
    carrier: Carrier,
    from: Option<Side>,
    error: &SyntaxError,
    bytes: &[u8],
    findings: &mut Findings<'_>,
) {
    let at = Span { start: error.offset, end: (error.offset + 1).min(bytes.len()) };
    let fault = |rule: &'static Meta, message: String| {
        Fault::new(rule, message).at(at).code(ErrorCode::ParseError.code())
    };
    let whole = Span { start: 0, end: bytes.len() };
    match error.kind {
        SyntaxErrorKind::TooDeep { limit } => findings.report(
            Fault::new(&json::DEPTH_LIMIT, format!("nested deeper than {limit} levels")).at(at),
        ),
        SyntaxErrorKind::TooLong { length, limit } => {
            findings.report(too_long(Some(length), limit));
        }
        SyntaxErrorKind::InvalidUtf8 => {
            findings.report(fault(&json::INVALID_UTF8, "not valid UTF-8 from here on".into()));
        }
        _ => match carrier {
            Carrier::HttpBody => {
                findings.report(fault(&json::HTTP_BODY_NOT_JSON, error.to_string()));
            }
            Carrier::SseEvent => {
                findings.report(fault(&json::SSE_DATA_INVALID, error.to_string()));
            }
            Carrier::WebSocket => {
                findings.report(fault(&json::MESSAGE_NOT_JSON, error.to_string()));
            }
            Carrier::Stdio => {
                let (rule, help) = match from {
                    Some(Side::Client) => (
                        &STDIN_NON_JSON,
                        "write nothing but messages to the server's standard input",
                    ),
                    Some(Side::Server) | None => (
                        &STDOUT_NON_JSON,
                        "write logs and banners to stderr; stdout belongs to the protocol",
                    ),
                };
                let looks_like_json = matches!(bytes.trim_ascii_start(), [b'{' | b'[', ..]);
                let fault = if looks_like_json {
                    fault(rule, format!("not valid JSON: {error}"))
                } else {
                    Fault::new(rule, "not a JSON-RPC message but other text")
                        .at(whole)
                        .code(ErrorCode::ParseError.code())
                        .help(help)
                };
                findings.report(fault);
            }
        },
    }
}

/// A message that was not even read.
pub(crate) fn too_long(length: Option<usize>, limit: usize) -> Fault {
    let message = match length {
        Some(length) => format!("{length} bytes exceed the limit of {limit}"),
        None => format!("longer than the limit of {limit} bytes"),
    };
    Fault::new(&MESSAGE_SIZE_LIMIT, message)
        .help("the message was skipped; raise limits.message_bytes to judge it")
}
