//! Serves HTTP clients with a server that the proxy starts: one child process per session, and one
//! for all requests without a session. A WebSocket server is treated alike, with a connection in
//! place of each child.

mod callers;
mod inspect;
mod session;
mod shared;

use std::{
    collections::HashMap,
    ffi::OsString,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::request::Parts;
use mcp_core::{
    BoxFuture, Inbound, MemoryBudget, Outbound, OutboundRole, ResponseStatus, Transport,
    TransportError,
};
use mcp_json::{Limits, Parsed};
use mcp_jsonrpc::ErrorCode;
use mcp_transport::{
    Allowed, ChildCommand, ChildSettings, ChildStderr, ChildTransport,
    http::{
        server::{
            Application, HttpFault, HttpService, HttpSettings, RejectionResponse, RequestInfo,
        },
        watch::HttpWatch,
    },
};
use tokio::sync::Semaphore;

use self::{inspect::HeaderVersion, session::SessionRelay, shared::SharedChild};
use super::{
    conversation_tap::{ConversationTap, Wire},
    dial::WsServer,
    outline::Outline,
    text::failure,
};
use crate::{Access, Tap, UpstreamError, metrics::OpenSessions, shutdown::Drain};

/// The clients that [`Children`] accept, and their limits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChildrenSettings {
    /// The `Host` values to accept. Default: loopback.
    pub hosts: Allowed,
    /// The web origins to accept. Default: loopback.
    pub origins: Allowed,
    /// Maximum number of children with a session. Beyond it, an idle session is closed; if none is
    /// idle, the client gets 503. Default: 100.
    pub max_children: usize,
    /// Maximum number of starts per minute of the child without sessions. Default: 10.
    pub max_starts: usize,
    /// Maximum message size in bytes. Longer messages are refused. Default: 16 MiB.
    pub max_message: usize,
    /// Memory for messages queued for clients of the child without sessions, in bytes. Default: 256
    /// MiB.
    pub room: MemoryBudget,
    /// How long a child may take to exit after its input was closed, before it is terminated.
    /// Default: 5 s.
    pub exit_wait: Duration,
    /// How long a terminated child may take to exit before it is killed. Default: 2 s.
    pub terminate_wait: Duration,
    /// Whether to log the standard error of children, instead of passing it through. Default: no.
    pub log_stderr: bool,
    /// When to stop. Default: never.
    pub drain: Drain,
    /// The name of the server in recordings, if there are several.
    pub name: Option<Arc<str>>,
    /// Counts open sessions.
    pub sessions: OpenSessions,
}

impl Default for ChildrenSettings {
    fn default() -> Self {
        ChildrenSettings {
            hosts: Allowed::loopback(),
            origins: Allowed::loopback(),
            max_children: 100,
            max_starts: 10,
            max_message: 16 << 20,
            room: MemoryBudget::new(256 << 20),
            exit_wait: Duration::from_secs(5),
            terminate_wait: Duration::from_secs(2),
            log_stderr: false,
            drain: Drain::default(),
            name: None,
            sessions: OpenSessions::default(),
        }
    }
}

/// Opens conversations with the server, each with a tap.
#[derive(Debug)]
struct Launcher {
    server: Server,
    limits: Limits,
    /// Memory for messages queued for clients.
    room: MemoryBudget,
    tap: Tap,
    drain: Drain,
    /// The name of the server, if there are several.
    prefix: Option<Arc<str>>,
    /// The number of conversations so far, by kind.
    names: Mutex<HashMap<&'static str, u64>>,
}

/// How to open conversations.
#[derive(Debug)]
enum Server {
    Child(Box<(ChildCommand, ChildSettings)>),
    WebSocket(Box<WsServer>),
}

impl Launcher {
    /// Opens a conversation; its name begins with `name`.
    async fn start(
        &self,
        name: &'static str,
    ) -> Result<(Arc<dyn Transport>, ConversationTap), TransportError> {
        let (transport, wire): (Arc<dyn Transport>, Wire) = match &self.server {
            Server::Child(child) => {
                (Arc::new(ChildTransport::spawn(&child.0, &child.1)?), Wire::Lines)
            }
            Server::WebSocket(server) => (Arc::new(server.connect().await?), Wire::WebSocket),
        };
        let number = {
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            let number = names.entry(name).or_default();
            *number += 1;
            *number
        };
        let name: Arc<str> = match &self.prefix {
            Some(prefix) => format!("{prefix}/{name}-{number}").into(),
            None => format!("{name}-{number}").into(),
        };
        tracing::debug!(%name, "started a server");
        Ok((transport, ConversationTap::new(self.tap.clone(), Some(name), wire)))
    }
}

/// Server processes for HTTP clients.
#[derive(Debug, Clone)]
pub struct Children(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    launcher: Arc<Launcher>,
    shared: SharedChild,
    room: Arc<Semaphore>,
    settings: ChildrenSettings,
}

impl Children {
    /// Starts `program` for clients, as they come.
    pub fn new(
        program: &OsString,
        arguments: &[OsString],
        tap: &Tap,
        settings: ChildrenSettings,
    ) -> Children {
        let mut child = ChildSettings::default();
        child.lines.max_message = settings.max_message;
        (child.exit_wait, child.terminate_wait) = (settings.exit_wait, settings.terminate_wait);
        let mut command = ChildCommand::new(program).args(arguments);
        if settings.log_stderr {
            command = command.stderr(ChildStderr::lines(|line| {
                tracing::info!(target: "server", "{line}");
            }));
        }
        Children::of(Server::Child(Box::new((command, child))), tap, settings)
    }

    /// Connects to the server at `url` (`ws` or `wss`) once for each session, and once for all
    /// requests without a session.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used.
    pub fn connecting(
        url: &str,
        access: &Access,
        tap: &Tap,
        settings: ChildrenSettings,
    ) -> Result<Children, UpstreamError> {
        let server = WsServer::new(url, settings.max_message, access)?;
        Ok(Children::of(Server::WebSocket(Box::new(server)), tap, settings))
    }

    fn of(server: Server, tap: &Tap, settings: ChildrenSettings) -> Children {
        let launcher = Arc::new(Launcher {
            server,
            limits: Limits { max_bytes: settings.max_message, ..Limits::default() },
            room: settings.room.clone(),
            tap: tap.clone(),
            drain: settings.drain.clone(),
            prefix: settings.name.clone(),
            names: Mutex::default(),
        });
        let shared = SharedChild::new(Arc::clone(&launcher), settings.max_starts);
        let room = settings.max_children.clamp(1, Semaphore::MAX_PERMITS);
        let room = Arc::new(Semaphore::new(room));
        Children(Arc::new(Inner { launcher, shared, room, settings }))
    }

    /// The HTTP service for clients.
    pub fn service(&self) -> HttpService {
        let inner = &self.0.settings;
        let mut settings = HttpSettings::default();
        (settings.hosts, settings.origins) = (inner.hosts.clone(), inner.origins.clone());
        settings.max_body = inner.max_message;
        settings.max_sessions = inner.max_children.max(1);
        HttpService::new(Arc::new(self.clone()), settings)
    }

    /// Ends the children. The service must have been closed before.
    pub async fn close(&self) {
        let inner = &*self.0;
        let all = u32::try_from(inner.settings.max_children.max(1)).unwrap_or(u32::MAX);
        let sessions = async {
            // Each session returns its permit once its child has exited.
            let _ = inner.room.acquire_many(all).await;
        };
        tokio::join!(inner.shared.close(), sessions);
    }

    async fn serve_session(
        &self,
        transport: Arc<dyn Transport>,
        first: (Option<mcp_core::Ticket>, Bytes),
        outline: &Outline,
    ) {
        let Inner { launcher, room, settings, .. } = &*self.0;
        // A session closed to make room still has to end its child.
        let patience = settings.exit_wait + settings.terminate_wait + Duration::from_secs(1);
        let started = match tokio::time::timeout(patience, room.acquire()).await {
            Ok(Ok(permit)) => launcher.start("session").await.map(|started| (started, permit)),
            _ => Err(TransportError::Connect(
                "too many servers are running; try again later".to_owned(),
            )),
        };
        match started {
            Ok(((child, tap), permit)) => {
                let _open = settings.sessions.begin();
                let limits = (launcher.limits, launcher.room.clone());
                let relay = SessionRelay::new(transport, child, tap, limits);
                relay.run(first, &launcher.drain).await;
                drop(permit);
            }
            Err(error) => {
                tracing::warn!(%error, "could not start a server");
                let id = outline.single().and_then(|message| Some(message.id.as_ref()?.id.clone()));
                let bytes = failure(id, ErrorCode::InternalError, &error.to_string());
                let role = OutboundRole::Response(ResponseStatus::Served);
                let ticket = first.0;
                let outbound = Outbound { bytes, role, ticket, headers: None, parsed: None };
                let _ = transport.send(outbound).await;
            }
        }
    }
}

impl Application for Children {
    fn parse(&self, body: &Bytes) -> Option<Parsed> {
        Parsed::parse(body.clone(), self.0.launcher.limits).ok()
    }

    fn inspect(
        &self,
        head: &Parts,
        _: &Bytes,
        parsed: Option<&Parsed>,
    ) -> Result<RequestInfo, RejectionResponse> {
        inspect::inspect(head, parsed)
    }

    fn converse(
        &self,
        transport: Arc<dyn Transport>,
        opening: &Parts,
        _: Option<Arc<dyn HttpWatch>>,
    ) -> BoxFuture<'static, ()> {
        let children = self.clone();
        let version = HeaderVersion::of(&opening.headers);
        Box::pin(async move {
            let (ticket, text) = match transport.receive().await {
                Ok(Some(Inbound::Message { ticket, bytes })) => (ticket, bytes),
                Ok(Some(Inbound::Parsed { ticket, message, .. })) => (ticket, message.text()),
                _ => return,
            };
            match Outline::at(&text, children.0.launcher.limits) {
                Some(outline) if !version.is_stateless(&outline) => {
                    children.serve_session(transport, (ticket, text), &outline).await;
                }
                _ => children.0.shared.serve(transport, ticket, text).await,
            }
        })
    }

    fn explain(&self, fault: &HttpFault) -> Bytes {
        let code = match fault {
            HttpFault::BodyEmpty => ErrorCode::ParseError,
            fault if fault.status().is_server_error() => ErrorCode::InternalError,
            _ => ErrorCode::InvalidRequest,
        };
        failure(None, code, &fault.to_string())
    }
}
