//! CORS, as in the Fetch standard: what browsers must be told before a page may use the server.

use http::{HeaderMap, HeaderName, HeaderValue, Method, header, request::Parts};

use super::HttpSettings;

/// The request headers that MCP itself uses. A page may ask for more.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, \
     mcp-protocol-version, mcp-session-id",
);
/// The response headers that a page needs and would not see otherwise.
const RESPONSE_HEADERS: HeaderValue = HeaderValue::from_static("mcp-session-id");
/// How long a browser may cache the answer, in seconds. The longest that all browsers accept.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// Whether this is a CORS preflight.
pub(super) fn is_preflight(parts: &Parts) -> bool {
    parts.method == Method::OPTIONS
        && parts.headers.contains_key(header::ORIGIN)
        && parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Lets the page that sent the request read the response, if its origin is allowed.
pub(super) fn share(settings: &HttpSettings, request: &HeaderMap, response: &mut HeaderMap) {
    let Some(origin) = request.get(header::ORIGIN).filter(|_| settings.cors) else { return };
    response.append(header::VARY, HeaderValue::from_name(header::ORIGIN));
    if origin.to_str().is_ok_and(|origin| settings.origins.has_origin(origin)) {
        response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        response.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
    }
}

/// Tells an allowed page what it may send. Any further headers are allowed: tools choose the names
/// of some, and a proxy in front of the server may need others.
pub(super) fn permit(request: &HeaderMap, methods: &'static str, response: &mut HeaderMap) {
    const ASKED: HeaderName = header::ACCESS_CONTROL_REQUEST_HEADERS;
    let headers = request.get(ASKED).cloned().unwrap_or(REQUEST_HEADERS);
    response.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
    response.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, headers);
    response.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response.append(header::VARY, HeaderValue::from_name(ASKED));
}
