use std::{
    convert::Infallible,
    ffi::OsString,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{Request, Response, header::AUTHORIZATION};
use hyper::body::Incoming;
use mcp_core::{BoxFuture, MemoryBudget};
use mcp_transport::{Allowed, http::server::HttpService};
use tower_service::Service;

use crate::{
    Access, Tap, UrlKind,
    bridge::{
        children::{Children, ChildrenSettings},
        remote::{Remote, RemoteError, RemoteSettings},
    },
    http::{
        Answer, Forwarding, Gateway, GatewaySettings, ProxyBody, Replica, Upstream, boxed,
        has_token,
    },
    metrics::OpenSessions,
    shutdown::Drain,
    ws::{self, SocketSettings, Sockets, Tunnels},
};

/// The clients that a [`ProxiedServer`] accepts, and its limits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProxiedServerSettings {
    /// The `Host` values to accept. Default: loopback.
    pub hosts: Allowed,
    /// The web origins to accept. Default: loopback.
    pub origins: Allowed,
    /// The token that clients must send as `Authorization: Bearer`. It is not forwarded.
    pub token: Option<Arc<str>>,
    /// Whether clients connect over TLS, for the URLs in recordings. Default: no.
    pub secure: bool,
    /// Whether recordings show requests between HTTP peers as addressed to the server, not to the
    /// proxy. Default: no.
    pub shows_server: bool,
    /// The longest message that is judged and recorded, in bytes. Default: 16 MiB.
    pub max_message: usize,
    /// Memory for messages in bytes: those that are incomplete, wait for a slow client or, under
    /// enforcement, have not been sent yet. Beyond it, messages pass unjudged or are refused.
    /// Clones share the budget. Default: 256 MiB.
    pub room: MemoryBudget,
    /// How long an HTTP server may take to begin its answer. Default: 10 min.
    pub answer_timeout: Duration,
    /// How long a client may pause within a body that is forwarded to an HTTP server. Default: 60 s.
    pub body_stall: Duration,
    /// Maximum number of server processes, or of connections to a server. Default: 100.
    pub max_children: usize,
    /// How long a server process may take to exit after its input was closed. Default: 5 s.
    pub exit_wait: Duration,
    /// The name of the server in recordings, if there are several.
    pub name: Option<Arc<str>>,
    /// Counts bridged sessions and WebSocket connections.
    pub sessions: OpenSessions,
    /// Whether to log the standard error of server processes, instead of passing it through.
    /// Default: no.
    pub log_stderr: bool,
    /// When to stop. Default: never.
    pub drain: Drain,
}

impl Default for ProxiedServerSettings {
    fn default() -> Self {
        ProxiedServerSettings {
            hosts: Allowed::loopback(),
            origins: Allowed::loopback(),
            token: None,
            secure: false,
            shows_server: false,
            max_message: 16 << 20,
            room: MemoryBudget::new(256 << 20),
            answer_timeout: Duration::from_secs(600),
            body_stall: Duration::from_secs(60),
            max_children: 100,
            exit_wait: Duration::from_secs(5),
            name: None,
            sessions: OpenSessions::default(),
            log_stderr: false,
            drain: Drain::default(),
        }
    }
}

/// A server behind the proxy, as HTTP and WebSocket clients reach it. A `tower` service that
/// forwards or bridges, depending on the transport of the server:
///
/// | server | clients over HTTP | clients over WebSocket |
/// |---|---|---|
/// | HTTP | forwarded | bridged |
/// | WebSocket | bridged | forwarded |
/// | standard streams | bridged | bridged |
#[derive(Debug, Clone)]
pub struct ProxiedServer {
    token: Option<Arc<str>>,
    http: HttpHandler,
    web_socket: WebSocketHandler,
    /// Set if other replicas receive requests for sessions that are bridged here.
    replica: Option<Arc<Replica>>,
}

/// Handles HTTP clients.
#[derive(Debug, Clone)]
enum HttpHandler {
    PassedOn(Gateway),
    Bridged(HttpService, Children),
}

/// Handles WebSocket clients.
#[derive(Debug, Clone)]
enum WebSocketHandler {
    PassedOn(Tunnels),
    Bridged(Sockets),
}

impl ProxiedServer {
    /// Forwards or bridges to the server at `url`.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used.
    pub fn to_url(
        url: &str,
        access: &Access,
        tap: &Tap,
        settings: &ProxiedServerSettings,
    ) -> Result<ProxiedServer, RemoteError> {
        let token = settings.token.clone();
        let upstream = Upstream::new(url, access)?;
        Ok(match UrlKind::of(url)? {
            UrlKind::Http => {
                let (limit, timeout) = (settings.max_message, settings.answer_timeout);
                let remote = Remote::answering(url, limit, timeout, access)?;
                let http = Gateway::new(upstream, tap.clone(), settings.gateway());
                ProxiedServer {
                    token,
                    http: HttpHandler::PassedOn(http),
                    web_socket: settings.bridge(remote, tap),
                    replica: None,
                }
            }
            UrlKind::WebSocket => {
                let children = Children::connecting(url, access, tap, settings.children())?;
                let tunnels = Tunnels::new(upstream, tap.clone(), settings.sockets());
                ProxiedServer {
                    token,
                    http: HttpHandler::Bridged(children.service(), children),
                    web_socket: WebSocketHandler::PassedOn(tunnels),
                    replica: None,
                }
            }
        })
    }

    /// Starts `program` for its clients, and bridges to it.
    pub fn to_command(
        program: &OsString,
        arguments: &[OsString],
        tap: &Tap,
        settings: &ProxiedServerSettings,
    ) -> ProxiedServer {
        let children = Children::new(program, arguments, tap, settings.children());
        let waits = (settings.exit_wait, settings.children().terminate_wait);
        let remote = Remote::child(program, arguments, settings.max_message, waits);
        ProxiedServer {
            token: settings.token.clone(),
            http: HttpHandler::Bridged(children.service(), children),
            web_socket: settings.bridge(remote, tap),
            replica: None,
        }
    }

    /// The same server with its own connections, for use on another runtime, so that requests need
    /// not change threads.
    #[must_use]
    pub fn with_own_connections(&self) -> ProxiedServer {
        let http = match &self.http {
            HttpHandler::PassedOn(gateway) => HttpHandler::PassedOn(gateway.with_own_connections()),
            bridged @ HttpHandler::Bridged(..) => bridged.clone(),
        };
        ProxiedServer { http, ..self.clone() }
    }

    /// Lets other replicas find the sessions that are bridged here, and finds theirs.
    #[must_use]
    pub fn as_replica(mut self, replica: Arc<Replica>) -> ProxiedServer {
        self.replica = Some(replica);
        self
    }

    /// Opens no more sessions.
    pub fn drain(&self) {
        if let HttpHandler::Bridged(service, _) = &self.http {
            service.drain();
        }
    }

    /// Ends all conversations, and the servers started for them.
    pub async fn close(&self) {
        let sessions = async {
            if let HttpHandler::Bridged(service, children) = &self.http {
                service.close();
                children.close().await;
            }
        };
        let sockets = async {
            match &self.web_socket {
                WebSocketHandler::PassedOn(tunnels) => tunnels.close().await,
                WebSocketHandler::Bridged(sockets) => sockets.close().await,
            }
        };
        tokio::join!(sessions, sockets);
    }

    async fn answer(mut self, mut request: Request<Incoming>) -> Response<ProxyBody> {
        if let Some(token) = &self.token {
            if !has_token(request.headers(), token) {
                return Answer::unauthorized().into_response();
            }
            request.headers_mut().remove(AUTHORIZATION);
        }
        let Ok(response) = if ws::is_asked_for(request.headers()) {
            match &mut self.web_socket {
                WebSocketHandler::PassedOn(tunnels) => tunnels.call(request).await,
                WebSocketHandler::Bridged(sockets) => sockets.call(request).await,
            }
        } else {
            match &mut self.http {
                HttpHandler::PassedOn(gateway) => gateway.call(request).await,
                HttpHandler::Bridged(service, _) => match self.replica {
                    Some(replica) => Forwarding::new(service.clone(), replica).call(request).await,
                    None => service.call(request).await.map(|response| response.map(boxed)),
                },
            }
        };
        response
    }
}

impl Service<Request<Incoming>> for ProxiedServer {
    type Response = Response<ProxyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<ProxyBody>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let entrance = self.clone();
        Box::pin(async move { Ok(entrance.answer(request).await) })
    }
}

impl ProxiedServerSettings {
    fn gateway(&self) -> GatewaySettings {
        GatewaySettings {
            hosts: self.hosts.clone(),
            origins: self.origins.clone(),
            secure: self.secure,
            shows_server: self.shows_server,
            answer_timeout: self.answer_timeout,
            body_stall: self.body_stall,
            max_body: self.max_message,
            room: self.room.clone(),
            name: self.name.clone(),
            drain: self.drain.clone(),
            ..GatewaySettings::default()
        }
    }

    fn children(&self) -> ChildrenSettings {
        ChildrenSettings {
            hosts: self.hosts.clone(),
            origins: self.origins.clone(),
            max_message: self.max_message,
            room: self.room.clone(),
            max_children: self.max_children,
            exit_wait: self.exit_wait,
            name: self.name.clone(),
            sessions: self.sessions.clone(),
            log_stderr: self.log_stderr,
            drain: self.drain.clone(),
            ..ChildrenSettings::default()
        }
    }

    fn sockets(&self) -> SocketSettings {
        let settings = SocketSettings::default();
        let name = match &self.name {
            Some(name) => format!("{name}/{}", settings.name).into(),
            None => settings.name,
        };
        SocketSettings {
            hosts: self.hosts.clone(),
            origins: self.origins.clone(),
            max_message: self.max_message,
            room: self.room.clone(),
            name,
            sessions: self.sessions.clone(),
            drain: self.drain.clone(),
            ..settings
        }
    }

    fn bridge(&self, remote: Remote, tap: &Tap) -> WebSocketHandler {
        let mut sockets = self.sockets();
        if remote.has_lines() {
            sockets.max_sockets = self.max_children;
        }
        let talking = RemoteSettings {
            max_line: self.max_message,
            exit_wait: self.exit_wait,
            drain: self.drain.clone(),
            ..RemoteSettings::default()
        };
        WebSocketHandler::Bridged(Sockets::new(remote, tap.clone(), sockets, talking))
    }
}
