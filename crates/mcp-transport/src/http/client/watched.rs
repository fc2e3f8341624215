//! Shows what a client receives to the watch.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use mcp_core::{Side, TransportError};

use crate::http::{
    arrived::Arrived,
    sse::Event,
    watch::{Blocked, WatchedBody, WatchedEvent, WatchedExchange},
};

/// A response whose body has yet to be read. It is shown with its body, or without if the body is
/// never read.
#[derive(Debug)]
pub(super) struct WatchedResponse {
    status: StatusCode,
    headers: HeaderMap,
    /// `None` once it has been shown.
    exchange: Option<WatchedExchange>,
}

impl WatchedResponse {
    pub(super) fn new(
        exchange: Option<WatchedExchange>,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> WatchedResponse {
        let headers = if exchange.is_some() { headers.clone() } else { HeaderMap::new() };
        WatchedResponse { status, headers, exchange }
    }

    /// Shows the head of an event stream.
    ///
    /// # Errors
    ///
    /// If the watch blocks it.
    pub(super) fn events(mut self) -> Result<WatchedStream, TransportError> {
        let exchange = self.exchange.take();
        if let Some(exchange) = &exchange {
            let shown = exchange.response(self.status, &self.headers, WatchedBody::Nothing);
            shown.map_err(blocked)?;
        }
        Ok(WatchedStream(exchange))
    }

    /// Shows the response with this body.
    ///
    /// # Errors
    ///
    /// If the watch blocks it.
    pub(super) fn body(mut self, bytes: Bytes) -> Result<Arrived, TransportError> {
        let Some(exchange) = self.exchange.take() else { return Ok(Arrived::Text(bytes)) };
        let parsed = exchange.parse(&bytes);
        let body = WatchedBody::new(&bytes, parsed.as_ref());
        let verdict = exchange.response(self.status, &self.headers, body).map_err(blocked)?;
        Ok(Arrived::new(bytes, parsed).judged(verdict.refusals))
    }
}

impl Drop for WatchedResponse {
    fn drop(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            // The body was never read.
            let _ = exchange.response(self.status, &self.headers, WatchedBody::Nothing);
        }
    }
}

/// An event stream until it ends.
#[derive(Debug)]
pub(super) struct WatchedStream(Option<WatchedExchange>);

impl WatchedStream {
    /// Shows an event.
    ///
    /// # Errors
    ///
    /// If the watch blocks it.
    pub(super) fn event(&self, event: Event) -> Result<Arrived, TransportError> {
        let Some(exchange) = &self.0 else { return Ok(Arrived::Text(event.data)) };
        let parsed = exchange.parse(&event.data);
        let text = |field: &Option<Bytes>| {
            field.as_ref().map(|text| String::from_utf8_lossy(text).into_owned())
        };
        let (id, name) = (text(&event.id), text(&event.event));
        let data = match &parsed {
            Some(parsed) => WatchedBody::Parsed(parsed),
            None => WatchedBody::Text(&event.data),
        };
        let retry = event.retry.and_then(|retry| u64::try_from(retry.as_millis()).ok());
        let shown = WatchedEvent { id: id.as_deref(), name: name.as_deref(), retry, data };
        let verdict = exchange.event(shown).map_err(blocked)?;
        Ok(Arrived::new(event.data, parsed).judged(verdict.refusals))
    }

    /// Shows the end of the stream, by the server or by a lost connection.
    pub(super) fn ended(&mut self) {
        if let Some(exchange) = self.0.take() {
            exchange.end(Side::Server);
        }
    }
}

impl Drop for WatchedStream {
    fn drop(&mut self) {
        if let Some(exchange) = self.0.take() {
            exchange.end(Side::Client);
        }
    }
}

fn blocked(blocked: Blocked) -> TransportError {
    TransportError::Framing(blocked.message)
}
