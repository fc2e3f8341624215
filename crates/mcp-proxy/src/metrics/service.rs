//! Serves `/metrics`, `/healthz` and `/readyz` on their own address.

use std::{
    convert::Infallible,
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{ALLOW, CONTENT_TYPE},
};
use http_body_util::Full;
use hyper::body::Incoming;
use mcp_transport::http::server::ServeSettings;
use tokio::net::TcpListener;
use tower_service::Service;

use super::Metrics;

/// Whether the proxy can take requests, for load balancers.
#[derive(Debug, Clone, Default)]
pub struct Health {
    ready: Arc<AtomicBool>,
    /// The names of the servers, if there are several.
    upstreams: Arc<[Arc<str>]>,
}

impl Health {
    /// Initially not ready.
    pub fn new() -> Health {
        Health::default()
    }

    /// Initially not ready, for several servers with these names.
    pub fn of_upstreams(names: &[Arc<str>]) -> Health {
        Health { ready: Arc::default(), upstreams: names.into() }
    }

    /// Sets whether the proxy accepts new clients.
    pub fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Relaxed);
    }

    /// Formats a state, for each server if there are several.
    fn shown(&self, state: &str) -> String {
        if self.upstreams.is_empty() {
            return format!("{state}\n");
        }
        let mut text = String::new();
        for name in &*self.upstreams {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name}: {state}");
        }
        text
    }

    fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }
}

/// Serves metrics and health checks until `shutdown` completes.
pub async fn serve(
    listener: TcpListener,
    metrics: Metrics,
    health: Health,
    shutdown: impl Future<Output = ()>,
) {
    let service = Endpoints { metrics, health };
    let mut settings = ServeSettings::default();
    settings.max_connections = MAX_CONNECTIONS;
    mcp_transport::http::server::serve(listener, service, settings, shutdown).await;
}

/// Maximum number of connections; only monitoring connects.
const MAX_CONNECTIONS: usize = 64;

#[derive(Debug, Clone)]
struct Endpoints {
    metrics: Metrics,
    health: Health,
}

impl Service<Request<Incoming>> for Endpoints {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<Full<Bytes>>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        std::future::ready(Ok(self.answer(&request)))
    }
}

impl Endpoints {
    fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        match request.uri().path() {
            "/metrics" | "/healthz" | "/readyz" if !is_read => {
                let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "");
                answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                answer
            }
            "/metrics" => text(StatusCode::OK, OPEN_METRICS, self.metrics.encode()),
            "/healthz" => text(StatusCode::OK, PLAIN, "ok\n"),
            "/readyz" if self.health.is_ready() => {
                text(StatusCode::OK, PLAIN, self.health.shown("ready"))
            }
            "/readyz" => {
                text(StatusCode::SERVICE_UNAVAILABLE, PLAIN, self.health.shown("not ready"))
            }
            _ => {
                text(StatusCode::NOT_FOUND, PLAIN, "not found; use /metrics, /healthz or /readyz\n")
            }
        }
    }
}

const PLAIN: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

fn text(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
