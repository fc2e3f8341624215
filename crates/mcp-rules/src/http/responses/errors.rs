//! The HTTP status that goes with an error of 2026-07-28.

use mcp_jsonrpc::{ErrorCode, MessageKind};

use super::{ERROR_STATUS, METHOD_STATUS};
use crate::{
    conversation::Notes,
    findings::Fault,
    http::{CarriedMessage, Exchange, Observation},
};

const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;

pub(super) fn judge(event: &Observation<'_>, exchange: &Exchange, notes: &mut Notes) {
    let Some(status) = exchange.status else { return };
    if !exchange.response.carries_requests() {
        return;
    }
    event.each_message(|message| {
        if message.envelope.kind() == Some(MessageKind::Response) {
            judge_error(message, status, exchange, notes);
        }
    });
}

fn judge_error(message: &CarriedMessage<'_>, status: u16, exchange: &Exchange, notes: &mut Notes) {
    let envelope = &message.envelope;
    let Some(code) = envelope.error_code() else { return };
    let Some(asked) = asked(message, exchange) else { return };
    // An older server that is only being probed answers in its own way.
    let probe = asked == "server/discover";
    let (rule, expected, reason) = match code {
        UNSUPPORTED_VERSION..=HEADER_MISMATCH => (&ERROR_STATUS, 400, ""),
        _ if probe => return,
        _ if code == ErrorCode::InvalidParams.code() && exchange.response.lacks_meta => {
            (&ERROR_STATUS, 400, " for missing `_meta` members")
        }
        _ if code == ErrorCode::MethodNotFound.code() => (&METHOD_STATUS, 404, ""),
        _ => return,
    };
    if status == expected {
        return;
    }
    let span =
        envelope.error.and_then(|error| error.get("code")).map_or(envelope.object, |code| code);
    notes.always(
        Fault::new(
            rule,
            format!("error {code}{reason} comes with status {status} instead of {expected}"),
        )
        .at(span.span())
        .related(exchange.at.line(), "the request was here")
        .help("detect the error before the response begins, while the status can still be set"),
    );
}

/// The method that an error on this exchange answers; the error may lack the id.
fn asked<'e>(message: &CarriedMessage<'_>, exchange: &'e Exchange) -> Option<&'e str> {
    let asked = match &message.id {
        Some(id) => exchange.asked(id)?,
        None => exchange.requests().next()?,
    };
    Some(&asked.name)
}
