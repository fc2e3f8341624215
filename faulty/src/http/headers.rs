//! Checks of HTTP headers.

use base64::Engine as _;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::{
    faults::Fault,
    incoming::{Incoming, Request},
    methods::stateless::{self, VERSION},
    outbox::MessageLog,
    reply::Failure,
    revision::Revision,
    server::{Conversation, Faults},
};

/// Whether `Host` and `Origin` are local; a page in a browser cannot forge them.
pub(super) fn are_local(head: &HeaderMap, faults: Faults) -> bool {
    if faults.has(Fault::HttpOriginAccepted) {
        return true;
    }
    let is_local = |host: &str| {
        let name = host.rsplit_once(':').map_or(host, |(name, port)| {
            if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
        });
        matches!(name, "localhost" | "127.0.0.1" | "[::1]")
    };
    let origin = head.get("origin").is_none_or(|origin| {
        origin.to_str().ok().and_then(|origin| origin.split_once("://")).is_some_and(|(_, host)| {
            is_local(host) || faults.has(Fault::HttpOriginPrefix) && host.starts_with("localhost")
        })
    });
    origin && head.get("host").is_none_or(|host| host.to_str().is_ok_and(is_local))
}

pub(super) fn sends_json(head: &HeaderMap, faults: Faults) -> bool {
    text(head, "content-type").is_none_or(|kind| {
        if faults.has(Fault::HttpSpellingRefused) {
            return kind == "application/json";
        }
        kind.split(';')
            .next()
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    })
}

pub(super) fn accepts_both(head: &HeaderMap) -> bool {
    accepts(head, "application/json", "application/*") && accepts_events(head)
}

pub(super) fn accepts_events(head: &HeaderMap) -> bool {
    accepts(head, "text/event-stream", "text/*")
}

pub(super) fn names_stateless(head: &HeaderMap) -> bool {
    text(head, "mcp-protocol-version").and_then(Revision::named).is_some_and(Revision::is_stateless)
}

/// Whether a message is stateless, according to its header or the message itself.
pub(super) fn is_stateless(head: &HeaderMap, message: &Incoming) -> bool {
    let says =
        |params: Option<&Value>| params.is_some_and(|params| !params["_meta"][VERSION].is_null());
    names_stateless(head)
        || match message {
            Incoming::Request(request) => {
                request.method != "initialize" && says(request.params.as_ref())
            }
            Incoming::Notification { params, .. } => says(params.as_ref()),
            _ => false,
        }
}

/// Checks the headers that 2026-07-28 requires.
pub(super) fn mismatch(head: &HeaderMap, message: &Incoming, faults: Faults) -> Option<Failure> {
    let Incoming::Request(request) = message else { return None };
    let nothing = Value::Null;
    let params = request.params.as_ref().unwrap_or(&nothing);
    let name = match request.method.as_str() {
        "tools/call" | "prompts/get" => params["name"].as_str(),
        "resources/read" => params["uri"].as_str(),
        _ => None,
    };
    let version = params["_meta"][VERSION].as_str();
    // Without a version in the body there is nothing to compare with; that is refused elsewhere.
    version?;
    let wanted = [
        ("mcp-protocol-version", version, Fault::HttpVersionHeaderDiffers),
        ("mcp-method", Some(request.method.as_str()), Fault::HttpMethodHeaderUnchecked),
        ("mcp-name", name, Fault::HttpNameHeaderUnchecked),
    ];
    let wrong = wanted.into_iter().any(|(header, value, fault)| {
        let given = text(head, header).map(|value| {
            if faults.has(Fault::HttpNameNotDecoded) { value.to_owned() } else { decoded(value) }
        });
        let passes =
            faults.has(fault) || (given.is_none() && faults.has(Fault::HttpHeadersMissing));
        value.is_some() && given.as_deref() != value && !passes
    });
    let code = if faults.has(Fault::HttpMismatchWrongCode) { -32600 } else { -32020 };
    wrong.then(|| Failure::new(code, "the headers and the message differ"))
}

/// Whether a request of 2026-07-28 is refused before dispatch.
pub(super) fn is_refused(request: &Request, faults: Faults) -> bool {
    stateless::refusal(request.params.as_ref().unwrap_or(&Value::Null), faults).is_some()
}

/// The HTTP status of an answer in 2026-07-28.
pub(super) fn status(log: &MessageLog, faults: Faults) -> StatusCode {
    let answer: Value =
        log.get(0).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    match answer["error"]["code"].as_i64() {
        Some(-32601) if !faults.has(Fault::HttpUnknownMethodOk) => StatusCode::NOT_FOUND,
        Some(-32600 | -32602 | -32700 | -32022 | -32020) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Checks the version header against the session.
pub(super) fn version(
    head: &HeaderMap,
    conversation: &Conversation,
    faults: Faults,
) -> Result<(), StatusCode> {
    let agreed = conversation.revision().filter(|revision| *revision >= Revision::V2025_06_18);
    match text(head, "mcp-protocol-version") {
        None if faults.has(Fault::HttpVersionRequired) && agreed.is_some() => {
            Err(StatusCode::BAD_REQUEST)
        }
        None => Ok(()),
        Some(version)
            if Revision::named(version).is_some() || faults.has(Fault::HttpVersionUnchecked) =>
        {
            Ok(())
        }
        Some(_) if faults.has(Fault::HttpVersionDies) => Err(StatusCode::INTERNAL_SERVER_ERROR),
        Some(_) => Err(StatusCode::BAD_REQUEST),
    }
}

fn accepts(head: &HeaderMap, kind: &str, family: &str) -> bool {
    let all = head.get_all("accept");
    all.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(
        |entry| {
            let entry = entry.split(';').next().unwrap_or_default().trim();
            entry == "*/*" || entry.eq_ignore_ascii_case(kind) || entry.eq_ignore_ascii_case(family)
        },
    )
}

fn text<'a>(head: &'a HeaderMap, name: &str) -> Option<&'a str> {
    head.get(name).map(|value| value.to_str().unwrap_or_default())
}

/// A header value, which may be wrapped as base64.
fn decoded(value: &str) -> String {
    let wrapped = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes =
        wrapped.and_then(|wrapped| base64::engine::general_purpose::STANDARD.decode(wrapped).ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_owned())
}
