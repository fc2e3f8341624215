//! The headers of 2026-07-28 that mirror parts of the body.

mod mismatch;

use std::borrow::Cow;

use mcp_core::{Era, Revision, Revisions, Side};
use mcp_jsonrpc::{Envelope, MessageKind};
use serde::{Deserialize, Serialize};

pub use self::mismatch::{HeaderMismatch, header_mismatches};
use super::{Exchange, HeaderName, Headers, HttpPart, Observation};
use crate::{
    Level,
    conversation::{Known, META_CAPABILITIES, META_VERSION, Moment, Notes},
    findings::Fault,
};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    METHOD_MISSING: "mcp-method-header-missing", Http, Level::Error, MODERN, "basic/transports/streamable-http#standard-request-headers";
    METHOD_MISMATCH: "mcp-method-header-mismatch", Http, Level::Error, MODERN, "basic/transports/streamable-http#server-validation";
    NAME_MISSING: "mcp-name-header-missing", Http, Level::Error, MODERN, "basic/transports/streamable-http#standard-request-headers";
    NAME_MISMATCH: "mcp-name-header-mismatch", Http, Level::Error, MODERN, "basic/transports/streamable-http#server-validation";
    ENCODING: "mcp-header-encoding", Http, Level::Error, MODERN, "basic/transports/streamable-http#value-encoding";
    PARAM_MISSING: "mcp-param-header-missing", Http, Level::Error, MODERN, "basic/transports/streamable-http#custom-headers-from-tool-parameters";
    PARAM_MISMATCH: "mcp-param-header-mismatch", Http, Level::Error, MODERN, "basic/transports/streamable-http#server-behavior-for-custom-headers";
    PARAM_UNEXPECTED: "mcp-param-header-unexpected", Http, Level::Error, MODERN, "basic/transports/streamable-http#server-behavior-for-custom-headers";
    PARAM_UNSAFE: "mcp-param-unsafe-integer", Http, Level::Error, MODERN, "basic/transports/streamable-http#schema-extension";
    NOT_REJECTED: "header-mismatch-not-rejected", Http, Level::Error, MODERN, "basic/transports/streamable-http#server-validation";
}

/// State kept per exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Whether the headers contradict the body or lack what is required, so that the server must
    /// refuse the request.
    pub(crate) broken: bool,
    /// Whether `_meta` is incomplete, which is another reason to refuse it.
    meta_incomplete: bool,
    /// Where the server accepted it, or refused it incorrectly.
    accepted: Option<(Moment, Reply)>,
}

/// How a server answered a request it had to refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Reply {
    Status(u16),
    /// The right status with another error code.
    Code(i64),
}

/// Compares headers and body, and judges how the server responds.
pub(super) fn follow(
    event: &Observation<'_>,
    exchange: &mut Exchange,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let modern = exchange.revision.unwrap_or(event.revision).era() == Era::Modern;
    if !modern || !exchange.is_post() || !exchange.request.at_endpoint() {
        return;
    }
    match event.part {
        HttpPart::Request { headers, .. }
            if event.settled && headers.are_recorded() && !exchange.initializes() =>
        {
            let Some(message) = event.message else { return };
            let request =
                event.single.map_or_else(|| Envelope::of(message), |single| single.envelope);
            if request.kind() == Some(MessageKind::Request) {
                exchange.headers.meta_incomplete = lacks_meta(&request);
            }
            let params = |tool: &str| known.listings.tools.get(tool).map(|tool| &tool.headers);
            for mismatch in
                header_mismatches(&request, headers, |tool| params(tool).map(Cow::Borrowed))
            {
                exchange.headers.broken |= mismatch.must_refuse;
                notes.always(mismatch.fault());
            }
        }
        HttpPart::Response { status, .. } if exchange.headers.broken => {
            let reply = wrong_reply(status, event.error_code(), exchange.headers.meta_incomplete);
            exchange.headers.accepted = reply.map(|reply| (event.at, reply));
            judge_accepted(exchange, notes);
        }
        HttpPart::Event(_) => judge_accepted(exchange, notes),
        HttpPart::Request { .. } | HttpPart::Response { .. } | HttpPart::End => {}
    }
}

/// Whether a request lacks `_meta` members that a modern one needs.
fn lacks_meta(request: &Envelope<'_>) -> bool {
    let meta = request.params.and_then(|params| params.get("_meta"));
    let has = |name| meta.is_some_and(|meta| meta.get(name).is_some());
    !has(META_VERSION) || !has(META_CAPABILITIES)
}

/// Returns what is wrong with the answer to a request that had to be refused for its headers.
/// Another reason to refuse it may have been found first.
fn wrong_reply(status: u16, code: Option<i64>, meta_incomplete: bool) -> Option<Reply> {
    match (status, code) {
        // Such an error with a wrong status has its own rule.
        (_, Some(-32022..=-32020)) => None,
        (200..=299, _) => Some(Reply::Status(status)),
        (400, Some(-32602)) if meta_incomplete => None,
        (400, Some(code)) => Some(Reply::Code(code)),
        _ => None,
    }
}

/// A legacy server may answer anything to a request it does not understand.
fn judge_accepted(exchange: &mut Exchange, notes: &mut Notes) {
    if !exchange.request.server_is_modern {
        return;
    }
    let Some((at, reply)) = exchange.headers.accepted.take() else { return };
    let message = match reply {
        Reply::Status(status) => {
            format!("a request with wrong headers is answered with status {status}")
        }
        Reply::Code(code) => {
            format!("a request with wrong headers is answered with error {code}")
        }
    };
    let fault = Fault::new(&NOT_REJECTED, message)
        .earlier(at.line(), Side::Server)
        .related(exchange.at.line(), "the request was here")
        .help("answer 400 with error -32020 (HeaderMismatch)");
    notes.always(fault);
}
