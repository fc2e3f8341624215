//! The `Origin` header, where the user configures the allowed origins.

use mcp_core::Revision;

use super::{Exchange, HeaderName, Headers, ORIGIN_NOT_REJECTED, Observation, is_other_refusal};
use crate::{
    conversation::{Known, Notes},
    findings::Fault,
    format::web_origin::WebOrigin,
};

/// Returns the origin of a request, if it is not an allowed one.
pub(super) fn foreign(headers: &Headers<'_>, known: &Known<'_>) -> Option<Box<str>> {
    let allowed = &known.criteria.settings().allowed_origins;
    if allowed.is_empty() {
        return None;
    }
    let origin = headers.value(HeaderName::Origin)?;
    let parsed = WebOrigin::parse(&origin);
    let is_allowed = allowed.iter().any(|allowed| {
        parsed.is_some() && WebOrigin::parse(allowed) == parsed || *allowed == *origin
    });
    (!is_allowed).then(|| origin.into())
}

/// Judges the answer to a request from a foreign origin.
pub(super) fn judge_answer(
    status: u16,
    event: &Observation<'_>,
    exchange: &mut Exchange,
    notes: &mut Notes,
) {
    let Some(origin) = exchange.request.foreign_origin.take() else { return };
    let must_be_403 = event.revision >= Revision::V2025_11_25 && event.settled;
    let refused = if must_be_403 { status == 403 } else { status >= 300 };
    if refused || is_other_refusal(status) {
        return;
    }
    notes.always(
        Fault::new(
            &ORIGIN_NOT_REJECTED,
            format!("a request from `{origin}` is answered with status {status}"),
        )
        .related(exchange.at.line(), "the request was here")
        .help("answer 403 to origins that are not allowed"),
    );
}
