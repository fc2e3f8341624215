//! What browsers must be told before a page may use the server: CORS, as the Fetch standard has it.

use http::{HeaderMap, HeaderName, HeaderValue, Method, header, request::Parts};

use super::HttpSettings;

/// What MCP itself puts into requests. A page may send more, if it asks.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, \
     mcp-protocol-version, mcp-session-id",
);
/// What a page needs from responses and would not be shown.
const RESPONSE_HEADERS: HeaderValue = HeaderValue::from_static("mcp-session-id");
/// How long a browser may remember the answer, in seconds. The longest that all of them take.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// Whether a browser asks what a page would be allowed to do.
pub(super) fn is_preflight(parts: &Parts) -> bool {
    parts.method == Method::OPTIONS
        && parts.headers.contains_key(header::ORIGIN)
        && parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Lets the page that sent the request read the response, if it comes from where it may.
pub(super) fn share(settings: &HttpSettings, request: &HeaderMap, response: &mut HeaderMap) {
    let Some(origin) = request.get(header::ORIGIN).filter(|_| settings.cors) else { return };
    response.append(header::VARY, HeaderValue::from_name(header::ORIGIN));
    if origin.to_str().is_ok_and(|origin| settings.origins.has_origin(origin)) {
        response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        response.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
    }
}

/// Says what a page may send that is allowed to be here. Which further headers it sends does not
/// matter: tools choose names for some, and what is in front of the server may want others.
pub(super) fn permit(request: &HeaderMap, methods: &'static str, response: &mut HeaderMap) {
    const ASKED: HeaderName = header::ACCESS_CONTROL_REQUEST_HEADERS;
    let headers = request.get(ASKED).cloned().unwrap_or(REQUEST_HEADERS);
    response.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
    response.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, headers);
    response.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response.append(header::VARY, HeaderValue::from_name(ASKED));
}
