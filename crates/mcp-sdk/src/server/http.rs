//! What the HTTP service must know of messages: which era they belong to, whether they want an
//! answer, and whether what stands outside agrees with what is inside.

use std::{borrow::Cow, fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, StatusCode, request::Parts};
use mcp_core::{BoxFuture, Dispatch, Era, Error, Meta, Response, Revision, Side, Transport};
use mcp_json::{Node, Parsed};
use mcp_jsonrpc::{
    Envelope, ErrorCode, JsonRpcError, JsonRpcId, JsonRpcResponse, MessageKind, ToJsonRpc as _,
};
use mcp_rules::{Headers, HttpGate, header_mismatches};
use mcp_transport::http::{
    headers,
    server::{Application, Glimpse, HttpFault, HttpService, HttpSettings, Refused},
    watch::HttpWatch,
};

use super::{Circumstances, Server};
use crate::{http_watch::GateWatch, labels::Marked};

impl Server {
    /// The server as a `tower` service for an HTTP server of yours: mount it beside other routes.
    /// The revisions and the longest message are those of the server, whatever `settings` say.
    ///
    /// When your HTTP server shuts down, tell the service with [`HttpService::drain_after`], or
    /// streams without an end of their own hold it up; [`HttpService::close`] then ends the sessions
    /// that are left. How long requests in work may take is up to your HTTP server; many set no limit.
    /// The [guide](crate::guide::http) has an example, and what else to see to.
    pub fn http_service(&self, mut settings: HttpSettings) -> HttpService {
        settings.revisions = self.mcp.revisions();
        settings.max_body = self.max_message;
        HttpService::new(Arc::new(HttpApplication { server: self.clone() }), settings)
    }
}

/// How it is found out who a client is.
#[derive(Clone)]
pub(super) struct Principals(Arc<Finder>);

type Finder = dyn Fn(&Parts) -> Option<String> + Send + Sync;

impl Principals {
    pub(super) fn new(find: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        Principals(Arc::new(find))
    }

    fn of(&self, opening: &Parts) -> Option<Arc<str>> {
        (self.0)(opening).map(Into::into)
    }
}

impl fmt::Debug for Principals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Principals")
    }
}

#[derive(Debug)]
struct HttpApplication {
    server: Server,
}

impl Application for HttpApplication {
    fn parse(&self, body: &Bytes) -> Option<Parsed> {
        self.server.tapes.parse(body.clone(), self.server.limits()).ok()
    }

    fn watch_session(&self) -> Option<Arc<dyn HttpWatch>> {
        self.watch(HttpGate::from_start)
    }

    fn watch_exchange(&self) -> Option<Arc<dyn HttpWatch>> {
        self.watch(|gate| gate)
    }

    fn glimpse(
        &self,
        head: &Parts,
        _: &Bytes,
        parsed: Option<&Parsed>,
    ) -> Result<Glimpse, Refused> {
        let stated = self.stated(&head.headers);
        let Some(parsed) = parsed else {
            // It belongs to no session, whatever its headers say: it has no place among the messages of
            // one, and its status shall tell. A conversation of its own will say what is wrong.
            return Ok(Glimpse { wants_answer: true, stateless: true, ..Glimpse::default() });
        };
        let document = parsed.document();
        let root = document.root();
        let envelope = Envelope::of(root);
        let stateless = self.is_stateless(&envelope, stated);
        let method = |name| envelope.method.is_some_and(|method| method.str_eq(name));
        // Who opens a session of an older revision does not know these headers. It shall hear which
        // revisions are spoken here, not which headers it lacks.
        let is_handshake = method("initialize") && !stated.is_modern();
        if stateless && envelope.kind() == Some(MessageKind::Request) && !is_handshake {
            self.compare(&envelope, &head.headers)?;
        }
        Ok(Glimpse {
            wants_answer: wants_answer(root),
            opens_session: !stateless && method("initialize"),
            stateless,
            long_lived: stateless && method("subscriptions/listen"),
            revision: match stated {
                Stated::Revision(revision) => Some(revision),
                Stated::Nothing | Stated::Unknown => requested(&envelope),
            },
        })
    }

    fn principal(&self, head: &Parts) -> Option<Arc<str>> {
        self.server.principals.as_ref()?.of(head)
    }

    fn converse(&self, transport: Arc<dyn Transport>, opening: &Parts) -> BoxFuture<'static, ()> {
        let server = self.server.clone();
        let era = self.stated(&opening.headers).is_modern().then_some(Era::Modern);
        let principal = self.principal(opening);
        let circumstances = Circumstances { era, principal };
        Box::pin(async move {
            if let Err(error) = server.hold(transport, circumstances).await {
                tracing::debug!(%error, "a conversation broke off");
            }
        })
    }

    fn explain(&self, fault: &HttpFault) -> Bytes {
        // 2026-07-28 leaves -32000, which servers used for this before, to these.
        let code = match fault {
            HttpFault::BodyEmpty => ErrorCode::ParseError,
            fault if fault.status().is_server_error() => ErrorCode::InternalError,
            _ => ErrorCode::InvalidRequest,
        };
        let error = JsonRpcError { code: code.code(), message: fault.to_string(), data: None };
        JsonRpcResponse { id: None, outcome: Err(error) }.to_bytes()
    }
}

/// What the header says about the revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stated {
    Nothing,
    Revision(Revision),
    /// Something nobody has published, or not readable at all.
    Unknown,
}

impl Stated {
    /// Whether what is stated belongs to the stateless era: everything but the old revisions.
    fn is_modern(self) -> bool {
        match self {
            Stated::Nothing => false,
            Stated::Revision(revision) => revision.era() == Era::Modern,
            Stated::Unknown => true,
        }
    }
}

impl HttpApplication {
    fn watch(&self, joining: impl FnOnce(HttpGate) -> HttpGate) -> Option<Arc<dyn HttpWatch>> {
        let gate = joining(self.server.validation().http_gate(Side::Server)?);
        let (tapes, limits) = (self.server.tapes.clone(), self.server.limits());
        Some(Arc::new(GateWatch::new(gate, tapes, limits)))
    }

    fn stated(&self, headers: &HeaderMap) -> Stated {
        if !self.server.mcp.revisions().contains(Revision::LATEST) {
            return Stated::Nothing; // There is no choice of eras.
        }
        match headers.get(headers::PROTOCOL_VERSION) {
            None => Stated::Nothing,
            Some(value) => value
                .to_str()
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .map_or(Stated::Unknown, Stated::Revision),
        }
    }

    fn is_stateless(&self, envelope: &Envelope<'_>, stated: Stated) -> bool {
        let revisions = self.server.mcp.revisions();
        if !revisions.contains(Revision::LATEST) {
            return false;
        }
        let speaks_legacy = revisions.iter().any(|revision| revision.era() == Era::Legacy);
        let is_handshake = envelope.method.is_some_and(|method| method.str_eq("initialize"));
        let says_so = meta(envelope, Meta::PROTOCOL_VERSION).is_some() && !is_handshake;
        stated.is_modern() || says_so || !speaks_legacy
    }

    /// Whether the headers repeat what the body says.
    fn compare(&self, envelope: &Envelope<'_>, headers: &HeaderMap) -> Result<(), Refused> {
        compare_version(envelope, headers).map_err(|message| refused(envelope, message))?;
        let headers: Headers<'_> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
            .collect();
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

fn compare_version(envelope: &Envelope<'_>, headers: &HeaderMap) -> Result<(), String> {
    // The conversation will say that it is missing.
    let Some(version) = meta(envelope, Meta::PROTOCOL_VERSION) else { return Ok(()) };
    let name = headers::PROTOCOL_VERSION;
    let mut values = headers.get_all(&name).iter();
    let Some(value) = values.next() else {
        return Err(format!("the header `{name}` is missing"));
    };
    if values.next().is_some() {
        return Err(format!("the header `{name}` is there twice"));
    }
    let shown = String::from_utf8_lossy(value.as_bytes());
    match version.as_str() {
        Some(version) if version != shown.trim() => {
            Err(format!("`{name}` says {shown:?}, the body's `_meta` is {version:?}"))
        }
        _ => Ok(()),
    }
}

fn meta<'a>(envelope: &Envelope<'a>, key: &str) -> Option<Node<'a>> {
    envelope.params?.get("_meta")?.get(key)
}

/// The revision that an `initialize` asks for.
fn requested(envelope: &Envelope<'_>) -> Option<Revision> {
    envelope.params?.get("protocolVersion")?.as_str()?.parse().ok()
}

/// Whether there is a request in it, or something to which only an error can be said.
fn wants_answer(root: Node<'_>) -> bool {
    let wants = |node| {
        !matches!(
            Envelope::of(node).kind(),
            Some(MessageKind::Notification | MessageKind::Response)
        )
    };
    if root.is_array() { root.is_empty() || root.elements().any(wants) } else { wants(root) }
}

fn refused(envelope: &Envelope<'_>, message: String) -> Refused {
    let id = envelope.readable_id().unwrap_or(JsonRpcId::Null);
    let response = Response {
        id: id.to_request_id().unwrap_or_else(|| 0.into()),
        revision: Revision::LATEST,
        outcome: Err(Error::HeaderMismatch { message }),
    };
    let body = response.to_json_rpc(id, Dispatch::Mcp).to_bytes();
    Refused { status: StatusCode::BAD_REQUEST, body }
}
