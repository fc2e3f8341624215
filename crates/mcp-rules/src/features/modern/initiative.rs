//! Who may send requests and responses: since 2026-07-28 every interaction begins with the client.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, ErrorCode};

use crate::{Findings, Level, findings::Fault};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    SERVER_REQUEST: "server-request-forbidden", Session, Level::Error, MODERN, "basic/patterns";
    CLIENT_RESPONSE: "client-response-forbidden", Session, Level::Error, MODERN, "basic/transports/streamable-http#sending-messages";
}

/// Reports a kind of message that its sender must not send.
#[cold]
pub(crate) fn report(envelope: &Envelope<'_>, findings: &mut Findings<'_>) {
    findings.report(match envelope.method {
        Some(method) => server_request(method),
        None => Fault::new(
            &CLIENT_RESPONSE,
            "the client sends a response, but servers do not send requests in 2026-07-28",
        )
        .at(envelope.result.or(envelope.error).unwrap_or(envelope.object).span())
        .code(ErrorCode::InvalidRequest.code())
        .help("send the original request again, with the answers in `inputResponses`"),
    });
}

fn server_request(method: Node<'_>) -> Fault {
    let name = method.as_str().unwrap_or_default();
    let help = match &*name {
        "elicitation/create" | "sampling/createMessage" | "roots/list" => {
            "answer the client's request with `\"resultType\":\"input_required\"` and put the question into `inputRequests`"
        }
        "ping" => "omit it: the transport shows whether the client is connected",
        _ => "only clients send requests; servers answer and notify",
    };
    Fault::new(&SERVER_REQUEST, format!("the server sends a request, `{name}`"))
        .at(method.span())
        .code(ErrorCode::MethodNotFound.code())
        .help(help)
}
