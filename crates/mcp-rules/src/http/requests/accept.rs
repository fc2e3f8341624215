//! The types a client accepts, and the type it sends.

use mcp_core::Side;
use serde::{Deserialize, Serialize};

use super::{ACCEPT_MISSING, CONTENT_TYPE, Exchange, GET_ACCEPT_MISSING, HeaderName, Headers};
use crate::{Severity, conversation::Notes, findings::Fault, http::is_media_type};

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";

/// What nearly every client sends. It names all types, so it need not be parsed.
const USUAL: &str = "application/json, text/event-stream";

/// The headers of an `initialize`, or of a message in a session joined late, until the answer shows
/// which transport is in use: HTTP+SSE, which answers 202, requires nothing of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Held {
    accept: Option<Box<str>>,
    content_type: Option<Box<str>>,
}

pub(super) fn judge(
    settled: bool,
    headers: &Headers<'_>,
    exchange: &mut Exchange,
    notes: &mut Notes,
) {
    let accept = headers.value(HeaderName::Accept);
    if exchange.is_get() {
        let lacking = check_accept(accept.as_deref(), &[EVENT_STREAM]);
        if let Some(lacking) = lacking {
            notes.always(lacking.fault(&GET_ACCEPT_MISSING, EVENT_STREAM));
        }
        return;
    }
    let content_type = headers.value(HeaderName::ContentType);
    if accept.as_deref() == Some(USUAL)
        && content_type.as_deref().is_some_and(|kind| is_media_type(kind, JSON))
    {
        return;
    }
    let faults = check_post(accept.as_deref(), content_type.as_deref());
    if exchange.initializes() || !settled {
        if faults.iter().any(Option::is_some) {
            exchange.request.held = Some(Box::new(Held {
                accept: accept.map(Into::into),
                content_type: content_type.map(Into::into),
            }));
        }
        return;
    }
    for fault in faults.into_iter().flatten() {
        notes.always(fault);
    }
}

/// Judges the held headers when the answer arrives.
pub(super) fn judge_held(status: u16, exchange: &mut Exchange, notes: &mut Notes) {
    let Some(held) = exchange.request.held.take() else { return };
    if status == 202 {
        return;
    }
    let faults = check_post(held.accept.as_deref(), held.content_type.as_deref());
    for fault in faults.into_iter().flatten() {
        notes.always(fault.earlier(exchange.at.line(), Side::Client));
    }
}

fn check_post(accept: Option<&str>, content_type: Option<&str>) -> [Option<Fault>; 2] {
    let lacking = check_accept(accept, &[JSON, EVENT_STREAM]);
    [
        lacking
            .map(|lacking| lacking.fault(&ACCEPT_MISSING, "application/json, text/event-stream")),
        check_content_type(content_type),
    ]
}

fn check_content_type(value: Option<&str>) -> Option<Fault> {
    if value.is_some_and(|value| is_media_type(value, JSON)) {
        return None;
    }
    let message = match value {
        Some(value) => format!("the body is declared as `{value}`"),
        None => "the body has no `Content-Type`".to_owned(),
    };
    Some(Fault::new(&CONTENT_TYPE, message).help("send `Content-Type: application/json`"))
}

/// A type that an `Accept` header should have named.
#[derive(Debug, PartialEq, Eq)]
struct Lacking {
    media_type: &'static str,
    coverage: Coverage,
    header: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Coverage {
    None,
    /// By a range such as `*/*`.
    Wildcard,
    Named,
}

impl Lacking {
    fn fault(self, rule: &'static crate::RuleMeta, should_be: &str) -> Fault {
        let media_type = self.media_type;
        let message = match (&self.header, self.coverage) {
            (None, _) => "the request has no `Accept`".to_owned(),
            (Some(header), Coverage::Wildcard) => {
                format!("`{header}` covers `{media_type}` only by a wildcard")
            }
            (Some(header), _) => format!("`{header}` does not accept `{media_type}`"),
        };
        let fault = Fault::new(rule, message).help(format!("send `Accept: {should_be}`"));
        match self.coverage {
            Coverage::Wildcard => fault.severity(Severity::Warning),
            _ => fault,
        }
    }
}

/// Returns the type that the header covers worst, unless all are named.
fn check_accept(header: Option<&str>, wanted: &[&'static str]) -> Option<Lacking> {
    if header == Some(USUAL) {
        return None;
    }
    let worst = wanted
        .iter()
        .map(|media_type| (coverage(header.unwrap_or_default(), media_type), *media_type))
        .min_by_key(|(coverage, _)| *coverage);
    let (coverage, media_type) = worst.filter(|(coverage, _)| *coverage < Coverage::Named)?;
    Some(Lacking { media_type, coverage, header: header.map(str::to_owned) })
}

/// How an `Accept` header covers a type. Ranges with a weight of zero exclude what they name.
fn coverage(header: &str, media_type: &str) -> Coverage {
    let kind = media_type.split('/').next().unwrap_or_default();
    let mut best = Coverage::None;
    for entry in header.split(',') {
        let mut parts = entry.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let excluded = parts.any(is_zero_weight);
        let matched = if range.eq_ignore_ascii_case(media_type) {
            Coverage::Named
        } else if range == "*/*"
            || range.strip_suffix("/*").is_some_and(|range| range.eq_ignore_ascii_case(kind))
        {
            Coverage::Wildcard
        } else {
            continue;
        };
        match (excluded, matched) {
            (true, Coverage::Named) => return Coverage::None,
            (true, _) => {}
            (false, matched) => best = best.max(matched),
        }
    }
    best
}

fn is_zero_weight(parameter: &str) -> bool {
    let weight =
        parameter.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    weight.and_then(|(_, value)| value.trim().parse::<f32>().ok()) == Some(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, expected: Option<(&str, Coverage)>) {
        let lacking = check_accept(Some(header), &[JSON, EVENT_STREAM]);
        assert_eq!(lacking.map(|lacking| (lacking.media_type, lacking.coverage)), expected);
    }

    #[test]
    fn both_types_have_to_be_named() {
        check("application/json, text/event-stream", None);
        check("TEXT/event-stream;q=0.5,application/json;charset=utf-8", None);
        check("text/event-stream", Some((JSON, Coverage::None)));
        check("application/json", Some((EVENT_STREAM, Coverage::None)));
        check("", Some((JSON, Coverage::None)));
        check("application/json-seq, text/event-stream", Some((JSON, Coverage::None)));
    }

    #[test]
    fn wildcards_cover_without_naming() {
        check("*/*", Some((JSON, Coverage::Wildcard)));
        check("application/json, */*;q=0.1", Some((EVENT_STREAM, Coverage::Wildcard)));
        check("application/*, text/*", Some((JSON, Coverage::Wildcard)));
        check("text/*", Some((JSON, Coverage::None)));
    }

    #[test]
    fn a_weight_of_zero_excludes() {
        check("application/json;q=0, text/event-stream, */*", Some((JSON, Coverage::None)));
        check("application/json; Q=0.000, text/event-stream", Some((JSON, Coverage::None)));
        check("application/json, text/event-stream, */*;q=0", None);
    }
}
