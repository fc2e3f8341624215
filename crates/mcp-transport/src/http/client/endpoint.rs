//! The server's endpoint, and the requests sent to it.

use std::{
    error::Error,
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri,
    header::{ACCEPT, CONTENT_TYPE, USER_AGENT},
};
use http_body_util::Full;
use hyper::body::Incoming;
use mcp_core::{Era, MessageHeaders, Outbound, TransportError};
use mcp_json::Parsed;

use super::{
    HttpSettings, HttpSetupError,
    connect::{Connections, connections},
    conversation::Conversation,
};
use crate::http::{
    headers::{
        LAST_EVENT_ID, METHOD, NAME, PROTOCOL_VERSION, SESSION_ID, encode_value, param_name,
    },
    watch::{HttpWatch, WatchedBody, WatchedExchange},
};

/// Headers that callers may not set: they belong to HTTP framing or to the protocol.
const RESERVED: [HeaderName; 12] = [
    ACCEPT,
    CONTENT_TYPE,
    http::header::ACCEPT_ENCODING,
    http::header::CONNECTION,
    http::header::CONTENT_LENGTH,
    http::header::TRANSFER_ENCODING,
    http::header::UPGRADE,
    LAST_EVENT_ID,
    METHOD,
    NAME,
    PROTOCOL_VERSION,
    SESSION_ID,
];

#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    connections: Connections,
    uri: Uri,
    /// Sent with every request.
    headers: HeaderMap,
    watch: Option<Arc<dyn HttpWatch>>,
    /// Numbers the exchanges, for the watch.
    exchanges: Arc<AtomicU64>,
}

/// The body of a request, for the watch.
#[derive(Debug, Clone)]
struct Sent {
    bytes: Bytes,
    parsed: Option<Parsed>,
}

impl Endpoint {
    pub(super) fn new(url: &str, settings: &HttpSettings) -> Result<Endpoint, HttpSetupError> {
        let uri = parse(url)?;
        if let Some(name) = RESERVED.iter().find(|name| settings.headers.contains_key(*name)) {
            return Err(HttpSetupError::ReservedHeader(name.as_str().to_owned()));
        }
        let connections = connections(&uri, settings)?;
        let mut headers = settings.headers.clone();
        for value in headers.values_mut() {
            value.set_sensitive(true);
        }
        let agent = concat!("plumb/", env!("CARGO_PKG_VERSION"));
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(agent));
        let exchanges = Arc::new(AtomicU64::new(1));
        Ok(Endpoint { connections, uri, headers, watch: None, exchanges })
    }

    /// The same endpoint, in a conversation seen by `watch`.
    pub(super) fn watched_by(self, watch: Option<Arc<dyn HttpWatch>>) -> Endpoint {
        Endpoint { watch, ..self }
    }

    pub(super) fn watch(&self) -> Option<Arc<dyn HttpWatch>> {
        self.watch.clone()
    }

    /// The URL, without anything that may be secret.
    pub(super) fn shown(&self) -> String {
        let authority = self.uri.authority().map_or("", http::uri::Authority::as_str);
        format!("{}://{authority}{}", self.uri.scheme_str().unwrap_or_default(), self.uri.path())
    }

    /// Sends a request; completes with the head of the response.
    pub(super) async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TransportError> {
        let watched = self.show(&request);
        let response = self.connections.request(request).await;
        let mut response = response.map_err(|error| {
            let text = chain(&error);
            if error.is_connect() {
                TransportError::Connect(format!("{}: {text}", self.shown()))
            } else {
                TransportError::Lost(text)
            }
        })?;
        if let Some(watched) = watched {
            response.extensions_mut().insert(watched);
        }
        Ok(response)
    }

    /// Shows a request to the watch of the conversation.
    fn show(&self, request: &Request<Full<Bytes>>) -> Option<WatchedExchange> {
        let number = self.exchanges.fetch_add(1, Ordering::Relaxed);
        let watched = WatchedExchange::new(Arc::clone(self.watch.as_ref()?), number);
        let mut head = Request::new(());
        *head.method_mut() = request.method().clone();
        *head.uri_mut() = request.uri().clone();
        *head.headers_mut() = request.headers().clone();
        let sent = request.extensions().get::<Sent>();
        let body = sent.map_or(WatchedBody::Nothing, |sent| {
            WatchedBody::new(&sent.bytes, sent.parsed.as_ref())
        });
        // It is sent in any case.
        let _ = watched.request(&head.into_parts().0, body);
        Some(watched)
    }

    /// The request that carries a message.
    pub(super) fn post(
        &self,
        outbound: Outbound,
        conversation: &Conversation,
    ) -> Result<Request<Full<Bytes>>, TransportError> {
        let mirrored = outbound.headers.as_deref();
        let bytes = outbound.bytes.clone();
        let mut request = self.request(Method::POST, outbound.bytes);
        if self.watch.is_some() {
            request.extensions_mut().insert(Sent { bytes, parsed: outbound.parsed });
        }
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        conversation.write(mirrored, outbound.role, headers);
        if let (Some(mirrored), Era::Modern) = (mirrored, conversation.era(mirrored)) {
            write_mirrored(mirrored, headers)?;
        }
        Ok(request)
    }

    /// The request for the server's notification stream, or for the rest of a broken one.
    pub(super) fn get(
        &self,
        last_id: Option<HeaderValue>,
        conversation: &Conversation,
    ) -> Request<Full<Bytes>> {
        let mut request = self.request(Method::GET, Bytes::new());
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        conversation.write_bare(headers);
        if let Some(id) = last_id {
            headers.insert(LAST_EVENT_ID, id);
        }
        request
    }

    /// The request that ends the session.
    pub(super) fn delete(&self, conversation: &Conversation) -> Request<Full<Bytes>> {
        let mut request = self.request(Method::DELETE, Bytes::new());
        conversation.write_bare(request.headers_mut());
        request
    }

    fn request(&self, method: Method, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

fn parse(url: &str) -> Result<Uri, HttpSetupError> {
    let invalid = |reason: &str| HttpSetupError::Url(reason.to_owned());
    if url.is_empty() {
        return Err(invalid("it is empty"));
    }
    // Checked first: without a scheme, the URL is parsed as something else, with an unhelpful
    // error.
    let begins = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if !begins("http://") && !begins("https://") {
        return Err(invalid("it must begin with http:// or https://"));
    }
    let uri: Uri =
        url.parse().map_err(|error: http::uri::InvalidUri| invalid(&error.to_string()))?;
    match uri.authority() {
        // They would end up in logs; use a header instead.
        Some(authority) if authority.as_str().contains('@') => {
            Err(invalid("it must not contain credentials"))
        }
        Some(authority) if authority.host().is_empty() => Err(invalid("it has no host")),
        Some(_) => Ok(uri),
        None => Err(invalid("it has no host")),
    }
}

fn write_mirrored(
    mirrored: &MessageHeaders,
    headers: &mut HeaderMap,
) -> Result<(), TransportError> {
    let unsendable = |what: &str, text: &str| {
        TransportError::Framing(format!("{what} {text:?} cannot be sent in a header"))
    };
    if let Some(method) = &mirrored.method {
        let value = HeaderValue::from_str(method).map_err(|_| unsendable("the method", method))?;
        headers.insert(METHOD, value);
    }
    if let Some(name) = &mirrored.name {
        headers.insert(NAME, encode_value(name));
    }
    for (header, value) in &mirrored.arguments {
        let name = param_name(header).ok_or_else(|| unsendable("the header name", header))?;
        headers.insert(name, encode_value(value));
    }
    Ok(())
}

/// An error with its causes: the outermost one alone rarely says what happened.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}
