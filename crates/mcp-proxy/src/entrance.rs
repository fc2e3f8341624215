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

/// Whom an [`Entrance`] serves, and its limits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EntranceSettings {
    /// The hosts that clients may address. Default: loopback.
    pub hosts: Allowed,
    /// The pages that may send requests. Default: loopback.
    pub origins: Allowed,
    /// The token that clients must send as `Authorization: Bearer`. It is not passed on.
    pub token: Option<Arc<str>>,
    /// Whether clients are served over TLS, for the URLs in recordings. Default: no.
    pub secure: bool,
    /// Whether requests of HTTP clients to an HTTP server are recorded as addressed to it, not to us.
    /// Default: no.
    pub shows_server: bool,
    /// The longest message that is judged and recorded, in bytes. Default: 16 MiB.
    pub max_message: usize,
    /// What may be held of messages at once, in bytes: those that are not complete yet, wait for a
    /// client that does not read or, if they are held back, have not been sent. Beyond it, messages
    /// pass unjudged or get an error. Clones share it. Default: 256 MiB.
    pub room: MemoryBudget,
    /// How long an HTTP server may take to begin its answer. Default: 10 min.
    pub answer_timeout: Duration,
    /// How long an HTTP client may send nothing of a body that it has begun, if it is passed on to an
    /// HTTP server. Default: 60 s.
    pub body_stall: Duration,
    /// How many servers may be started, or connections opened to one. Default: 100.
    pub max_children: usize,
    /// How long a server that was started may take to exit after its input was closed. Default: 5 s.
    pub exit_wait: Duration,
    /// The name of the server in recordings, if there are several.
    pub name: Option<Arc<str>>,
    /// Where sessions that are bridged, and WebSocket connections, are counted.
    pub sessions: OpenSessions,
    /// Whether to log what a server that was started writes to its standard error, instead of
    /// passing it. Default: no.
    pub log_stderr: bool,
    /// When to end. Default: never.
    pub drain: Drain,
}

impl Default for EntranceSettings {
    fn default() -> Self {
        EntranceSettings {
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

/// What clients find at an address: one server, however they and it are talked to. A `tower`
/// service.
///
/// | server | clients over HTTP | clients over WebSocket |
/// |---|---|---|
/// | HTTP | passed on | bridged |
/// | WebSocket | bridged | passed on |
/// | standard streams | bridged | bridged |
#[derive(Debug, Clone)]
pub struct Entrance {
    token: Option<Arc<str>>,
    http: HttpDoor,
    web_socket: WebSocketDoor,
    /// If others take requests of sessions that are bridged here.
    replica: Option<Arc<Replica>>,
}

/// Where HTTP clients go.
#[derive(Debug, Clone)]
enum HttpDoor {
    PassedOn(Gateway),
    Bridged(HttpService, Children),
}

/// Where WebSocket clients go.
#[derive(Debug, Clone)]
enum WebSocketDoor {
    PassedOn(Tunnels),
    Bridged(Sockets),
}

impl Entrance {
    /// Leads to the server at `url`.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used.
    pub fn to_url(
        url: &str,
        access: &Access,
        tap: &Tap,
        settings: &EntranceSettings,
    ) -> Result<Entrance, RemoteError> {
        let token = settings.token.clone();
        let upstream = Upstream::new(url, access)?;
        Ok(match UrlKind::of(url)? {
            UrlKind::Http => {
                let (limit, timeout) = (settings.max_message, settings.answer_timeout);
                let remote = Remote::answering(url, limit, timeout, access)?;
                let http = Gateway::new(upstream, tap.clone(), settings.gateway());
                Entrance {
                    token,
                    http: HttpDoor::PassedOn(http),
                    web_socket: settings.bridge(remote, tap),
                    replica: None,
                }
            }
            UrlKind::WebSocket => {
                let children = Children::connecting(url, access, tap, settings.children())?;
                let tunnels = Tunnels::new(upstream, tap.clone(), settings.sockets());
                Entrance {
                    token,
                    http: HttpDoor::Bridged(children.service(), children),
                    web_socket: WebSocketDoor::PassedOn(tunnels),
                    replica: None,
                }
            }
        })
    }

    /// Leads to a server that is started for its clients.
    pub fn to_command(
        program: &OsString,
        arguments: &[OsString],
        tap: &Tap,
        settings: &EntranceSettings,
    ) -> Entrance {
        let children = Children::new(program, arguments, tap, settings.children());
        let waits = (settings.exit_wait, settings.children().terminate_wait);
        let remote = Remote::child(program, arguments, settings.max_message, waits);
        Entrance {
            token: settings.token.clone(),
            http: HttpDoor::Bridged(children.service(), children),
            web_socket: settings.bridge(remote, tap),
            replica: None,
        }
    }

    /// The same entrance for a runtime of its own: connections to an HTTP server are not shared, so
    /// that a request need not change threads.
    #[must_use]
    pub fn apart(&self) -> Entrance {
        let http = match &self.http {
            HttpDoor::PassedOn(gateway) => HttpDoor::PassedOn(gateway.apart()),
            bridged @ HttpDoor::Bridged(..) => bridged.clone(),
        };
        Entrance { http, ..self.clone() }
    }

    /// Has other replicas find the sessions that are bridged here, and finds theirs.
    #[must_use]
    pub fn as_replica(mut self, replica: Arc<Replica>) -> Entrance {
        self.replica = Some(replica);
        self
    }

    /// Opens no more sessions.
    pub fn drain(&self) {
        if let HttpDoor::Bridged(service, _) = &self.http {
            service.drain();
        }
    }

    /// Ends all conversations, and what was started for them.
    pub async fn close(&self) {
        let sessions = async {
            if let HttpDoor::Bridged(service, children) = &self.http {
                service.close();
                children.close().await;
            }
        };
        let sockets = async {
            match &self.web_socket {
                WebSocketDoor::PassedOn(tunnels) => tunnels.close().await,
                WebSocketDoor::Bridged(sockets) => sockets.close().await,
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
                WebSocketDoor::PassedOn(tunnels) => tunnels.call(request).await,
                WebSocketDoor::Bridged(sockets) => sockets.call(request).await,
            }
        } else {
            match &mut self.http {
                HttpDoor::PassedOn(gateway) => gateway.call(request).await,
                HttpDoor::Bridged(service, _) => match self.replica {
                    Some(replica) => Forwarding::new(service.clone(), replica).call(request).await,
                    None => service.call(request).await.map(|response| response.map(boxed)),
                },
            }
        };
        response
    }
}

impl Service<Request<Incoming>> for Entrance {
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

impl EntranceSettings {
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

    fn bridge(&self, remote: Remote, tap: &Tap) -> WebSocketDoor {
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
        WebSocketDoor::Bridged(Sockets::new(remote, tap.clone(), sockets, talking))
    }
}
