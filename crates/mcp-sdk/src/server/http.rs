//! What the HTTP service needs to know about messages: their era, whether they expect a response,
//! and whether the headers match the body.

use std::{borrow::Cow, fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, StatusCode, request::Parts};
use mcp_core::{
    BoxFuture, Dispatch, Era, Error, Meta, Response, Revision, Side, Transport, excerpt,
};
use mcp_json::{Node, Parsed};
use mcp_jsonrpc::{
    Envelope, ErrorCode, Gate, JsonRpcError, JsonRpcId, JsonRpcResponse, MessageKind,
    ToJsonRpc as _,
};
use mcp_rules::header_mismatches;
use mcp_transport::http::{
    headers,
    server::{Application, HttpFault, HttpService, HttpSettings, RejectionResponse, RequestInfo},
    watch::HttpWatch,
};

use super::{ConversationInfo, Server};
use crate::{
    header_params::Marked,
    http_watch::{self, GateWatch, WatchGate},
    validation::HttpBeginning,
};

impl Server {
    /// The server as a `tower` service, to mount in your own HTTP server next to other routes. The
    /// revisions and the message size limit are those of the server, whatever `settings` says.
    ///
    /// When your HTTP server shuts down, notify the service with [`HttpService::drain_after`];
    /// otherwise open-ended streams delay the shutdown. [`HttpService::close`] then ends the
    /// remaining sessions. How long requests in flight may take is up to your HTTP server; many have
    /// no limit. The [guide](crate::guide::http) has an example and more details.
    pub fn http_service(&self, mut settings: HttpSettings) -> HttpService {
        settings.revisions = self.mcp.revisions();
        settings.max_body = self.limits.max_bytes;
        HttpService::new(Arc::new(HttpApplication { server: self.clone() }), settings)
    }
}

/// Identifies the principal of a request.
#[derive(Clone)]
pub(super) struct PrincipalFinder(Arc<FindPrincipal>);

type FindPrincipal = dyn Fn(&Parts) -> Option<String> + Send + Sync;

impl PrincipalFinder {
    pub(super) fn new(find: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        PrincipalFinder(Arc::new(find))
    }

    fn of(&self, opening: &Parts) -> Option<Arc<str>> {
        (self.0)(opening).map(Into::into)
    }
}

impl fmt::Debug for PrincipalFinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrincipalFinder")
    }
}

#[derive(Debug)]
struct HttpApplication {
    server: Server,
}

impl Application for HttpApplication {
    fn parse(&self, body: &Bytes) -> Option<Parsed> {
        self.server.tapes.parse(body.clone(), self.server.limits).ok()
    }

    fn watch_session(&self) -> Option<Arc<dyn HttpWatch>> {
        self.watch(None, HttpBeginning::Session)
    }

    fn watch_exchange(&self, opening: &Parts) -> Option<Arc<dyn HttpWatch>> {
        self.watch(self.settled_revision(opening), HttpBeginning::Exchange)
    }

    fn watch_rejected(&self) -> Option<Arc<dyn HttpWatch>> {
        self.watch(None, HttpBeginning::Rejected)
    }

    fn inspect(
        &self,
        head: &Parts,
        _: &Bytes,
        parsed: Option<&Parsed>,
    ) -> Result<RequestInfo, RejectionResponse> {
        let header_version = self.header_version(&head.headers);
        let Some(parsed) = parsed else {
            // Whatever its headers say, it is not a message of a session. A conversation of its own
            // responds with the error and the HTTP status.
            return Ok(RequestInfo {
                expects_response: true,
                stateless: true,
                ..RequestInfo::default()
            });
        };
        let document = parsed.document();
        let root = document.root();
        let envelope = Envelope::of(root);
        let stateless = self.is_stateless(&envelope, header_version);
        let method = |name| envelope.method.is_some_and(|method| method.str_eq(name));
        // A client of an older revision does not know these headers when it opens a session. The
        // error must list the supported revisions, not the missing headers.
        let is_handshake = method("initialize") && !header_version.is_modern();
        if stateless && envelope.kind() == Some(MessageKind::Request) && !is_handshake {
            self.compare(&envelope, &head.headers)?;
        }
        Ok(RequestInfo {
            expects_response: expects_response(root),
            opens_session: !stateless && method("initialize"),
            stateless,
            long_lived: stateless && method("subscriptions/listen"),
            revision: match header_version {
                HeaderVersion::Revision(revision) => Some(revision),
                HeaderVersion::Nothing | HeaderVersion::Unknown => requested(&envelope),
            },
        })
    }

    fn principal(&self, head: &Parts) -> Option<Arc<str>> {
        self.server.principals.as_ref()?.of(head)
    }

    fn converse(
        &self,
        transport: Arc<dyn Transport>,
        opening: &Parts,
        watch: Option<Arc<dyn HttpWatch>>,
    ) -> BoxFuture<'static, ()> {
        let settled = self.settled_revision(opening);
        let principal = self.principal(opening);
        let info = ConversationInfo { era: settled.map(Revision::era), principal };
        let gate: Box<dyn Gate> = match watch.map(GateWatch::from_watch) {
            Some(Some(watch)) => Box::new(WatchGate(watch)),
            _ => self.server.gate(transport.framing(), settled),
        };
        let processor = self.server.processor(transport, gate, info);
        Box::pin(async move {
            if let Err(error) = processor.run().await {
                tracing::debug!(%error, "a conversation ended with an error");
            }
        })
    }

    fn explain(&self, fault: &HttpFault) -> Bytes {
        // Not -32000, which 2026-07-28 leaves to older servers.
        let code = match fault {
            HttpFault::BodyEmpty => ErrorCode::ParseError,
            fault if fault.status().is_server_error() => ErrorCode::InternalError,
            _ => ErrorCode::InvalidRequest,
        };
        let error = JsonRpcError { code: code.code(), message: fault.to_string(), data: None };
        JsonRpcResponse { id: None, outcome: Err(error) }.to_bytes()
    }
}

/// The revision in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeaderVersion {
    Nothing,
    Revision(Revision),
    /// Not published, or unreadable.
    Unknown,
}

impl HeaderVersion {
    /// Whether it belongs to the stateless era, as everything but the older revisions does.
    fn is_modern(self) -> bool {
        match self {
            HeaderVersion::Nothing => false,
            HeaderVersion::Revision(revision) => revision.era() == Era::Modern,
            HeaderVersion::Unknown => true,
        }
    }
}

impl HttpApplication {
    fn watch(
        &self,
        settled: Option<Revision>,
        begins: HttpBeginning,
    ) -> Option<Arc<dyn HttpWatch>> {
        let validation = self.server.validation();
        let gate = validation.http_gate(Side::Server, settled, begins, validation.sink())?;
        let (tapes, limits) = (self.server.tapes.clone(), self.server.limits);
        Some(Arc::new(GateWatch::new(gate, tapes, limits)))
    }

    /// The revision of a conversation, if the head of its first request leaves no choice.
    fn settled_revision(&self, opening: &Parts) -> Option<Revision> {
        self.header_version(&opening.headers).is_modern().then_some(Revision::LATEST)
    }

    fn header_version(&self, headers: &HeaderMap) -> HeaderVersion {
        if !self.server.mcp.revisions().contains(Revision::LATEST) {
            return HeaderVersion::Nothing; // Only one era is supported.
        }
        match headers.get(headers::PROTOCOL_VERSION) {
            None => HeaderVersion::Nothing,
            Some(value) => value
                .to_str()
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .map_or(HeaderVersion::Unknown, HeaderVersion::Revision),
        }
    }

    fn is_stateless(&self, envelope: &Envelope<'_>, header_version: HeaderVersion) -> bool {
        let revisions = self.server.mcp.revisions();
        if !revisions.contains(Revision::LATEST) {
            return false;
        }
        let supports_legacy = revisions.iter().any(|revision| revision.era() == Era::Legacy);
        let is_handshake = envelope.method.is_some_and(|method| method.str_eq("initialize"));
        let has_version = meta(envelope, Meta::PROTOCOL_VERSION).is_some() && !is_handshake;
        header_version.is_modern() || has_version || !supports_legacy
    }

    /// Checks that the headers match the body.
    fn compare(
        &self,
        envelope: &Envelope<'_>,
        headers: &HeaderMap,
    ) -> Result<(), RejectionResponse> {
        compare_version(envelope, headers).map_err(|message| refused(envelope, message))?;
        let headers = http_watch::headers(headers);
        let params = |tool: &str| {
            let tool = self.server.mcp.tools().get(tool)?;
            let marked = Marked::of(&tool.definition.input_schema).ok()?;
            Some(Cow::Owned(marked.into_params()))
        };
        let mismatches = header_mismatches(envelope, &headers, params);
        match mismatches.into_iter().find(|mismatch| mismatch.must_refuse) {
            Some(mismatch) => Err(refused(envelope, mismatch.message)),
            None => Ok(()),
        }
    }
}

/// How much of a version is shown.
const SHOWN: usize = 200;

fn compare_version(envelope: &Envelope<'_>, headers: &HeaderMap) -> Result<(), String> {
    // The conversation reports that it is missing.
    let Some(version) = meta(envelope, Meta::PROTOCOL_VERSION) else { return Ok(()) };
    let name = headers::PROTOCOL_VERSION;
    let mut values = headers.get_all(&name).iter();
    let Some(value) = values.next() else {
        return Err(format!("the header `{name}` is missing"));
    };
    if values.next().is_some() {
        return Err(format!("the header `{name}` is repeated"));
    }
    let shown = String::from_utf8_lossy(value.as_bytes());
    match version.as_str() {
        Some(version) if version != shown.trim() => {
            let (shown, version) = (excerpt(&shown, SHOWN), excerpt(&version, SHOWN));
            Err(format!("`{name}` is {shown:?}, but `_meta` in the body has {version:?}"))
        }
        _ => Ok(()),
    }
}

fn meta<'a>(envelope: &Envelope<'a>, key: &str) -> Option<Node<'a>> {
    envelope.params?.get("_meta")?.get(key)
}

/// The revision requested by `initialize`.
fn requested(envelope: &Envelope<'_>) -> Option<Revision> {
    envelope.params?.get("protocolVersion")?.as_str()?.parse().ok()
}

/// Whether it contains a request, or anything that can only be answered with an error.
fn expects_response(root: Node<'_>) -> bool {
    let expects = |node| {
        !matches!(
            Envelope::of(node).kind(),
            Some(MessageKind::Notification | MessageKind::Response)
        )
    };
    if root.is_array() { root.is_empty() || root.elements().any(expects) } else { expects(root) }
}

fn refused(envelope: &Envelope<'_>, message: String) -> RejectionResponse {
    let id = envelope.readable_id().unwrap_or(JsonRpcId::Null);
    let response = Response {
        id: id.to_request_id().unwrap_or_else(|| 0.into()),
        revision: Revision::LATEST,
        outcome: Err(Error::HeaderMismatch { message }),
    };
    let body = response.to_json_rpc(id, Dispatch::Mcp).to_bytes();
    RejectionResponse { status: StatusCode::BAD_REQUEST, body }
}
