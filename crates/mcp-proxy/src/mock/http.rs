//! Plays a script to the clients of an HTTP endpoint.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::request::Parts;
use mcp_core::{BoxFuture, Era, Meta, Revision, Transport};
use mcp_json::{Limits, Node, Parsed};
use mcp_jsonrpc::{Envelope, ErrorCode, JsonRpcError, JsonRpcResponse, MessageKind};
use mcp_transport::http::{
    headers,
    server::{Application, HttpFault, HttpService, HttpSettings, RejectionResponse, RequestInfo},
    watch::HttpWatch,
};

use super::{conversation::converse, key::is_initialize, playback::Playback, script::Script};

/// An HTTP endpoint that plays `script`: from the beginning in every session, and in one common run
/// for clients without a session. Clients have to answer requests within `patience`.
pub fn http_service(
    script: Arc<Script>,
    settings: HttpSettings,
    patience: Duration,
) -> HttpService {
    let stateless = Arc::new(Playback::new(script));
    HttpService::new(Arc::new(MockApplication { stateless, patience }), settings)
}

#[derive(Debug)]
struct MockApplication {
    /// For exchanges without a session.
    stateless: Arc<Playback>,
    patience: Duration,
}

impl Application for MockApplication {
    fn parse(&self, body: &Bytes) -> Option<Parsed> {
        Parsed::parse(body.clone(), Limits::default()).ok()
    }

    fn inspect(
        &self,
        head: &Parts,
        _: &Bytes,
        parsed: Option<&Parsed>,
    ) -> Result<RequestInfo, RejectionResponse> {
        let mut info =
            RequestInfo { expects_response: true, stateless: true, ..RequestInfo::default() };
        let Some(parsed) = parsed else { return Ok(info) };
        let document = parsed.document();
        let root = document.root();
        let envelope = Envelope::of(root);
        let is_handshake = is_initialize(&envelope);
        let meta = envelope.params.and_then(|params| params.get("_meta"));
        let has_version = meta.and_then(|meta| meta.get(Meta::PROTOCOL_VERSION)).is_some();
        info.revision = header_revision(head).or_else(|| requested(&envelope));
        info.stateless = !is_handshake && (has_version || is_modern(head));
        info.opens_session = is_handshake;
        info.long_lived = info.stateless
            && envelope.method.is_some_and(|method| method.str_eq("subscriptions/listen"));
        info.expects_response = if root.is_array() {
            root.is_empty() || root.elements().any(|entry| expects_response(&Envelope::of(entry)))
        } else {
            expects_response(&envelope)
        };
        Ok(info)
    }

    fn converse(
        &self,
        transport: Arc<dyn Transport>,
        opening: &Parts,
        _: Option<Arc<dyn HttpWatch>>,
    ) -> BoxFuture<'static, ()> {
        let playback = if is_modern(opening) {
            Arc::clone(&self.stateless)
        } else {
            Arc::new(self.stateless.afresh())
        };
        let conversation = converse(transport, playback, self.patience);
        Box::pin(async move {
            if let Err(error) = conversation.await {
                tracing::debug!(%error, "a conversation ended with an error");
            }
        })
    }

    fn explain(&self, fault: &HttpFault) -> Bytes {
        let code = match fault {
            HttpFault::BodyEmpty => ErrorCode::ParseError,
            fault if fault.status().is_server_error() => ErrorCode::InternalError,
            _ => ErrorCode::InvalidRequest,
        };
        let error = JsonRpcError { code: code.code(), message: fault.to_string(), data: None };
        JsonRpcResponse { id: None, outcome: Err(error) }.to_bytes()
    }
}

fn expects_response(envelope: &Envelope<'_>) -> bool {
    !matches!(envelope.kind(), Some(MessageKind::Notification | MessageKind::Response))
}

fn header_revision(head: &Parts) -> Option<Revision> {
    head.headers.get(headers::PROTOCOL_VERSION)?.to_str().ok()?.trim().parse().ok()
}

fn is_modern(head: &Parts) -> bool {
    header_revision(head).is_some_and(|revision| revision.era() == Era::Modern)
}

/// The revision requested by `initialize`.
fn requested(envelope: &Envelope<'_>) -> Option<Revision> {
    envelope.params?.get("protocolVersion").and_then(Node::as_str)?.parse().ok()
}
