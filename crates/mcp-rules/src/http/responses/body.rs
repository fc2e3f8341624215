//! What the body of an answer may be.

use mcp_core::{Era, Side};
use mcp_jsonrpc::{Envelope, MessageKind};

use super::{Carries, JSON_NOT_RESPONSE, NOTIFICATION_BODY, NOTIFICATION_STATUS};
use crate::{
    conversation::{Known, Notes, request_id},
    findings::Fault,
    http::{Exchange, HeaderName, Headers, Observation, exchange::messages, is_media_type},
};

/// Messages that need no response are taken with 202 and nothing else.
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
            .related(exchange.at.line, "it was posted here")
            .help("answer 202 without a body, or refuse with 4xx or 5xx"),
        );
    } else if event.message.is_some() || has_body(event) {
        report_body(exchange, notes);
    }
}

/// An event is a body too.
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
            .related(exchange.at.line, "it was posted here")
            .help("send the head alone"),
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

/// One JSON object as the answer to a request is its response. Says whether it is no response
/// at all.
pub(super) fn judge_json(
    event: &Observation<'_>,
    headers: &Headers<'_>,
    exchange: &Exchange,
    known: &Known<'_>,
    notes: &mut Notes,
) -> bool {
    let kind = headers.value(HeaderName::ContentType).unwrap_or_default();
    let Some(body) = event.message.filter(|_| is_media_type(&kind, "application/json")) else {
        return false;
    };
    let asked = exchange.requests().next().map_or("", |asked| &asked.name);
    for message in messages(body) {
        let envelope = Envelope::of(message);
        if !envelope.faults().is_empty() {
            continue; // It counts for nothing.
        }
        let Some((what, other)) = not_the_response(&envelope, event, exchange, known) else {
            continue;
        };
        notes.always(
            Fault::new(
                &JSON_NOT_RESPONSE,
                format!("the JSON answer to `{asked}` is {what}, not its response"),
            )
            .at(message.span())
            .related(other.or(exchange.at.line), "the request was here")
            .help("answer with the response alone, or with an event stream if more is to be said"),
        );
        return envelope.kind() != Some(MessageKind::Response);
    }
    false
}

/// What else it is, and the line of the request that it belongs to instead. An id that no request
/// waits for is a matter of ids, not of HTTP.
fn not_the_response(
    envelope: &Envelope<'_>,
    event: &Observation<'_>,
    exchange: &Exchange,
    known: &Known<'_>,
) -> Option<(&'static str, Option<u64>)> {
    match envelope.kind()? {
        MessageKind::Request if event.revision.era() == Era::Modern => None, // Forbidden anywhere.
        MessageKind::Request => Some(("a request", None)),
        MessageKind::Notification => Some(("a notification", None)),
        MessageKind::Response => {
            let id = envelope.id.and_then(request_id)?;
            if exchange.asked(&id).is_some() {
                return None;
            }
            let other = known.requests.open(Side::Client, &id)?;
            Some(("the response to another request", other.at.line))
        }
    }
}
