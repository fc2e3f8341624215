//! Splitting bytes into messages: stdio lines, and size limits.

use mcp_core::{Framing, Revisions, Side};
use mcp_json::{Span, SyntaxError, SyntaxErrorKind};
use mcp_jsonrpc::ErrorCode;

use super::json;
use crate::{Findings, Level, RuleMeta, findings::Fault};

rules! {
    TRACE_LINE_INVALID: "trace-line-invalid", Trace, Level::Error, Revisions::ALL, "";
    STDOUT_NON_JSON: "stdout-non-json", Framing, Level::Error, Revisions::ALL, "basic/transports#stdio";
    STDIN_NON_JSON: "stdin-non-json", Framing, Level::Error, Revisions::ALL, "basic/transports#stdio";
    EMBEDDED_NEWLINE: "stdio-embedded-newline", Framing, Level::Error, Revisions::ALL, "basic/transports#stdio";
    MULTIPLE_MESSAGES: "stdio-multiple-messages", Framing, Level::Error, Revisions::ALL, "basic/transports#stdio";
    BLANK_LINE: "stdio-blank-line", Framing, Level::Warning, Revisions::ALL, "basic/transports#stdio";
    UNTERMINATED_LINE: "stdio-unterminated-line", Framing, Level::Warning, Revisions::ALL, "basic/transports#stdio";
    BYTE_ORDER_MARK: "byte-order-mark", Framing, Level::Warning, Revisions::ALL, "basic#messages";
    MESSAGE_SIZE_LIMIT: "message-size-limit", Framing, Level::Warning, Revisions::ALL, "", Unjudged;
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
    /// A message of WebSocket, or of another message-based transport.
    WebSocket,
}

impl From<Framing> for Carrier {
    /// The carrier of live messages.
    fn from(framing: Framing) -> Carrier {
        match framing {
            Framing::Lines => Carrier::Stdio,
            Framing::HttpExchanges => Carrier::HttpBody,
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
    let fault = |rule: &'static RuleMeta, message: String| {
        Fault::new(rule, message).at(at).code(ErrorCode::ParseError.code())
    };
    let whole = Span { start: 0, end: bytes.len() };
    let rule = not_json(carrier, from);
    match error.kind {
        SyntaxErrorKind::TooDeep { limit } => findings.report(too_deep(limit).at(at)),
        SyntaxErrorKind::TooLong { length, limit } => {
            findings.report(too_long(Some(length), limit));
        }
        SyntaxErrorKind::InvalidUtf8 => {
            findings.report(fault(&json::INVALID_UTF8, "not valid UTF-8 from here on".into()));
        }
        SyntaxErrorKind::ByteOrderMark if begins_like_json(bytes.get(BOM.len()..)) => {
            let mark = Span { start: 0, end: BOM.len() };
            let fault = fault(rule, "a byte order mark precedes the message".into());
            findings.report(fault.at(mark).help("send UTF-8 without a byte order mark"));
        }
        _ if carrier != Carrier::Stdio => findings.report(fault(rule, error.to_string())),
        _ if begins_like_json(Some(bytes)) => {
            findings.report(fault(rule, format!("not valid JSON: {error}")));
        }
        _ => {
            let help = match from {
                Some(Side::Client) => "write nothing but messages to the server's standard input",
                Some(Side::Server) | None => {
                    "write logs and banners to stderr; stdout belongs to the protocol"
                }
            };
            let fault = fault(rule, "not a JSON-RPC message but other text".into());
            findings.report(fault.at(whole).help(help));
        }
    }
}

/// The rule against text that is not JSON.
fn not_json(carrier: Carrier, from: Option<Side>) -> &'static RuleMeta {
    match (carrier, from) {
        (Carrier::HttpBody, _) => &json::HTTP_BODY_NOT_JSON,
        (Carrier::SseEvent, _) => &json::SSE_DATA_INVALID,
        (Carrier::WebSocket, _) => &json::MESSAGE_NOT_JSON,
        (Carrier::Stdio, Some(Side::Client)) => &STDIN_NON_JSON,
        (Carrier::Stdio, Some(Side::Server) | None) => &STDOUT_NON_JSON,
    }
}

fn begins_like_json(bytes: Option<&[u8]>) -> bool {
    matches!(bytes.map(<[u8]>::trim_ascii_start), Some([b'{' | b'[', ..]))
}

/// The fault of a message that is nested too deeply, which was not parsed to its end.
pub(crate) fn too_deep(limit: usize) -> Fault {
    Fault::new(&json::DEPTH_LIMIT, format!("nested deeper than {limit} levels"))
}

/// The fault of a message that is too long, which was not parsed.
pub(crate) fn too_long(length: Option<usize>, limit: usize) -> Fault {
    let message = match length {
        Some(length) => format!("{length} bytes exceed the limit of {limit}"),
        None => format!("longer than the limit of {limit} bytes"),
    };
    Fault::new(&MESSAGE_SIZE_LIMIT, message)
        .help("the message was skipped; raise `limits.message_bytes` to check it")
}
