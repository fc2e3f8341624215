//! The allowed bodies of an answer.

use mcp_core::Era;
use mcp_jsonrpc::MessageKind;

use super::{Carries, JSON_NOT_RESPONSE, NOTIFICATION_BODY, NOTIFICATION_STATUS};
use crate::{
    conversation::{Known, Notes},
    findings::Fault,
    http::{CarriedMessage, Exchange, HeaderName, Headers, Observation, is_media_type},
};

/// Checks that messages that need no response are answered with 202 and no body.
pub(super) fn judge_receipt(
    event: &Observation<'_>,
    status: u16,
    exchange: &Exchange,
    notes: &mut Notes,
) {
    if status != 202 {
        let what = what_was_posted(exchange);
        notes.always(
            Fault::new(
                &NOTIFICATION_STATUS,
                format!("{what} is accepted with status {status} instead of 202"),
            )
            .related(exchange.at.line(), "it was posted here")
            .help("answer 202 without a body, or refuse with 4xx or 5xx"),
        );
    } else if event.message.is_some() || has_body(event) {
        report_body(exchange, notes);
    }
}

/// Judges an event in such an answer, which counts as a body too.
pub(super) fn judge_event(event: &Observation<'_>, exchange: &Exchange, notes: &mut Notes) {
    let seen = &exchange.response;
    if event.settled
        && !seen.http_sse
        && seen.carries == Carries::NoRequests
        && exchange.status == Some(202)
        && !exchange.stream.has_begun()
    {
        report_body(exchange, notes);
    }
}

fn report_body(exchange: &Exchange, notes: &mut Notes) {
    let what = what_was_posted(exchange);
    notes.always(
        Fault::new(&NOTIFICATION_BODY, format!("the 202 for {what} has a body"))
            .related(exchange.at.line(), "it was posted here")
            .help("send only the status and the headers"),
    );
}

fn what_was_posted(exchange: &Exchange) -> String {
    match exchange.posted.as_slice() {
        [one] if one.name.is_empty() => "a response".to_owned(),
        [one] => format!("`{}`", one.name),
        _ => "a batch without requests".to_owned(),
    }
}

/// Whether a body was recorded.
fn has_body(event: &Observation<'_>) -> bool {
    event.body.is_some_and(|body| !body.is_empty())
}

/// Checks that a JSON object that answers a request is its response. Returns whether it is not a
/// response at all.
pub(super) fn judge_json(
    event: &Observation<'_>,
    headers: &Headers<'_>,
    exchange: &Exchange,
    known: &Known<'_>,
    notes: &mut Notes,
) -> bool {
    let kind = headers.value(HeaderName::ContentType).unwrap_or_default();
    if !is_media_type(&kind, "application/json") {
        return false;
    }
    let asked = exchange.requests().next().map_or("", |asked| &asked.name);
    let found = event.find_message(|message| {
        let kind = message.sound?;
        let (what, other) = not_the_response(message, kind, event, exchange, known)?;
        notes.always(
            Fault::new(
                &JSON_NOT_RESPONSE,
                format!("the JSON answer to `{asked}` is {what}, not its response"),
            )
            .at(message.envelope.object.span())
            .related(other.or(exchange.at.line()), "the request was here")
            .help("send only the response, or an event stream if there is more to send"),
        );
        Some(kind != MessageKind::Response)
    });
    found.unwrap_or(false)
}

/// Returns what it is instead, and the line of the request it belongs to. An id that no request is
/// waiting for is covered by the rules about ids, not HTTP.
fn not_the_response(
    message: &CarriedMessage<'_>,
    kind: MessageKind,
    event: &Observation<'_>,
    exchange: &Exchange,
    known: &Known<'_>,
) -> Option<(&'static str, Option<u64>)> {
    match kind {
        MessageKind::Request if event.revision.era() == Era::Modern => None, // Forbidden anywhere.
        MessageKind::Request => Some(("a request", None)),
        MessageKind::Notification => Some(("a notification", None)),
        MessageKind::Response => {
            let id = message.id.as_ref()?;
            if exchange.asked(id).is_some() {
                return None;
            }
            let other = known.awaiting(id)?;
            Some(("the response to another request", other.at.line()))
        }
    }
}
