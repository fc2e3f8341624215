//! Shows a request and its response to the application's watch.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode, request::Parts};
use mcp_json::Parsed;

use super::{Application, RejectionResponse, ResponseBody, reply};
use crate::http::watch::{HttpWatch, Passed, WatchedBody, WatchedExchange};

/// One request while it is being answered.
pub(super) struct Watching<'a> {
    application: &'a dyn Application,
    number: u64,
    head: &'a Parts,
    body: Bytes,
    parsed: Option<Parsed>,
    exchange: Option<WatchedExchange>,
}

impl<'a> Watching<'a> {
    pub(super) fn new(
        application: &'a dyn Application,
        number: u64,
        head: &'a Parts,
    ) -> Watching<'a> {
        Watching { application, number, head, body: Bytes::new(), parsed: None, exchange: None }
    }

    /// Records the body, which was parsed if it is JSON.
    pub(super) fn has_body(&mut self, body: &Bytes, parsed: Option<&Parsed>) {
        self.body = body.clone();
        self.parsed = parsed.cloned();
    }

    /// Shows the request to the watch of its conversation.
    ///
    /// # Errors
    ///
    /// If the watch blocks it.
    pub(super) fn show(
        &mut self,
        watch: Option<Arc<dyn HttpWatch>>,
    ) -> Result<Passed, RejectionResponse> {
        let Some(watch) = watch else { return Ok(Passed::default()) };
        let exchange = self.exchange.insert(WatchedExchange::new(watch, self.number));
        let body = WatchedBody::new(&self.body, self.parsed.as_ref());
        let shown = exchange.request(self.head, body);
        self.parsed = None;
        let status = StatusCode::BAD_REQUEST;
        shown.map_err(|blocked| RejectionResponse { status, body: blocked.body })
    }

    /// Shows the response. A request that was rejected before it reached a conversation is shown as
    /// a conversation of its own.
    pub(super) fn answered(mut self, response: &mut Response<ResponseBody>) {
        if self.exchange.is_none() {
            // It is rejected already.
            let _ = self.show(self.application.watch_rejected());
        }
        if let Some(exchange) = self.exchange {
            reply::watch(response, exchange);
        }
    }
}
