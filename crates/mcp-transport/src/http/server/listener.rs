use std::{convert::Infallible, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use tower_service::Service;

use super::connection::WriteTimeout;

/// The limits of a listener on its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServeSettings {
    /// Concurrent connections; more have to wait. Default: 10,000.
    pub max_connections: usize,
    /// Maximum number of headers per request. Default: 100.
    pub max_headers: usize,
    /// Maximum size of a request's head in bytes. Default: 64 KiB.
    pub max_head: usize,
    /// Time for the head of a request to arrive, and for a TLS handshake. It also limits how long
    /// connections may be idle, so it should be longer than clients keep them for reuse. Default: 2
    /// min.
    pub head_timeout: Duration,
    /// A client that reads nothing for this long loses its connection. Default: 60 s.
    pub write_timeout: Duration,
    /// Time for requests to finish after the server was told to stop. Default: 10 s.
    pub grace: Duration,
}

impl Default for ServeSettings {
    fn default() -> Self {
        ServeSettings {
            max_connections: 10_000,
            max_headers: DEFAULT_HEADERS,
            max_head: 64 << 10,
            head_timeout: Duration::from_secs(120),
            write_timeout: Duration::from_secs(60),
            grace: Duration::from_secs(10),
        }
    }
}

/// The default of hyper.
const DEFAULT_HEADERS: usize = 100;

/// What can be served: every `tower` service that answers HTTP requests and never fails.
pub trait Servable:
    Service<
        Request<Incoming>,
        Response = Response<<Self as Servable>::Body>,
        Error = Infallible,
        Future: Send + 'static,
    > + Clone
    + Send
    + 'static
{
    /// The body of its responses.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + 'static;
}

impl<S, B> Servable for S
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    type Body = B;
}

/// Serves connections until `shutdown` completes; then lets running requests finish.
///
/// The service may be an [`HttpService`](super::HttpService) or a router around it. Notification
/// streams last until [`ServeSettings::grace`] is over unless the service is drained:
///
/// ```no_run
/// # use mcp_transport::http::server::{HttpService, ServeSettings, serve};
/// # async fn example(listener: tokio::net::TcpListener, service: HttpService, stop: impl Future<Output = ()>) {
/// let stop = service.clone().drain_after(stop);
/// serve(listener, service.clone(), ServeSettings::default(), stop).await;
/// service.close();
/// # }
/// ```
pub async fn serve<S: Servable>(
    listener: TcpListener,
    service: S,
    settings: ServeSettings,
    shutdown: impl Future<Output = ()>,
) {
    let welcome = |stream, service, settings: Arc<ServeSettings>, watcher| async move {
        serve_connection(stream, service, &settings, watcher).await;
    };
    accept_all(listener, service, settings, shutdown, welcome).await;
}

/// Like [`serve`], over TLS.
#[cfg(feature = "tls")]
pub async fn serve_tls<S: Servable>(
    listener: TcpListener,
    tls: Arc<rustls::ServerConfig>,
    service: S,
    settings: ServeSettings,
    shutdown: impl Future<Output = ()>,
) {
    let acceptor = tokio_rustls::TlsAcceptor::from(tls);
    let welcome = move |stream, service, settings: Arc<ServeSettings>, watcher| {
        let handshake = acceptor.accept(stream);
        async move {
            match tokio::time::timeout(settings.head_timeout, handshake).await {
                Ok(Ok(stream)) => serve_connection(stream, service, &settings, watcher).await,
                Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                Err(_) => tracing::debug!("a TLS handshake took too long"),
            }
        }
    };
    accept_all(listener, service, settings, shutdown, welcome).await;
}

async fn accept_all<S, F>(
    listener: TcpListener,
    service: S,
    settings: ServeSettings,
    shutdown: impl Future<Output = ()>,
    welcome: impl Fn(TcpStream, S, Arc<ServeSettings>, Watcher) -> F,
) where
    S: Clone,
    F: Future<Output = ()> + Send + 'static,
{
    let settings = Arc::new(settings);
    let room = Arc::new(Semaphore::new(settings.max_connections.clamp(1, Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = async {
            let permit = room.clone().acquire_owned().await.expect("nobody closes it");
            (accept(&listener).await, permit)
        };
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            (stream, permit) = accepted => {
                let served = welcome(stream, service.clone(), settings.clone(), graceful.watcher());
                connections.spawn(async move {
                    served.await;
                    drop(permit);
                });
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(settings.grace, graceful.shutdown()).await.is_err() {
        tracing::debug!(connections = connections.len(), "some requests did not finish in time");
    }
    connections.shutdown().await;
}

/// Errors here are about individual connections, or about too many of them.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Small messages must not be delayed.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn serve_connection<IO, S: Servable>(
    io: IO,
    service: S,
    settings: &ServeSettings,
    watcher: Watcher,
) where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let io = TokioIo::new(WriteTimeout::new(io, settings.write_timeout));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(settings.head_timeout)
        .max_header_size(settings.max_head);
    // Setting it makes every request a little slower, even if it changes nothing.
    if settings.max_headers != DEFAULT_HEADERS {
        builder.max_headers(settings.max_headers);
    }
    let connection = builder.serve_connection(io, TowerToHyperService::new(service));
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended with an error");
    }
}
